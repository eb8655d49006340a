// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/timed_samples.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/own.h"
#include "view/entry_groups.h"
#include "view/sample_order.h"

/* A stack with `records` to come. Its k-th is due at (k + 1/2) / records of the measurement. */
struct turn {
	uint32_t entry, records, written;
};

/* A record that is due within a slice of the timeline. */
struct due {
	double at; /* seconds since the start */
	uint32_t number, entry;
};

struct giving {
	const struct timed_samples *samples;
	timed_samples_put *put;
	void *context;
	uint64_t given;
	uint64_t rest;	    /* samples carried over to the next record */
	struct turn *turns; /* a heap: the stack whose record comes next is the first */
	uint32_t n_turns;
	struct due *due; /* with a timeline: the records of the current slice */
	uint32_t n_due, due_capacity;
	double last; /* the time of the last record */
	struct entry_groups groups;
};

DEFINE_OWN(struct sample_order, sample_order_free)

struct timed_samples timed_samples_of(const struct profile *profile,
				      const struct timeline *timeline, const struct tally *tally,
				      uint64_t most)
{
	struct timed_samples samples = { .profile = profile };

	samples.each = profile->total / most + (profile->total % most ? 1 : 0);
	if (samples.each == 0)
		samples.each = 1;
	samples.records = profile->total / samples.each;
	if (timeline && timeline_tells(timeline, tally))
		samples.timeline = timeline;
	return samples;
}

static int give(struct giving *giving, uint32_t entry, double at)
{
	giving->given++;
	return giving->put(giving->context, entry, at);
}

/* ---- evenly ---- */

/* The time of the next record, if they are spread evenly. */
static double even_time(const struct giving *giving)
{
	double duration = (double)giving->samples->profile->meta->duration_ns / 1e9;
	double least = (double)giving->samples->records / 1e6;

	return (double)giving->given / (double)giving->samples->records *
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
static uint32_t records_of(struct giving *giving, uint64_t count)
{
	uint64_t whole = count / giving->samples->each;

	giving->rest += count % giving->samples->each;
	if (giving->rest >= giving->samples->each) {
		giving->rest -= giving->samples->each;
		whole++;
	}
	return (uint32_t)whole; /* records at most */
}

static int make_turns(struct giving *giving)
{
	const struct profile *profile = giving->samples->profile;

	giving->turns = reallocarray(NULL, (size_t)profile->n_entries + 1, sizeof(*giving->turns));
	if (!giving->turns)
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->n_entries; i++) {
		uint32_t entry = giving->groups.order[i];
		uint32_t records = records_of(giving, profile->entries[entry].count);

		if (records > 0)
			giving->turns[giving->n_turns++] =
				(struct turn){ .entry = entry, .records = records };
	}
	for (uint32_t at = giving->n_turns / 2; at-- > 0;)
		sift(giving->turns, giving->n_turns, at);
	return 0;
}

static int give_next(struct giving *giving)
{
	struct turn *turn = &giving->turns[0];
	int r = give(giving, turn->entry, even_time(giving));

	if (++turn->written == turn->records)
		*turn = giving->turns[--giving->n_turns];
	sift(giving->turns, giving->n_turns, 0);
	return r;
}

static int give_evenly(struct giving *giving)
{
	int r = entry_groups_make(&giving->groups, giving->samples->profile, true);

	if (r == 0)
		r = make_turns(giving);
	while (r == 0 && giving->n_turns > 0)
		r = give_next(giving);
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

static int add_due(struct giving *giving, uint32_t entry, uint32_t records)
{
	int r = grow(&giving->due, &giving->due_capacity, (size_t)giving->n_due + records);

	for (uint32_t i = 0; r == 0 && i < records; i++, giving->n_due++)
		giving->due[giving->n_due] =
			(struct due){ .number = giving->n_due, .entry = entry };
	return r;
}

/*
 * Spreads the records from `first` on, which are those of a thread, over the slice: evenly, or if
 * there are bins, over the events of these.
 */
static void spread(struct giving *giving, uint32_t first, const struct timeline_slice *slice)
{
	const struct timeline *timeline = giving->samples->timeline;
	struct bins_span span = { slice->begin_ns - timeline->begin_ns,
				  slice->end_ns - timeline->begin_ns };

	for (uint32_t i = first; i < giving->n_due; i++) {
		double part = ((double)(i - first) + 0.5) / (giving->n_due - first);

		giving->due[i].at = bins_time(&timeline->bins, span, part) / 1e9;
	}
}

static int give_due(struct giving *giving)
{
	int r = 0;

	qsort(giving->due, giving->n_due, sizeof(*giving->due), compare_due);
	for (uint32_t i = 0; r == 0 && i < giving->n_due; i++) {
		double at = giving->due[i].at;

		if (giving->given > 0 && at < giving->last + 1e-6)
			at = giving->last + 1e-6;
		giving->last = at;
		r = give(giving, giving->due[i].entry, at);
	}
	return r;
}

static int give_slice(struct giving *giving, const struct sample_runs *runs,
		      const struct timeline_slice *slice)
{
	const struct tally_entry *entries = giving->samples->profile->entries, *last = NULL;
	uint32_t first = 0;
	int r = 0;

	giving->n_due = 0;
	for (uint32_t i = 0; r == 0 && i < runs->n; i++) {
		const struct tally_entry *entry = &entries[runs->list[i].entry];

		if (last && (last->tgid != entry->tgid || last->tid != entry->tid)) {
			spread(giving, first, slice);
			first = giving->n_due;
		}
		last = entry;
		r = add_due(giving, runs->list[i].entry, records_of(giving, runs->list[i].count));
	}
	if (r < 0 || giving->n_due == 0)
		return r;
	spread(giving, first, slice);
	return give_due(giving);
}

static int give_by_time(struct giving *giving)
{
	own(own_sample_order_free) struct sample_order *order = NULL;
	const struct timeline *timeline = giving->samples->timeline;
	int r = sample_order_new(giving->samples->profile, timeline, &order);

	for (uint32_t i = 0; r == 0 && i < timeline->n_slices; i++) {
		const struct sample_runs *runs = NULL;

		r = sample_order_next(order, &runs);
		if (r == 0 && runs)
			r = give_slice(giving, runs, &timeline->slices[i]);
	}
	return r;
}

int timed_samples_each(const struct timed_samples *samples, timed_samples_put *put, void *context)
{
	struct giving giving = { .samples = samples, .put = put, .context = context };
	int r = samples->timeline ? give_by_time(&giving) : give_evenly(&giving);

	entry_groups_clear(&giving.groups);
	free(giving.turns);
	free(giving.due);
	return r;
}
