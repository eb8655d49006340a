// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/own.h"
#include "report/perf_script_internal.h"
#include "view/sample_order.h"

DEFINE_OWN(struct sample_order, sample_order_free)

/* ---- evenly ---- */

/* The time of the next record, if they are spread evenly. */
static double even_time(const struct perf_script *script)
{
	double duration = (double)script->profile->meta->duration_ns / 1e9;
	double least = (double)script->records / 1e6;

	return (double)script->written / (double)script->records *
	       (duration > least ? duration : least);
}

static bool is_due_before(const struct turn *one, const struct turn *other)
{
	uint64_t due = (2ull * one->written + 1) * other->records;
	uint64_t other_due = (2ull * other->written + 1) * one->records;

	return due != other_due ? due < other_due : one->entry < other->entry;
}

/* Moves the turn at `at` down to its place in the heap. */
static void sift(struct turn *turns, uint32_t n, uint32_t at)
{
	for (;;) {
		uint32_t first = at, child = 2 * at + 1;
		struct turn moved = turns[at];

		if (child < n && is_due_before(&turns[child], &turns[first]))
			first = child;
		if (child + 1 < n && is_due_before(&turns[child + 1], &turns[first]))
			first = child + 1;
		if (first == at)
			return;
		turns[at] = turns[first];
		turns[first] = moved;
		at = first;
	}
}

/* What is less than a record is carried over, within a thread if it can be. */
static uint32_t records_of(struct perf_script *script, uint64_t count)
{
	uint64_t whole = count / script->each;

	script->rest += count % script->each;
	if (script->rest >= script->each) {
		script->rest -= script->each;
		whole++;
	}
	return (uint32_t)whole; /* RECORDS_MAX at most */
}

static int make_turns(struct perf_script *script)
{
	const struct profile *profile = script->profile;

	script->turns = reallocarray(NULL, (size_t)profile->n_entries + 1, sizeof(*script->turns));
	if (!script->turns)
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->n_entries; i++) {
		uint32_t entry = script->groups.order[i];
		uint32_t records = records_of(script, profile->entries[entry].count);

		if (records > 0)
			script->turns[script->n_turns++] =
				(struct turn){ .entry = entry, .records = records };
	}
	for (uint32_t at = script->n_turns / 2; at-- > 0;)
		sift(script->turns, script->n_turns, at);
	return 0;
}

static void put_next(struct perf_script *script)
{
	struct turn *turn = &script->turns[0];
	const struct profile_entry *entry = &script->profile->entries[turn->entry];

	perf_script_put_record(script, entry, even_time(script));
	if (++turn->written == turn->records)
		*turn = script->turns[--script->n_turns];
	sift(script->turns, script->n_turns, 0);
}

int perf_script_put_evenly(struct perf_script *script)
{
	int r = entry_groups_make(&script->groups, script->profile, true);

	if (r == 0)
		r = make_turns(script);
	while (r == 0 && !script->bytes.failed && script->n_turns > 0)
		put_next(script);
	return r;
}

/* ---- by a timeline ---- */

static int compare_due(const void *a, const void *b)
{
	const struct due *one = a, *other = b;

	if (one->at != other->at)
		return one->at < other->at ? -1 : 1;
	return one->number < other->number ? -1 : 1;
}

static int add_due(struct perf_script *script, uint32_t entry, uint32_t records)
{
	int r = grow(&script->due, &script->due_capacity, (size_t)script->n_due + records);

	for (uint32_t i = 0; r == 0 && i < records; i++, script->n_due++)
		script->due[script->n_due] =
			(struct due){ .number = script->n_due, .entry = entry };
	return r;
}

/* Spreads the records from `first` on, which are those of a thread, over the slice. */
static void spread(struct perf_script *script, uint32_t first, const struct timeline_slice *slice)
{
	double begin = (double)(slice->begin_ns - script->timeline->begin_ns) / 1e9;
	double length = (double)(slice->end_ns - slice->begin_ns) / 1e9;

	for (uint32_t i = first; i < script->n_due; i++)
		script->due[i].at =
			begin + ((double)(i - first) + 0.5) / (script->n_due - first) * length;
}

static int put_slice(struct perf_script *script, const struct sample_runs *runs,
		     const struct timeline_slice *slice)
{
	const struct profile_entry *entries = script->profile->entries, *last = NULL;
	uint32_t first = 0;
	int r = 0;

	script->n_due = 0;
	for (uint32_t i = 0; r == 0 && i < runs->n; i++) {
		const struct profile_entry *entry = &entries[runs->list[i].entry];

		if (last && (last->tgid != entry->tgid || last->tid != entry->tid)) {
			spread(script, first, slice);
			first = script->n_due;
		}
		last = entry;
		r = add_due(script, runs->list[i].entry, records_of(script, runs->list[i].count));
	}
	if (r < 0 || script->n_due == 0)
		return r;
	spread(script, first, slice);
	qsort(script->due, script->n_due, sizeof(*script->due), compare_due);
	for (uint32_t i = 0; i < script->n_due && !script->bytes.failed; i++) {
		double at = script->due[i].at;

		if (script->written > 0 && at < script->last + 1e-6)
			at = script->last + 1e-6;
		script->last = at;
		perf_script_put_record(script, &entries[script->due[i].entry], at);
	}
	return 0;
}

int perf_script_put_by_time(struct perf_script *script)
{
	own(own_sample_order_free) struct sample_order *order = NULL;
	const struct timeline *timeline = script->timeline;
	int r = sample_order_new(script->profile, timeline, &order);

	for (uint32_t i = 0; r == 0 && i < timeline->n_slices && !script->bytes.failed; i++) {
		const struct sample_runs *runs = NULL;

		r = sample_order_next(order, &runs);
		if (r == 0 && runs)
			r = put_slice(script, runs, &timeline->slices[i]);
	}
	return r;
}
