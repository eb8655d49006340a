// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/mappings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/partition.h"

static struct mapping_list *list_new(uint32_t capacity)
{
	struct mapping_list *list = malloc(sizeof(*list) + capacity * sizeof(list->at[0]));

	if (list)
		*list = (struct mapping_list){ .references = 1, .capacity = capacity };
	return list;
}

struct mapping_list *mappings_new(const struct mapping *mappings, uint32_t n)
{
	struct mapping_list *list = list_new(n ? n : 8);

	if (list && n) {
		memcpy(list->at, mappings, n * sizeof(*mappings));
		list->n = n;
	}
	return list;
}

struct mapping_list *mappings_share(struct mapping_list *list)
{
	list->references++;
	return list;
}

void mappings_release(struct mapping_list *list)
{
	if (list && --list->references == 0)
		free(list);
}

/* The first mapping that ends behind the address. */
static uint32_t lower_bound(const struct mapping_list *list, uint64_t address)
{
	return (uint32_t)partition_point(i, list->n, list->at[i].end <= address);
}

const struct mapping *mappings_find(const struct mapping_list *list, uint64_t address)
{
	uint32_t i = lower_bound(list, address);

	return i < list->n && list->at[i].start <= address ? &list->at[i] : NULL;
}

uint32_t mappings_cover(const struct mapping_list *list, const uint64_t *addresses, uint32_t n)
{
	const struct mapping *mapping = NULL;
	uint32_t covered = 0;

	/* Consecutive frames are mostly in the same mapping. */
	for (uint32_t i = 0; i < n; i++) {
		if (!mapping || addresses[i] < mapping->start || addresses[i] >= mapping->end)
			mapping = mappings_find(list, addresses[i]);
		covered += mapping != NULL;
	}
	return covered;
}

/* An address in both stands for the same code in both, so that they can be merged. */
static bool agree(const struct mapping *a, const struct mapping *b)
{
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case MAPPING_FILE:
		return a->file == b->file && a->start - a->offset == b->start - b->offset;
	case MAPPING_ANONYMOUS:
		return a->name == b->name;
	default:
		return a->name == b->name && a->start == b->start;
	}
}

/* The range [first, last) of the list that overlaps the mapping. */
static uint32_t overlap(const struct mapping_list *list, const struct mapping *mapping,
			uint32_t *ret_last)
{
	uint32_t first = lower_bound(list, mapping->start), last = first;

	while (last < list->n && list->at[last].start < mapping->end)
		last++;
	*ret_last = last;
	return first;
}

bool mappings_conflict(const struct mapping_list *list, const struct mapping *mapping)
{
	uint32_t last, first = overlap(list, mapping, &last);

	for (uint32_t i = first; i < last; i++) {
		if (!agree(&list->at[i], mapping))
			return true;
	}
	return false;
}

static struct mapping merge(struct mapping a, const struct mapping *b)
{
	if (b->start < a.start) {
		a.start = b->start;
		a.offset = b->offset;
	}
	if (b->end > a.end)
		a.end = b->end;
	return a;
}

/* Makes *list one with a single reference and room for `more` mappings. */
static int make_private(struct mapping_list **list, uint32_t more)
{
	struct mapping_list *old = *list, *copy;
	uint32_t wanted = old->n + more;

	if (old->references == 1 && old->capacity >= wanted)
		return 0;
	copy = list_new(wanted + wanted / 4 + 2);
	if (!copy)
		return -ENOMEM;
	copy->n = old->n;
	memcpy(copy->at, old->at, old->n * sizeof(old->at[0]));
	mappings_release(old);
	*list = copy;
	return 0;
}

int mappings_add(struct mapping_list **list_pointer, const struct mapping *mapping)
{
	struct mapping_list *list = *list_pointer;
	struct mapping
		pieces[3]; /* the rest of the first overlapped, the new, the rest of the last */
	struct mapping whole = *mapping;
	uint32_t last, first = overlap(list, mapping, &last), n = 0;
	int r;

	/* Adjacent mappings that agree are merged, too. */
	if (first > 0 && list->at[first - 1].end == mapping->start &&
	    agree(&list->at[first - 1], mapping))
		first--;
	if (last < list->n && list->at[last].start == mapping->end &&
	    agree(&list->at[last], mapping))
		last++;
	if (list->n - (last - first) + 3 > MAX_MAPPINGS) /* 3: pieces */
		return 1;
	r = make_private(list_pointer, 2);
	if (r < 0)
		return r;
	list = *list_pointer;
	for (uint32_t i = first; i < last; i++) {
		if (agree(&list->at[i], &whole))
			whole = merge(whole, &list->at[i]);
	}
	if (first < last && list->at[first].start < whole.start) {
		pieces[n] = list->at[first];
		pieces[n++].end = whole.start;
	}
	pieces[n++] = whole;
	if (first < last && list->at[last - 1].end > whole.end) {
		pieces[n] = list->at[last - 1];
		pieces[n].offset += whole.end - pieces[n].start;
		pieces[n++].start = whole.end;
	}
	memmove(&list->at[first + n], &list->at[last], (list->n - last) * sizeof(list->at[0]));
	memcpy(&list->at[first], pieces, n * sizeof(pieces[0]));
	list->n = list->n - (last - first) + n;
	return 0;
}
