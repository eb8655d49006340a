// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/run_live.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "cli/message.h"

DEFINE_OWN(struct live, live_close)

struct run_live {
	const struct run_request *request;
	struct live *live;
	struct symbolizer *symbolizer;
	const struct images *images;
	struct session *session;
};

/* ---- callbacks of live/ ---- */

static int resolve(void *context, const struct tally *tally, struct names *names)
{
	struct run_live *run = context;

	return symbolizer_resolve(run->symbolizer, tally, names, NULL);
}

static uint64_t events(void *context)
{
	return session_events(((struct run_live *)context)->session);
}

static const char *cgroup(void *context, uint64_t id)
{
	return images_cgroup(((struct run_live *)context)->images, id);
}

/* ---- a measurement ---- */

static int open_live(const struct plan *plan, struct live **ret_live, struct error *err)
{
	struct live *live;
	int r = live_open(plan->live, plan->live_token, &live, err);

	if (r < 0)
		return r;
	/* Also with -q: the user needs the URL. */
	message_line("Live at %s", live_url(live));
	if (live_is_public(live))
		message_line("WARNING: nothing is encrypted: anybody who can reach that address "
			     "and sees this line, or the traffic, can watch");
	*ret_live = live;
	return 0;
}

int run_live_open(const struct run_request *request, struct run_live **ret_run, struct error *err)
{
	struct run_live *run;
	int r;

	if (!request->plan->live)
		return 0;
	run = calloc(1, sizeof(*run));
	if (!run)
		return error_set(err, -ENOMEM, "out of memory");
	run->request = request;
	r = open_live(request->plan, &run->live, err);
	if (r < 0) {
		run_live_close(run);
		return r;
	}
	*ret_run = run;
	return 0;
}

int run_live_start(struct run_live *run, const struct profile_meta *meta, struct images *images,
		   const struct symbolizer_options *options, struct session *session,
		   struct error *err)
{
	struct symbolizer_options own = *options;
	struct model_source source = {
		.resolve = resolve,
		.context = run,
		.report = run->request->report,
		.meta = *meta,
	};
	int r;

	/* No network: the display would stand still meanwhile. Reports may wait for it. */
	own.debuginfod = false;
	own.progress = NULL;
	run->images = images;
	run->session = session;
	r = symbolizer_new(images, &own, &run->symbolizer);
	if (r < 0)
		return error_set(err, r, "out of memory");
	return live_start(run->live, &source, session_duration(session), events, err);
}

int run_live_look(struct run_live *run, const struct tally *tally, bool cleared, struct error *err)
{
	if (!run)
		return 0;
	if (live_update(run->live, tally, session_duration(run->session), cleared, cgroup, run) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	return 0;
}

void run_live_close(struct run_live *run)
{
	if (!run)
		return;
	live_close(run->live);
	symbolizer_free(run->symbolizer);
	free(run);
}

/* ---- a recording ---- */

/* Copies the names of the file. Both tallies have the same addresses in the same order. */
static int take_names(void *context, const struct tally *tally, struct names *names)
{
	const struct names *from = ((const struct measurement *)context)->names;
	uint32_t object;
	int r = 0;

	for (uint32_t i = names_n_objects(names); r == 0 && i < names_n_objects(from); i++)
		r = names_add_object(names, &names_objects(from)[i], &object);
	for (uint32_t i = names_n_addresses(names); r == 0 && i < tally_n_addresses(tally); i++) {
		struct names_address address = names_address(from, i);
		struct names_frame frames[NAMES_MAX_INLINED];

		for (uint32_t at = 0; at < address.n; at++)
			frames[at] = names_frame(from, address.first + at);
		r = names_add_address(names, frames, address.n);
	}
	return r;
}

static const char *recorded_cgroup(void *context, uint64_t id)
{
	const struct names *names = ((const struct measurement *)context)->names;

	for (uint32_t i = 0; i < names_n_cgroups(names); i++)
		if (names_cgroups(names)[i].id == id)
			return names_cgroups(names)[i].path;
	return NULL;
}

int run_live_serve(const struct run_request *request, const struct measurement *measurement,
		   struct error *err)
{
	struct measurement recorded = *measurement;
	const struct model_source source = {
		.resolve = take_names,
		.context = &recorded,
		.report = request->report,
		.meta = *measurement->meta,
	};
	own(own_live_close) struct live *live = NULL;
	sigset_t stop;
	int r, signal;

	sigemptyset(&stop);
	sigaddset(&stop, SIGINT);
	sigaddset(&stop, SIGTERM);
	sigaddset(&stop, SIGHUP);
	sigprocmask(SIG_BLOCK, &stop, NULL);
	r = open_live(request->plan, &live, err);
	if (r == 0)
		r = live_start(live, &source, 0, NULL, err);
	if (r == 0 && live_update(live, measurement->tally, measurement->meta->duration_ns, false,
				  recorded_cgroup, &recorded) < 0)
		r = error_set(err, -ENOMEM, "out of memory");
	if (r == 0)
		sigwait(&stop, &signal);
	return r;
}
