// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --live: joins session and process images with live/. Has a symbolizer of its own, which live/
 * calls on its thread; that of the report names addresses only when a report is due.
 */
#include <errno.h>
#include <stdlib.h>

#include "live/live.h"
#include "run/live_address.h"
#include "run/sink.h"

struct live_sink {
	const struct run_request *request;
	struct live *live;
	struct symbolizer *symbolizer;
	struct images *images;
	struct session *session;
	const struct tally *tally;
};

/* ---- callbacks of live/ ---- */

static int resolve(void *context, const struct tally *tally, struct names *names)
{
	return symbolizer_resolve(((struct live_sink *)context)->symbolizer, tally, names, NULL);
}

static uint64_t events(void *context)
{
	return session_events(((struct live_sink *)context)->session);
}

static const struct names_cgroup *cgroup(void *context, uint64_t id)
{
	struct images *images = ((struct live_sink *)context)->images;

	/* Files of its container may have begun to respond since its first stack. */
	return images_learn_cgroup(images, id) < 0 ? NULL : images_cgroup(images, id);
}

/* ---- hooks ---- */

static int open_page(const struct sink_source *source, struct plan *plan, void **ret_self,
		     struct error *err)
{
	struct live_sink *sink;

	if (!plan->live)
		return 0;
	sink = calloc(1, sizeof(*sink));
	if (!sink)
		return error_set(err, -ENOMEM, "out of memory");
	sink->request = source->report->request;
	*ret_self = sink;
	return 0;
}

static int listen_for_browsers(void *self, struct error *err)
{
	struct live_sink *sink = self;

	return live_open_and_tell(sink->request->plan, &sink->live, err);
}

static int serve(void *self, const struct sink_source *source, struct error *err)
{
	struct live_sink *sink = self;
	struct symbolizer_options own = *source->naming;
	struct model_source model = {
		.resolve = resolve,
		.context = sink,
		.report = sink->request->report,
		.meta = source->report->meta,
	};
	int r;

	/* No network: the display would stand still meanwhile. Reports may wait for it. */
	own.debuginfod = false;
	own.progress = NULL;
	sink->images = source->images;
	sink->session = source->session;
	sink->tally = source->report->tally;
	r = symbolizer_new(source->images, &own, &sink->symbolizer);
	if (r < 0)
		return error_set(err, r, "out of memory");
	return live_start(sink->live, &model, session_duration(sink->session), events, err);
}

static int hand_over(void *self, enum session_event event, struct error *err)
{
	struct live_sink *sink = self;

	if (live_update(sink->live, sink->tally, session_duration(sink->session),
			event != SESSION_TICK, cgroup, sink) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	return 0;
}

/* Its threads use the session. */
static void stop_serving(void *self)
{
	struct live_sink *sink = self;

	live_close(sink->live);
	sink->live = NULL;
	symbolizer_free(sink->symbolizer);
	sink->symbolizer = NULL;
}

static void close_page(void *self)
{
	stop_serving(self);
	free(self);
}

const struct sink_ops live_sink = {
	.cumulative = true,
	.open = open_page,
	.loaded = listen_for_browsers,
	.begin = serve,
	.back = hand_over,
	.end = stop_serving,
	.close = close_page,
};
