// SPDX-License-Identifier: GPL-2.0-or-later
#include "flame/page_times.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/own.h"
#include "flame/page_number.h"

#define SECONDS_MOST 3600u   /* of a page; slices of longer measurements are joined */
#define BINS_OF_PAGE 200000u /* with more, or none, the page draws seconds */

/* What was counted in neighbouring slices, by node and whether the node itself was left out. */
struct joining {
	const struct timeline *timeline;
	const struct profile *profile;
	const struct flame_tree *tree;
	struct bytes *bytes;
	uint64_t second_ns; /* slices that begin in one of these are joined */
	uint64_t *sums;	    /* two of each node */
	uint32_t *seen;	    /* the sums that are not 0 */
	uint32_t n_seen;
	uint64_t end_ms; /* of what was put before */
};

static uint32_t sum_number(const struct joining *joining, uint32_t entry)
{
	uint32_t leaf = joining->tree->leaf_of[entry];

	return (leaf & ~FLAME_LEFT_OUT) * 2 + (leaf & FLAME_LEFT_OUT ? 1 : 0);
}

static void add_slice(struct joining *joining, const struct timeline_slice *slice)
{
	for (uint32_t i = slice->first; i < slice->first + slice->n; i++) {
		const struct timeline_row *row = &joining->timeline->rows[i];
		uint32_t entry = joining->profile->entry_of[row->entry], number;

		if (entry == PROFILE_NO_ENTRY || row->count == 0)
			continue;
		number = sum_number(joining, entry);
		if (joining->sums[number] == 0)
			joining->seen[joining->n_seen++] = number;
		joining->sums[number] += row->count;
	}
}

static int by_number(const void *a, const void *b)
{
	uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;

	return one < other ? -1 : one > other;
}

/* Puts a second that lasted from the begin of a slice to the end of another one. */
static void put_second(struct joining *joining, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t begin = begin_ns / NS_PER_MS, end = end_ns / NS_PER_MS;
	uint32_t before = 0;

	if (begin < joining->end_ms)
		begin = joining->end_ms;
	if (end < begin)
		end = begin;
	page_number(joining->bytes, begin - joining->end_ms);
	page_number(joining->bytes, end - begin);
	page_number(joining->bytes, joining->n_seen);
	qsort(joining->seen, joining->n_seen, sizeof(*joining->seen), by_number);
	for (uint32_t i = 0; i < joining->n_seen; i++) {
		uint32_t number = joining->seen[i];

		page_number(joining->bytes, number - before);
		page_number(joining->bytes, joining->sums[number]);
		joining->sums[number] = 0;
		before = number;
	}
	joining->n_seen = 0;
	joining->end_ms = end;
}

/* The number of the slice behind those that are one second with slice i. */
static uint32_t behind(const struct joining *joining, uint32_t i)
{
	const struct timeline *timeline = joining->timeline;
	uint64_t second = (timeline->slices[i].begin_ns - timeline->begin_ns) / joining->second_ns;

	for (i++; i < timeline->n_slices; i++)
		if ((timeline->slices[i].begin_ns - timeline->begin_ns) / joining->second_ns !=
		    second)
			break;
	return i;
}

static uint32_t count_seconds(const struct joining *joining)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < joining->timeline->n_slices; i = behind(joining, i))
		n++;
	return n;
}

static void put_seconds(struct joining *joining)
{
	const struct timeline *timeline = joining->timeline;
	uint32_t next;

	page_number(joining->bytes, count_seconds(joining));
	for (uint32_t i = 0; i < timeline->n_slices; i = next) {
		next = behind(joining, i);
		for (uint32_t slice = i; slice < next; slice++)
			add_slice(joining, &timeline->slices[slice]);
		put_second(joining, timeline->slices[i].begin_ns - timeline->begin_ns,
			   timeline->slices[next - 1].end_ns - timeline->begin_ns);
	}
}

/* The width of a bin in ms, of which a second has a whole number. */
static uint64_t bin_ms(const struct bins *bins)
{
	return bins->width_ns <= 20 * NS_PER_MS ? 20 : bins->width_ns <= 40 * NS_PER_MS ? 40 : 1000;
}

static int put_bins(const struct bins *from, struct bytes *bytes)
{
	struct bins bins = { .width_ns = bin_ms(from) * NS_PER_MS, .most = BINS_OF_PAGE };
	uint64_t width = bins.width_ns;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < from->n; i++)
		r = bins_add(&bins, i * from->width_ns, from->counts[i]);
	if (bins.width_ns != width)
		bins.n = 0;
	page_number(bytes, width / NS_PER_MS);
	page_number(bytes, bins.n);
	for (uint32_t i = 0; i < bins.n; i++)
		page_number(bytes, bins.counts[i]);
	bins_clear(&bins);
	return r;
}

int page_times(const struct timeline *timeline, const struct profile *profile,
	       const struct flame_tree *tree, struct bytes *bytes)
{
	size_t n = (size_t)tree->n_nodes * 2;
	own(own_free) uint64_t *sums = calloc(n, sizeof(*sums));
	own(own_free) uint32_t *seen = reallocarray(NULL, n, sizeof(*seen));
	struct joining joining = {
		timeline, profile, tree, bytes, NS_PER_SECOND, sums, seen, 0, 0
	};

	if (!sums || !seen)
		return -ENOMEM;
	while (count_seconds(&joining) > SECONDS_MOST && joining.second_ns < UINT64_MAX / 2)
		joining.second_ns *= 2;
	put_seconds(&joining);
	return put_bins(&timeline->bins, bytes);
}
