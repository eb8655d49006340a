// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/merged.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/own.h"
#include "live/delta.h"
#include "tally/selection.h"
#include "tally/timeline_part.h"

void merged_clear(struct merged *merged)
{
	tally_free(merged->tally);
	names_free(merged->names);
	timeline_clear(&merged->timeline);
	*merged = (struct merged){ 0 };
}

/* The strings outlive the measurement. */
static int copy_meta(const struct profile_meta *from, struct names *names, struct profile_meta *to)
{
	const char **strings[] = { &to->command, &to->command_line, &to->title,
				   &to->event,	 &to->hostname,	    &to->kernel_release,
				   &to->scope,	 &to->filter,	    &to->measure,
				   &to->unit };

	*to = *from;
	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
		if (*strings[i])
			*strings[i] = names_string(names, *strings[i]);
		else
			continue;
		if (!*strings[i])
			return -ENOMEM;
	}
	return 0;
}

static int begin(struct merged *merged, const struct measurement *measurement)
{
	if (tally_new(0, 0, &merged->tally) < 0 || names_new(&merged->names) < 0)
		return -ENOMEM;
	merged->timeline = (struct timeline){ .most_rows = TIMELINE_ROWS };
	return copy_meta(measurement->meta, merged->names, &merged->meta);
}

static int add_bins(struct bins *to, const struct bins *from, uint64_t after_ns)
{
	int r = 0;

	if (to->width_ns == 0)
		*to = (struct bins){ .width_ns = from->width_ns, .most = BINS_MOST };
	for (uint32_t i = 0; r == 0 && to->width_ns && i < from->n; i++)
		r = bins_add(to, after_ns + i * from->width_ns, from->counts[i]);
	return r;
}

/*
 * A slice begins where the one before ends: the begin of an interval is known to within the time
 * that the one before took to be named. After a change of the clock, it is left out: then the
 * timeline does not tell all.
 */
static int add_slice(struct timeline *to, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t late = to->noted_ns > begin_ns ? to->noted_ns - begin_ns : 0;

	if (late > NS_PER_SECOND)
		return -EINVAL;
	begin_ns += late;
	return timeline_add_slice(to, begin_ns, end_ns > begin_ns ? end_ns : begin_ns + 1);
}

static int add_slices(struct timeline *to, const struct timeline *from, uint64_t after_ns)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < from->n_slices; i++) {
		const struct timeline_slice *slice = &from->slices[i];

		r = add_slice(to, after_ns + slice->begin_ns, after_ns + slice->end_ns);
		for (uint32_t row = 0; r == 0 && row < slice->n; row++)
			r = timeline_add_row(to, from->rows[slice->first + row]);
	}
	return r == -EINVAL ? 0 : r;
}

static int add_times(struct merged *merged, const struct timeline *timeline,
		     const uint32_t *entry_of, uint64_t after_ns)
{
	own(timeline_clear) struct timeline part = { 0 };
	int r = timeline_part(timeline, (struct timeline_span){ 0, UINT64_MAX }, entry_of,
			      tally_n_entries(merged->tally), &part);

	if (r == 0)
		r = add_slices(&merged->timeline, &part, after_ns);
	if (r == 0)
		r = add_bins(&merged->timeline.bins, &part.bins, after_ns);
	merged->timeline.n_seen = tally_n_entries(merged->tally);
	return r;
}

int merged_add(struct merged *merged, const struct measurement *measurement)
{
	const struct profile_meta *meta = measurement->meta;
	const struct selection all = { 0 };
	uint32_t n = tally_n_entries(measurement->tally);
	own(own_free) uint32_t *entry_of = reallocarray(NULL, (size_t)n + 1, sizeof(*entry_of));
	uint64_t after_ns;
	int r = merged->tally ? 0 : begin(merged, measurement);

	if (r < 0 || !entry_of)
		return -ENOMEM;
	after_ns = meta->start_time_ns > merged->meta.start_time_ns
			   ? meta->start_time_ns - merged->meta.start_time_ns
			   : 0;
	r = selection_make(&all, measurement->tally, measurement->names, merged->tally,
			   merged->names, entry_of);
	if (r == 0 && measurement->timeline && measurement->timeline->n_slices > 0)
		r = add_times(merged, measurement->timeline, entry_of, after_ns);
	delta_add_losses(&merged->losses, tally_losses_of(measurement->tally));
	*tally_losses(merged->tally) = merged->losses;
	merged->meta.duration_ns = after_ns + meta->duration_ns;
	return r;
}
