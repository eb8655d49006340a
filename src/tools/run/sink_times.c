// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For outputs that show when samples were taken: has the session end slices of the time, and notes
 * what was counted in each. The times off the CPU need none: a stack there is a duration.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "run/sink.h"

#define SLICE_NS (50ull * NS_PER_MS)
/* All entries are looked at for each slice: with more of them slices are longer. */
#define ENTRIES_PER_SLICE 20000u

struct times_sink {
	struct plan *plan;
	struct run_report *report;
	const struct session *session;
	struct timeline timeline;
	uint32_t skipped; /* slices, since the last that was noted */
};

static bool is_wanted(const struct outputs *outputs)
{
	bool wanted = false;

	for (uint32_t i = 0; i < outputs->n; i++)
		wanted |= outputs->list[i].writer->times;
	return wanted;
}

/* After the files' sink has opened the outputs. */
static int times_open(const struct sink_source *source, struct plan *plan, void **ret_self,
		      struct error *err)
{
	struct times_sink *sink;

	if (plan->off_cpu.on || !is_wanted(&source->report->outputs))
		return 0;
	sink = calloc(1, sizeof(*sink));
	if (!sink)
		return error_set(err, -ENOMEM, "out of memory");
	sink->plan = plan;
	sink->report = source->report;
	sink->timeline.width_ns = SLICE_NS;
	sink->timeline.most_rows = TIMELINE_ROWS;
	source->report->timeline = &sink->timeline;
	plan->slice = (double)SLICE_NS / NS_PER_SECOND;
	*ret_self = sink;
	return 0;
}

static int times_begin(void *self, const struct sink_source *source, struct error *err)
{
	(void)err;
	((struct times_sink *)self)->session = source->session;
	return 0;
}

/* Ends slices as often as they are kept apart. */
static void adapt(struct times_sink *sink)
{
	const struct timeline *timeline = &sink->timeline;

	sink->plan->slice =
		timeline->given_up ? 0 : (double)timeline->width_ns / (double)NS_PER_SECOND;
}

static int times_slice(void *self, enum session_event event, struct error *err)
{
	struct times_sink *sink = self;
	const struct tally *tally = sink->report->tally;

	(void)err;
	if (event == SESSION_SLICE && sink->skipped < tally_n_entries(tally) / ENTRIES_PER_SLICE) {
		sink->skipped++;
		return 0;
	}
	sink->skipped = 0;
	timeline_note(&sink->timeline, tally, session_drained(sink->session));
	adapt(sink);
	return 0;
}

static int times_done(void *self, enum session_event event, struct error *err)
{
	struct times_sink *sink = self;

	(void)err;
	if (event == SESSION_INTERVAL || event == SESSION_RELOAD) {
		timeline_begin(&sink->timeline);
		adapt(sink);
	}
	return 0;
}

static void times_close(void *self)
{
	struct times_sink *sink = self;

	sink->report->timeline = NULL;
	timeline_clear(&sink->timeline);
	free(sink);
}

const struct sink_ops times_sink = {
	.open = times_open,
	.begin = times_begin,
	.slice = times_slice,
	.done = times_done,
	.close = times_close,
};
