// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "gauge/sleepers.h"
#include "gauge/times_internal.h"

/* Adds to a stack's times; -ENOENT: the stack is not known yet. */
static int add_stack_time(struct times *times, const struct wire_hash *stack, int64_t blocked,
			  int64_t waiting, struct tally *tally)
{
	int r = epoch_stacks_time(times->stacks, stack, blocked, waiting);

	if (r == -ENOENT && tally) {
		r = sleepers_take(times->sleepers, stack, times->stacks, tally);
		if (r == 0)
			r = epoch_stacks_time(times->stacks, stack, blocked, waiting);
	}
	return r;
}

static int add_known(struct times *times, const struct place *place, int64_t blocked,
		     int64_t waiting, struct tally *tally)
{
	int r;

	if (!place->waker.low)
		return add_stack_time(times, &place->stack, blocked, waiting, tally);
	/* Fails before anything is added if the stack is not known. */
	r = add_stack_time(times, &place->stack, 0, 0, tally);
	if (r == 0)
		r = epoch_stacks_woken(times->stacks, &place->stack, &place->waker, blocked);
	return r < 0 || !waiting ? r : add_stack_time(times, &place->stack, 0, waiting, tally);
}

int times_add(struct times *times, const struct place *place, int64_t blocked, int64_t waiting,
	      struct tally *tally)
{
	int r = add_known(times, place, blocked, waiting, tally);

	if (r != -ENOENT)
		return r;
	r = grow(&times->early, &times->early_capacity, times->n_early + 1);
	if (r == 0)
		times->early[times->n_early++] = (struct early_time){ *place, blocked, waiting };
	return r;
}

static struct place place_of(const struct times *times, const struct wire_hash *key, uint32_t epoch)
{
	const struct pairs *pairs = &times->pairs[epoch & (WIRE_EPOCHS - 1)];
	struct index_cursor cursor;

	for (uint32_t at = index_first(&pairs->index, key->low, &cursor); at != INDEX_NONE;
	     at = index_next(&pairs->index, &cursor)) {
		const struct wire_pair *pair = &pairs->list[at];

		if (pair->hash.low == key->low && pair->hash.high == key->high)
			return (struct place){ { pair->stack_low, pair->stack_high },
					       { pair->waker_low, pair->waker_high } };
	}
	return (struct place){ .stack = *key };
}

int times_take_pair(void *context, const void *record, size_t size)
{
	struct times *times = context;
	const struct wire_pair *pair = record;
	struct pairs *pairs = &times->pairs[pair->epoch & (WIRE_EPOCHS - 1)];
	int r;

	(void)size;
	r = grow(&pairs->list, &pairs->capacity, pairs->n + 1);

	if (r == 0)
		r = index_add(&pairs->index, pair->hash.low, pairs->n);
	if (r == 0)
		pairs->list[pairs->n++] = *pair;
	return r;
}

int times_take(void *context, const void *record, size_t size)
{
	struct times *times = context;
	const struct wire_time *time = record;
	const struct place place = place_of(times, &time->hash, time->epoch);

	(void)size;
	return times_add(times, &place, (int64_t)time->blocked, (int64_t)time->waiting, NULL);
}

int times_add_early(struct times *times, struct tally *tally)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < times->n_early; i++) {
		struct early_time early = times->early[i];
		int r = add_known(times, &early.place, early.blocked, early.waiting, tally);

		if (r == -ENOENT)
			times->early[n++] = early;
		else if (r < 0)
			return r;
	}
	times->n_early = n;
	return 0;
}

static void pairs_clear(struct pairs *pairs)
{
	free(pairs->list);
	index_free(&pairs->index);
	*pairs = (struct pairs){ 0 };
}

int times_drain_sets(struct times *times, uint32_t epoch, struct tally *tally)
{
	struct wire_times *sets = times->sets + epoch * times->n_sets;

	for (uint32_t i = 0; i < times->n_sets; i++) {
		for (uint32_t way = 0; way < WIRE_TIMES; way++) {
			struct wire_hash hash = { sets[i].low[way], sets[i].high[way] };
			uint64_t blocked = sets[i].blocked[way], waiting = sets[i].waiting[way];
			struct place place;
			int r = 0;

			if (!blocked && !waiting)
				continue;
			sets[i].blocked[way] = sets[i].waiting[way] = 0;
			place = place_of(times, &hash, epoch);
			r = times_add(times, &place, (int64_t)blocked, (int64_t)waiting, tally);
			if (r < 0)
				return r;
		}
	}
	pairs_clear(&times->pairs[epoch]);
	return 0;
}

void times_lose_early(struct times *times, struct tally_losses *losses)
{
	for (uint32_t i = 0; i < times->n_early; i++) {
		const struct early_time *early = &times->early[i];

		if (early->blocked + early->waiting > 0)
			losses->lost_time += (uint64_t)(early->blocked + early->waiting);
	}
	times->n_early = 0;
}

void times_clear_places(struct times *times)
{
	for (uint32_t i = 0; i < WIRE_EPOCHS; i++)
		pairs_clear(&times->pairs[i]);
	free(times->early);
}
