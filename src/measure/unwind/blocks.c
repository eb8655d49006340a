// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/blocks.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct retired_block {
	uint64_t stamp;
	uint32_t id;
};

/* So many windows stay mapped while nobody uses them; mapped memory counts as this process's. */
#define MAX_IDLE_WINDOWS 32u

/* Blocks that lie beside each other and are mapped together. */
struct window {
	char *memory;	/* NULL: it is not open */
	uint64_t used;	/* the number of the last use */
	uint64_t kept;	/* the number of the last blocks_at(); 0: none */
	uint32_t holds; /* pointers of blocks_hold() */
};

struct blocks {
	struct unwind_maps *maps;
	pthread_mutex_t lock;	 /* guards all below */
	pthread_mutex_t growing; /* held while segments are added; taken before `lock` */
	uint32_t max_segments, n_segments;
	struct window *windows; /* all */
	uint32_t *open;		/* the numbers of those that are; room for all */
	uint32_t n_open;
	uint64_t uses, settled; /* numbers of the last use, and of the last before a settle */
	uint32_t *free;		/* a stack with room for all blocks */
	uint32_t n_free;
	struct retired_block *retired; /* a ring with room for all blocks, oldest first */
	uint32_t first_retired, n_retired;
	uint64_t begun, over; /* numbers of the last grace periods that have begun, are over */
};

static uint32_t capacity(const struct blocks *blocks)
{
	return blocks->max_segments * WIRE_SEGMENT_BLOCKS - 1;
}

static uint32_t n_windows(const struct blocks *blocks)
{
	return blocks->max_segments * (WIRE_SEGMENT_BLOCKS / UNWIND_WINDOW_BLOCKS);
}

int blocks_new(struct unwind_maps *maps, uint64_t limit, struct blocks **ret_blocks)
{
	struct blocks *blocks = calloc(1, sizeof(*blocks));
	uint64_t segments = limit / UNWIND_SEGMENT_SIZE;

	if (!blocks)
		return -ENOMEM;
	pthread_mutex_init(&blocks->lock, NULL);
	pthread_mutex_init(&blocks->growing, NULL);
	blocks->maps = maps;
	blocks->max_segments = segments > WIRE_MAX_SEGMENTS ? WIRE_MAX_SEGMENTS
			       : segments		    ? (uint32_t)segments
							    : 1;
	blocks->free = calloc(capacity(blocks), sizeof(*blocks->free));
	blocks->retired = calloc(capacity(blocks), sizeof(*blocks->retired));
	blocks->windows = calloc(n_windows(blocks), sizeof(*blocks->windows));
	blocks->open = calloc(n_windows(blocks), sizeof(*blocks->open));
	if (!blocks->free || !blocks->retired || !blocks->windows || !blocks->open) {
		blocks_free(blocks);
		return -ENOMEM;
	}
	*ret_blocks = blocks;
	return 0;
}

void blocks_free(struct blocks *blocks)
{
	if (!blocks)
		return;
	for (uint32_t i = 0; i < blocks->n_open; i++)
		blocks->maps->unmap(blocks->maps, blocks->windows[blocks->open[i]].memory);
	pthread_mutex_destroy(&blocks->lock);
	pthread_mutex_destroy(&blocks->growing);
	free(blocks->free);
	free(blocks->retired);
	free(blocks->windows);
	free(blocks->open);
	free(blocks);
}

/* ---- windows; the lock is held ---- */

static bool is_idle(const struct blocks *blocks, const struct window *window)
{
	return window->holds == 0 && window->kept <= blocks->settled;
}

/* Closes the idle window that was used least recently. False: there is none. */
static bool close_one(struct blocks *blocks)
{
	uint32_t oldest = blocks->n_open;
	struct window *window;

	for (uint32_t i = 0; i < blocks->n_open; i++) {
		window = &blocks->windows[blocks->open[i]];
		if (is_idle(blocks, window) &&
		    (oldest == blocks->n_open ||
		     window->used < blocks->windows[blocks->open[oldest]].used))
			oldest = i;
	}
	if (oldest == blocks->n_open)
		return false;
	window = &blocks->windows[blocks->open[oldest]];
	blocks->maps->unmap(blocks->maps, window->memory);
	window->memory = NULL;
	blocks->open[oldest] = blocks->open[--blocks->n_open];
	return true;
}

