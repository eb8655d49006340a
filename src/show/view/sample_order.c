// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/sample_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/index.h"
#include "base/own.h"
#include "base/partition.h"

struct sample_order {
	const struct profile *profile;
	const struct timeline *timeline;
	uint32_t *functions; /* of each frame: the first frame of the same function */
	uint32_t *sorted;    /* the entries, by thread and functions */
	uint32_t *places;    /* of each entry in `sorted` */
	/* The slice before, the current one and the one behind, sorted by place. */
	struct sample_runs before, now, behind;
	struct sample_runs given; /* the current one, in order */
	uint32_t next;		  /* the slice that will be `behind` */
};

DEFINE_OWN(struct sample_order, sample_order_free)

void sample_order_free(struct sample_order *order)
{
	if (!order)
		return;
	free(order->functions);
	free(order->sorted);
	free(order->places);
	free(order->before.list);
	free(order->now.list);
	free(order->behind.list);
	free(order->given.list);
	free(order);
}

/* ---- the functions of stacks ---- */

static bool is_same(const char *one, const char *other)
{
	return one == other || (one && other && strcmp(one, other) == 0);
}

static uint64_t hash_text(const char *text)
{
	return text ? hash_bytes(text, strlen(text)) : 0;
}

static int find_functions(struct sample_order *order)
{
	const struct profile_frame *frames = order->profile->frames;
	own(index_free) struct index index = { 0 };

	for (uint32_t i = 0; i < order->profile->n_frames; i++) {
		const struct names_frame *is = &frames[i].is;
		uint64_t hash = hash_text(is->name) + hash_u64(hash_text(is->module));
		struct index_cursor cursor;
		uint32_t at = index_first(&index, hash, &cursor);

		while (at != INDEX_NONE && !(is_same(frames[at].is.name, is->name) &&
					     is_same(frames[at].is.module, is->module)))
			at = index_next(&index, &cursor);
		order->functions[i] = at == INDEX_NONE ? i : at;
		if (at == INDEX_NONE && index_add(&index, hash, i) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* The function at this distance from the root. */
static uint32_t function_at(const struct sample_order *order, const struct profile_entry *entry,
			    uint32_t depth)
{
	uint32_t frame = depth < entry->n_user
				 ? entry->user[entry->n_user - 1 - depth]
				 : entry->kernel[entry->n_kernel - 1 - (depth - entry->n_user)];

	return order->functions[frame];
}

/* How many functions, from the root on, are the same. */
static uint32_t common(const struct sample_order *order, const struct profile_entry *one,
		       const struct profile_entry *other)
{
	uint32_t n = one->n_user + one->n_kernel, depth = 0;

	if (other->n_user + other->n_kernel < n)
		n = other->n_user + other->n_kernel;
	while (depth < n && function_at(order, one, depth) == function_at(order, other, depth))
		depth++;
	return depth;
}

static bool is_same_thread(const struct tally_entry *one, const struct tally_entry *other)
{
	return one->tgid == other->tgid && one->tid == other->tid;
}

static int compare_entries(const void *a, const void *b, void *context)
{
	const struct sample_order *order = context;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b, depth, n_one, n_other;
	const struct tally_entry *entries = order->profile->entries;
	struct profile_entry one, other;

	if (entries[i].tgid != entries[j].tgid)
		return entries[i].tgid < entries[j].tgid ? -1 : 1;
	if (entries[i].tid != entries[j].tid)
		return entries[i].tid < entries[j].tid ? -1 : 1;
	profile_read(order->profile, &entries[i], &one);
	profile_read(order->profile, &entries[j], &other);
	n_one = one.n_user + one.n_kernel;
	n_other = other.n_user + other.n_kernel;
	depth = common(order, &one, &other);
	if (depth < n_one && depth < n_other)
		return function_at(order, &one, depth) < function_at(order, &other, depth) ? -1 : 1;
	if (n_one != n_other)
		return n_one < n_other ? -1 : 1;
	return i < j ? -1 : i > j;
}

static int sort_entries(struct sample_order *order)
{
	uint32_t n = order->profile->n_entries;
	int r = find_functions(order);

	if (r < 0)
		return r;
	for (uint32_t i = 0; i < n; i++)
		order->sorted[i] = i;
	qsort_r(order->sorted, n, sizeof(*order->sorted), compare_entries, order);
	for (uint32_t i = 0; i < n; i++)
		order->places[order->sorted[i]] = i;
	return 0;
}

/* ---- slices ---- */

static int compare_places(const void *a, const void *b)
{
	const struct sample_run *one = a, *other = b;

	return one->place < other->place ? -1 : one->place > other->place;
}

/* Reads the next slice of the timeline: a run for each entry of the profile. */
static int read_slice(struct sample_order *order, struct sample_runs *runs)
{
	const struct timeline *timeline = order->timeline;
	const struct timeline_slice *slice = &timeline->slices[order->next];
	uint32_t n = 0, n_shown = 0;
	int r;

	runs->n = 0;
	if (order->next >= timeline->n_slices)
		return 0;
	order->next++;
	r = grow(&runs->list, &runs->capacity, slice->n);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < slice->n; i++) {
		const struct timeline_row *row = &timeline->rows[slice->first + i];
		uint32_t entry = order->profile->entry_of[row->entry];

		if (entry == PROFILE_NO_ENTRY)
			continue;
		runs->list[n_shown++] = (struct sample_run){ .count = row->count,
							     .entry = entry,
							     .place = order->places[entry] };
	}
	qsort(runs->list, n_shown, sizeof(*runs->list), compare_places);
	for (uint32_t i = 0; i < n_shown; i++) {
		if (n > 0 && runs->list[n - 1].entry == runs->list[i].entry)
			runs->list[n - 1].count += runs->list[i].count;
		else
			runs->list[n++] = runs->list[i];
	}
	runs->n = n;
	return 0;
}

/* How much the entry has in common with what is most like it in a slice: that is next to it. */
static uint32_t likeness(const struct sample_order *order, const struct sample_runs *runs,
			 const struct sample_run *run)
{
	const struct tally_entry *entries = order->profile->entries;
	size_t at = partition_point(i, runs->n, runs->list[i].place < run->place);
	struct profile_entry entry, near;
	uint32_t most = 0;

	profile_read(order->profile, &entries[run->entry], &entry);
	for (size_t i = at > 0 ? at - 1 : 0; i <= at && i < runs->n; i++) {
		uint32_t here;

		profile_read(order->profile, &entries[runs->list[i].entry], &near);
		here = is_same_thread(near.is, entry.is) ? common(order, &near, &entry) : 0;
		most = here > most ? here : most;
	}
	return most;
}

static int compare_runs(const void *a, const void *b, void *context)
{
	const struct sample_order *order = context;
	const struct sample_run *one = a, *other = b;

	if (one->late != other->late && is_same_thread(&order->profile->entries[one->entry],
						       &order->profile->entries[other->entry]))
		return one->late < other->late ? -1 : 1;
	return compare_places(a, b);
}

static int put_in_order(struct sample_order *order)
{
	struct sample_runs *given = &order->given;
	int r = grow(&given->list, &given->capacity, order->now.n);

	if (r < 0)
		return r;
	given->n = order->now.n;
	for (uint32_t i = 0; i < given->n; i++) {
		given->list[i] = order->now.list[i];
		given->list[i].late = (int64_t)likeness(order, &order->behind, &given->list[i]) -
				      (int64_t)likeness(order, &order->before, &given->list[i]);
	}
	qsort_r(given->list, given->n, sizeof(*given->list), compare_runs, order);
	return 0;
}

int sample_order_next(struct sample_order *order, const struct sample_runs **ret_runs)
{
	struct sample_runs spare = order->before;
	int r;

	order->before = order->now;
	order->now = order->behind;
	order->behind = spare;
	r = read_slice(order, &order->behind);
	if (r == 0)
		r = put_in_order(order);
	if (r == 0)
		*ret_runs = order->given.n ? &order->given : NULL;
	return r;
}

int sample_order_new(const struct profile *profile, const struct timeline *timeline,
		     struct sample_order **ret_order)
{
	own(own_sample_order_free) struct sample_order *order = calloc(1, sizeof(*order));
	int r;

	if (!order)
		return -ENOMEM;
	order->profile = profile;
	order->timeline = timeline;
	order->functions =
		reallocarray(NULL, (size_t)profile->n_frames + 1, sizeof(*order->functions));
	order->sorted = reallocarray(NULL, (size_t)profile->n_entries + 1, sizeof(*order->sorted));
	order->places = reallocarray(NULL, (size_t)profile->n_entries + 1, sizeof(*order->places));
	if (!order->functions || !order->sorted || !order->places)
		return -ENOMEM;
	r = sort_entries(order);
	if (r == 0)
		r = read_slice(order, &order->behind);
	if (r == 0)
		*ret_order = take_ptr(order);
	return r;
}
