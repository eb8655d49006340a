// SPDX-License-Identifier: GPL-2.0-or-later
#include "cfi/code_ranges.h"

#include <errno.h>
#include <string.h>

#include "base/grow.h"
#include "base/own.h"
#include "base/partition.h"

#define DIGIT_BITS 11
#define DIGITS	   (1u << DIGIT_BITS)

int code_ranges_add(struct code_ranges *list, const struct code_range *range)
{
	int r;

	if (list->n == CODE_MAX_RANGES)
		return -EFBIG;
	r = grow(&list->ranges, &list->capacity, list->n + 1);
	if (r < 0)
		return r;
	list->ranges[list->n++] = *range;
	return 0;
}

void code_ranges_free(struct code_ranges *list)
{
	free(list->ranges);
	*list = (struct code_ranges){ 0 };
}

/* A stable radix sort by `begin`; most lists are sorted already. 0 or -ENOMEM. */
static int sort(struct code_ranges *list)
{
	own(own_free) struct code_range *other = NULL;
	struct code_range *from = list->ranges, *to;
	uint32_t counts[DIGITS], i;

	for (i = 1; i < list->n && from[i - 1].begin <= from[i].begin; i++)
		;
	if (i >= list->n)
		return 0;
	other = malloc((size_t)list->capacity * sizeof(*other));
	if (!other)
		return -ENOMEM;
	to = other;
	for (unsigned int shift = 0; shift < 32; shift += DIGIT_BITS) {
		uint32_t sum = 0;

		memset(counts, 0, sizeof(counts));
		for (i = 0; i < list->n; i++)
			counts[from[i].begin >> shift & (DIGITS - 1)]++;
		for (i = 0; i < DIGITS; i++) {
			uint32_t n = counts[i];

			counts[i] = sum;
			sum += n;
		}
		for (i = 0; i < list->n; i++)
			to[counts[from[i].begin >> shift & (DIGITS - 1)]++] = from[i];
		struct code_range *swap = from;

		from = to;
		to = swap;
	}
	other = to;
	list->ranges = from;
	return 0;
}

/*
 * Cuts each range of a sorted list where the next one begins; of those that begin together only
 * the last one is left.
 */
static void cut_overlaps(struct code_ranges *list, uint32_t *overlaps)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < list->n; i++) {
		struct code_range *range = &list->ranges[i];

		if (i + 1 < list->n) {
			uint32_t next = range[1].begin;

			if (range->end > next) {
				range->end = next;
				++*overlaps;
			}
			if (range->end <= range->begin)
				continue;
		}
		list->ranges[n++] = *range;
	}
	list->n = n;
}

/* Both lists are sorted and free of overlaps. */
static int merge(const struct code_ranges *list, struct code_ranges *more,
		 struct code_ranges *merged)
{
	uint32_t i = 0, j = 0, covered = 0; /* the end of the last range of `list` */
	int r = 0;

	while (i < list->n || j < more->n) {
		struct code_range *range;

		if (i < list->n &&
		    (j == more->n || list->ranges[i].begin <= more->ranges[j].begin)) {
			range = &list->ranges[i++];
			covered = range->end;
		} else {
			range = &more->ranges[j++];
			if (range->begin < covered)
				continue;
			if (i < list->n && range->end > list->ranges[i].begin)
				range->end = list->ranges[i].begin;
		}
		r = code_ranges_add(merged, range);
		if (r < 0)
			return r;
	}
	return r;
}

int code_ranges_merge(struct code_ranges *list, struct code_ranges *more, uint32_t *overlaps)
{
	own(code_ranges_free) struct code_ranges merged = { 0 };
	int r = sort(more);

	if (r < 0)
		return r;
	cut_overlaps(more, overlaps);
	if (!list->n) {
		code_ranges_free(list);
		*list = *more;
		*more = (struct code_ranges){ 0 };
		return 0;
	}
	r = merge(list, more, &merged);
	if (r < 0)
		return r;
	code_ranges_free(list);
	code_ranges_free(more);
	*list = merged;
	merged = (struct code_ranges){ 0 };
	return 0;
}

uint32_t code_ranges_above(const struct code_ranges *list, uint32_t address)
{
	return (uint32_t)partition_point(i, list->n, list->ranges[i].end <= address);
}

bool code_ranges_cover(const struct code_ranges *list, uint32_t address)
{
	uint32_t i = code_ranges_above(list, address);

	return i < list->n && list->ranges[i].begin <= address;
}

struct code_gaps code_gaps_of(const struct code_ranges *list, uint64_t begin, uint64_t end)
{
	return (struct code_gaps){ .list = list,
				   .next = code_ranges_above(list, (uint32_t)begin),
				   .begin = begin,
				   .end = end };
}

bool code_gaps_next(struct code_gaps *gaps, uint64_t least, uint64_t *ret_begin, uint64_t *ret_end)
{
	while (gaps->begin < gaps->end) {
		bool more = gaps->next < gaps->list->n;
		const struct code_range *range = more ? &gaps->list->ranges[gaps->next] : NULL;
		uint64_t begin = gaps->begin;
		uint64_t end = more && range->begin < gaps->end ? range->begin : gaps->end;

		gaps->begin = more ? range->end : gaps->end;
		gaps->next++;
		if (end > begin && end - begin >= least) {
			*ret_begin = begin;
			*ret_end = end;
			return true;
		}
	}
	return false;
}