/* The window with a block, open; NULL when out of memory. */
static struct window *use_window(struct blocks *blocks, uint32_t id)
{
	uint32_t number = id / UNWIND_WINDOW_BLOCKS;
	struct window *window = &blocks->windows[number];

	if (!window->memory) {
		if (blocks->n_open >= MAX_IDLE_WINDOWS)
			close_one(blocks);
		window->memory = blocks->maps->map(blocks->maps, number * UNWIND_WINDOW_BLOCKS);
		if (!window->memory)
			return NULL;
		blocks->open[blocks->n_open++] = number;
	}
	window->used = ++blocks->uses;
	return window;
}

static void *block_in(const struct window *window, uint32_t id)
{
	return window->memory + (size_t)(id % UNWIND_WINDOW_BLOCKS) * WIRE_BLOCK_SIZE;
}

/* ---- the memory of blocks ---- */

void *blocks_hold(struct blocks *blocks, uint32_t id)
{
	struct window *window;
	void *memory = NULL;

	pthread_mutex_lock(&blocks->lock);
	window = use_window(blocks, id);
	if (window) {
		window->holds++;
		memory = block_in(window, id);
	}
	pthread_mutex_unlock(&blocks->lock);
	return memory;
}

void blocks_drop(struct blocks *blocks, uint32_t id)
{
	pthread_mutex_lock(&blocks->lock);
	blocks->windows[id / UNWIND_WINDOW_BLOCKS].holds--;
	pthread_mutex_unlock(&blocks->lock);
}

void *blocks_at(struct blocks *blocks, uint32_t id)
{
	struct window *window;
	void *memory = NULL;

	pthread_mutex_lock(&blocks->lock);
	window = use_window(blocks, id);
	if (window) {
		window->kept = window->used;
		memory = block_in(window, id);
	}
	pthread_mutex_unlock(&blocks->lock);
	return memory;
}

void blocks_settle(struct blocks *blocks)
{
	pthread_mutex_lock(&blocks->lock);
	blocks->settled = blocks->uses;
	while (blocks->n_open > MAX_IDLE_WINDOWS && close_one(blocks))
		;
	pthread_mutex_unlock(&blocks->lock);
}

/* ---- which blocks are free ---- */

/* Makes retired blocks free whose grace period is over; the lock is held. */
static void collect(struct blocks *blocks)
{
	while (blocks->n_retired) {
		struct retired_block *oldest = &blocks->retired[blocks->first_retired];
		struct window *window;

		if (oldest->stamp >= blocks->over)
			break;
		window = use_window(blocks, oldest->id);
		if (!window)
			break;
		*(uint32_t *)block_in(window, oldest->id) = 0;
		blocks->free[blocks->n_free++] = oldest->id;
		blocks->first_retired = (blocks->first_retired + 1) % capacity(blocks);
		blocks->n_retired--;
	}
}

/*
 * Adds segments for `n` more blocks, and at least a fourth of what there are: each call may wait
 * for the grace period of the one before, so there should be few.
 */
static int add_segments(struct blocks *blocks, uint32_t n)
{
	uint32_t first = blocks->n_segments, capacity = blocks->max_segments - first;
	uint32_t wanted = (n + WIRE_SEGMENT_BLOCKS) / WIRE_SEGMENT_BLOCKS;
	int r;

	if (wanted < first / 4)
		wanted = first / 4;
	if (wanted > capacity)
		wanted = capacity;
	if (wanted == 0)
		return -ENOSPC;
	r = blocks->maps->add_segments(blocks->maps, first, wanted);
	if (r < 0)
		return r;
	pthread_mutex_lock(&blocks->lock);
	for (uint32_t i = wanted; i-- > 0;) {
		uint32_t id = (first + i) * WIRE_SEGMENT_BLOCKS;

		for (uint32_t j = WIRE_SEGMENT_BLOCKS; j-- > 0;) {
			if (id + j != WIRE_NO_BLOCK)
				blocks->free[blocks->n_free++] = id + j;
		}
	}
	blocks->n_segments += wanted;
	pthread_mutex_unlock(&blocks->lock);
	return 0;
}

