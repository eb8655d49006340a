// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For outputs that show when samples were taken: has the session end slices of the time, and notes
 * what was counted in each. A thread notes how many events there were in each bin of 20 ms, which
 * costs less than a slice.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "live/activity.h"
#include "run/sink.h"

#define FINE_NS	   (50ull * NS_PER_MS)
#define SECONDS_NS NS_PER_SECOND
/* All entries are looked at for each slice: with more of them slices are longer. */
#define ENTRIES_PER_SLICE 20000u
#define BIN_NS		  (ACTIVITY_BIN_MS * NS_PER_MS)

struct times_sink {
	struct plan *plan;
	struct run_report *report;
	const struct session *session;
	struct timeline timeline;
	struct activity *activity; /* NULL until events are counted */
	uint64_t next_bin;	   /* of the activity, to be read */
	uint32_t skipped;	   /* slices, since the last that was noted */
};

/* The length of a slice that the outputs need; 0: none. */
static uint64_t wanted_ns(const struct outputs *outputs, const struct plan *plan)
{
	uint64_t wanted = 0;

	for (uint32_t i = 0; i < outputs->n; i++) {
		enum writer_times times = outputs->list[i].writer->times;

		/* Off the CPU, a stack is a duration itself. */
		if (times == WRITER_TIMES_FINE && !plan->off_cpu.on)
			wanted = FINE_NS;
		else if (times && !wanted)
			wanted = SECONDS_NS;
	}
	if (!wanted && plan->keep > 0)
		wanted = SECONDS_NS;
	if (wanted && plan->time_buckets > 0)
		wanted = (uint64_t)(plan->time_buckets * (double)NS_PER_SECOND);
	return wanted;
}

/* After the files' sink has opened the outputs. */
static int times_open(const struct sink_source *source, struct plan *plan, void **ret_self,
		      struct error *err)
{
	uint64_t slice_ns = wanted_ns(&source->report->outputs, plan);
	struct times_sink *sink;

	if (!slice_ns && plan->time_buckets > 0)
		return error_usage(err, "argument --time-buckets: no output tells when; "
					"recordings (-o NAME.stacktally) do");
	if (!slice_ns)
		return 0;
	sink = calloc(1, sizeof(*sink));
	if (!sink)
		return error_set(err, -ENOMEM, "out of memory");
	sink->plan = plan;
	sink->report = source->report;
	sink->timeline.width_ns = slice_ns;
	sink->timeline.most_rows = TIMELINE_ROWS;
	sink->timeline.bins = (struct bins){ .width_ns = BIN_NS, .most = BINS_MOST };
	source->report->timeline = &sink->timeline;
	plan->slice = (double)slice_ns / NS_PER_SECOND;
	*ret_self = sink;
	return 0;
}

/* ---- bins ---- */

static uint64_t count_events(void *session)
{
	return session_events(session);
}

static int times_begin(void *self, const struct sink_source *source, struct error *err)
{
	struct times_sink *sink = self;
	uint64_t start = monotonic_ns() - session_duration(source->session);
	int r;

	sink->session = source->session;
	r = activity_start(count_events, source->session, start, &sink->activity);
	return r < 0 ? error_set(err, r, "cannot count events by time: %s", strerror(-r)) : 0;
}

/* Bins that ended before the interval began are not of this report. */
static int read_bins(struct times_sink *sink)
{
	struct timeline *timeline = &sink->timeline;
	uint32_t counts[512], n;
	uint64_t first;
	int r = 0;

	do {
		n = activity_read(sink->activity, sink->next_bin, counts, 512, &first);
		for (uint32_t i = 0; r == 0 && i < n; i++) {
			uint64_t at = (first + i) * BIN_NS;

			if (at + BIN_NS > timeline->begin_ns)
				r = bins_add(&timeline->bins,
					     at > timeline->begin_ns ? at - timeline->begin_ns : 0,
					     counts[i]);
		}
		sink->next_bin = first + n;
	} while (r == 0 && n == 512);
	return r;
}

static void times_end(void *self)
{
	struct times_sink *sink = self;

	activity_stop(sink->activity);
	sink->activity = NULL;
}

/* ---- slices ---- */

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

	if (event == SESSION_SLICE && sink->skipped < tally_n_entries(tally) / ENTRIES_PER_SLICE) {
		sink->skipped++;
		return 0;
	}
	sink->skipped = 0;
	timeline_note(&sink->timeline, tally, session_drained(sink->session));
	adapt(sink);
	return read_bins(sink) < 0 ? error_set(err, -ENOMEM, "out of memory") : 0;
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

	times_end(sink);
	sink->report->timeline = NULL;
	timeline_clear(&sink->timeline);
	free(sink);
}

const struct sink_ops times_sink = {
	.open = times_open,
	.begin = times_begin,
	.slice = times_slice,
	.done = times_done,
	.end = times_end,
	.close = times_close,
};
