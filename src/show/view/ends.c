// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/ends.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/index.h"
#include "base/own.h"

struct places {
	struct ends_place *list;
	uint32_t n, capacity;
	struct index index;
};

static void free_places(struct places *places)
{
	free(places->list);
	index_free(&places->index);
}

/* Names store equal strings once, so pointers can be compared. */
static uint64_t place_hash(const struct ends_place *place)
{
	return hash_u64((uint64_t)(uintptr_t)place->module ^
			hash_u64((uint64_t)(uintptr_t)place->function + place->end));
}

static int add_place(struct places *places, struct ends_place place)
{
	uint64_t hash = place_hash(&place);
	struct index_cursor cursor;
	int r;

	for (uint32_t at = index_first(&places->index, hash, &cursor); at != INDEX_NONE;
	     at = index_next(&places->index, &cursor)) {
		struct ends_place *known = &places->list[at];

		if (known->end == place.end && known->module == place.module &&
		    known->function == place.function) {
			known->count += place.count;
			return 0;
		}
	}
	r = grow(&places->list, &places->capacity, (size_t)places->n + 1);
	if (r < 0)
		return r;
	r = index_add(&places->index, hash, places->n);
	if (r < 0)
		return r;
	places->list[places->n++] = place;
	return 0;
}

/* The function a walk ended in: its outermost frame. */
static struct ends_place place_of(const struct tally *tally, const struct names *names,
				  const struct tally_stack *stack, uint64_t count)
{
	struct ends_place place = { .count = count,
				    .end = (enum tally_end)TALLY_STACK_END(stack->flags) };
	uint32_t address = tally_frames(tally, stack)[stack->n_frames - 1];

	if (address < names_n_addresses(names)) {
		struct names_address named = names_address(names, address);
		struct names_frame frame = names_frame(names, named.first + named.n - 1);

		place.module = frame.module;
		place.function = frame.name;
	}
	return place;
}

static int compare_places(const void *left, const void *right)
{
	const struct ends_place *a = left, *b = right;

	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	return a->end < b->end ? -1 : a->end > b->end;
}

/* Counts a stack with functions of an interpreted program, once for each reason in it. */
static void add_program(const struct tally *tally, const struct tally_stack *stack, uint64_t count,
			struct ends *ends)
{
	const uint32_t *frames = tally_frames(tally, stack);
	bool met[SCRIPT_N_REASONS] = { false }, is_program = false;

	for (uint32_t i = 0; i < stack->n_frames; i++) {
		const struct tally_address *address = &tally_addresses(tally)[frames[i]];
		uint64_t id = SCRIPT_ID(address->address);

		if (!(address->flags & TALLY_ADDRESS_SCRIPT))
			continue;
		is_program = true;
		if (id >= SCRIPT_N_REASONS || met[id])
			continue;
		met[id] = true;
		ends->by_reason[id] += count;
	}
	ends->programs += is_program ? count : 0;
}

int ends_of(const struct tally *tally, const struct names *names, struct ends *ret_ends)
{
	const struct tally_entry *entries = tally_entries(tally);
	own(free_places) struct places places = { 0 };
	struct ends ends = { 0 };

	for (uint32_t i = 0; i < tally_n_entries(tally); i++) {
		const struct tally_stack *stack;
		uint32_t end;

		if (entries[i].user >= tally_n_stacks(tally))
			continue;
		stack = &tally_stacks(tally)[entries[i].user];
		end = TALLY_STACK_END(stack->flags);
		if (end == TALLY_END_NONE || end >= TALLY_N_ENDS)
			continue;
		ends.samples += tally_events_of(&entries[i]);
		add_program(tally, stack, tally_events_of(&entries[i]), &ends);
		ends.by_end[end] += tally_events_of(&entries[i]);
		if (stack->flags & TALLY_STACK_ASSUMED)
			ends.assumed += tally_events_of(&entries[i]);
		if (tally_end_is_complete((enum tally_end)end))
			ends.complete += tally_events_of(&entries[i]);
		else if (add_place(&places,
				   place_of(tally, names, stack, tally_events_of(&entries[i]))) < 0)
			return -ENOMEM;
	}
	if (places.n)
		qsort(places.list, places.n, sizeof(*places.list), compare_places);
	ends.n_top = places.n < ENDS_TOP ? places.n : ENDS_TOP;
	if (ends.n_top)
		memcpy(ends.top, places.list, ends.n_top * sizeof(*ends.top));
	*ret_ends = ends;
	return 0;
}
