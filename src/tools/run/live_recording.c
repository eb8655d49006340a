// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/live_recording.h"

#include <errno.h>
#include <signal.h>

#include "base/own.h"
#include "run/live_address.h"

DEFINE_OWN(struct live, live_close)

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

static const struct names_cgroup *recorded_cgroup(void *context, uint64_t id)
{
	const struct names *names = ((const struct measurement *)context)->names;

	return names_cgroup_by_id(names_cgroups(names), names_n_cgroups(names), id);
}

int live_recording_serve(const struct run_request *request, const struct measurement *measurement,
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
	r = live_open_and_tell(request->plan, &live, err);
	if (r == 0)
		r = live_start(live, &source, 0, NULL, err);
	if (r == 0 && live_update(live, measurement->tally, measurement->meta->duration_ns, false,
				  recorded_cgroup, &recorded) < 0)
		r = error_set(err, -ENOMEM, "out of memory");
	if (r == 0)
		sigwait(&stop, &signal);
	return r;
}