uint64_t blocks_stamp(struct blocks *blocks)
{
	uint64_t stamp;

	pthread_mutex_lock(&blocks->lock);
	stamp = blocks->begun;
	pthread_mutex_unlock(&blocks->lock);
	return stamp;
}

bool blocks_grace_over(struct blocks *blocks, uint64_t stamp)
{
	bool over;

	pthread_mutex_lock(&blocks->lock);
	over = stamp < blocks->over;
	pthread_mutex_unlock(&blocks->lock);
	return over;
}

int blocks_wait_grace(struct blocks *blocks)
{
	uint64_t number;
	int r;

	pthread_mutex_lock(&blocks->lock);
	number = ++blocks->begun;
	pthread_mutex_unlock(&blocks->lock);
	r = blocks->maps->wait_grace(blocks->maps);
	if (r < 0)
		return r;
	pthread_mutex_lock(&blocks->lock);
	if (blocks->over < number)
		blocks->over = number;
	collect(blocks);
	pthread_mutex_unlock(&blocks->lock);
	return 0;
}

/* How many free blocks `n` lacks; `*ret_wait`: a grace period has to provide them, not segments. */
static uint32_t missing(struct blocks *blocks, uint32_t n, bool *ret_wait)
{
	uint32_t short_of = 0, could_add;

	pthread_mutex_lock(&blocks->lock);
	collect(blocks);
	could_add = (blocks->max_segments - blocks->n_segments) * WIRE_SEGMENT_BLOCKS;
	if (blocks->n_free < n)
		short_of = n - blocks->n_free;
	*ret_wait = blocks->n_retired > 0 && could_add < short_of;
	pthread_mutex_unlock(&blocks->lock);
	return short_of;
}

int blocks_prepare(struct blocks *blocks, uint32_t n)
{
	uint32_t short_of;
	bool wait;
	int r = 0;

	pthread_mutex_lock(&blocks->growing);
	short_of = missing(blocks, n, &wait);
	if (short_of && wait) {
		r = blocks_wait_grace(blocks);
		if (r == 0)
			short_of = missing(blocks, n, &wait);
	}
	if (r == 0 && short_of)
		r = add_segments(blocks, short_of);
	pthread_mutex_unlock(&blocks->growing);
	return r;
}

int blocks_take(struct blocks *blocks, uint32_t n, uint32_t spare, uint32_t *ret_ids)
{
	uint32_t taken = 0, in_use;
	bool fits;
	int r;

	for (;;) {
		pthread_mutex_lock(&blocks->lock);
		collect(blocks);
		in_use = blocks->n_segments * WIRE_SEGMENT_BLOCKS - (blocks->n_segments > 0) -
			 blocks->n_free - blocks->n_retired;
		fits = spare <= capacity(blocks) && in_use <= capacity(blocks) - spare &&
		       n <= capacity(blocks) - spare - in_use;
		if (fits && blocks->n_free >= n) {
			for (; taken < n; taken++)
				ret_ids[taken] = blocks->free[--blocks->n_free];
		}
		pthread_mutex_unlock(&blocks->lock);
		if (!fits)
			return -ENOSPC;
		if (taken == n)
			return 0;
		r = blocks_prepare(blocks, n);
		if (r < 0)
			return r;
	}
}

void blocks_give(struct blocks *blocks, const uint32_t *ids, uint32_t n)
{
	pthread_mutex_lock(&blocks->lock);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = (blocks->first_retired + blocks->n_retired++) % capacity(blocks);

		blocks->retired[at] =
			(struct retired_block){ .stamp = blocks->begun, .id = ids[i] };
	}
	pthread_mutex_unlock(&blocks->lock);
}

void blocks_usage(struct blocks *blocks, struct blocks_usage *ret_usage)
{
	pthread_mutex_lock(&blocks->lock);
	*ret_usage = (struct blocks_usage){
		.limit = capacity(blocks),
		.allocated = blocks->n_segments * WIRE_SEGMENT_BLOCKS - (blocks->n_segments > 0),
		.retired = blocks->n_retired,
		.mapped = blocks->n_open * UNWIND_WINDOW_BLOCKS,
	};
	ret_usage->used = ret_usage->allocated - blocks->n_free - blocks->n_retired;
	pthread_mutex_unlock(&blocks->lock);
}
