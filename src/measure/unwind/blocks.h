/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pool of 4 KiB blocks for tables and mappings. It grows by segments, up to a limit. A block
 * that is given back may still be read by a walk, so it is handed out again only after a grace
 * period: once all walks that began before have ended.
 *
 * Other things that walks may still read wait in the same way: take blocks_stamp() when they are
 * given up, and reuse them when blocks_grace_over() says so. All functions but new and free may be
 * called by several threads. Must not know: what is in a block, except that its first four bytes
 * are its owner.
 */
#ifndef STACKTALLY_UNWIND_BLOCKS_H
#define STACKTALLY_UNWIND_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/own.h"
#include "unwind/unwind_maps.h"

struct blocks;

/*
 * `limit` in bytes, rounded down to whole segments, at least one. `maps` is borrowed. 0 or -ENOMEM.
 */
int blocks_new(struct unwind_maps *maps, uint64_t limit, struct blocks **ret_blocks);
void blocks_free(struct blocks *blocks);
DEFINE_OWN(struct blocks, blocks_free)

/*
 * Takes `n` blocks, or none: their content is undefined, their owner 0. At least `spare` more stay
 * within the limit for others. May wait for a grace period. 0; -ENOSPC: over the limit; or the
 * negative errno of adding a segment.
 */
int blocks_take(struct blocks *blocks, uint32_t n, uint32_t spare, uint32_t *ret_ids);
void blocks_give(struct blocks *blocks, const uint32_t *ids, uint32_t n);

/*
 * The memory of a block that was taken: WIRE_BLOCK_SIZE bytes, or NULL when out of memory. A
 * pointer of blocks_hold() is valid until blocks_drop() of that block; one of blocks_at() until
 * blocks_settle(), which the same thread must call.
 */
void *blocks_hold(struct blocks *blocks, uint32_t id);
void blocks_drop(struct blocks *blocks, uint32_t id);
void *blocks_at(struct blocks *blocks, uint32_t id);
/* Ends the validity of all pointers of blocks_at(). */
void blocks_settle(struct blocks *blocks);

/*
 * Makes `n` blocks free ahead of need: adds segments, or waits for a grace period. 0, -ENOSPC (over
 * the limit), or as blocks_take().
 */
int blocks_prepare(struct blocks *blocks, uint32_t n);

/* The stamp of now, and whether a grace period that began after it is over. */
uint64_t blocks_stamp(struct blocks *blocks);
bool blocks_grace_over(struct blocks *blocks, uint64_t stamp);
/* Waits for a grace period that begins now: 0, or a negative errno. */
int blocks_wait_grace(struct blocks *blocks);

/* In blocks. */
struct blocks_usage {
	uint32_t limit;
	uint32_t allocated; /* in segments that were added, without block 0 */
	uint32_t used;
	uint32_t retired; /* given back, and waiting for a grace period */
	uint32_t mapped;  /* in this process, used or not */
};
void blocks_usage(struct blocks *blocks, struct blocks_usage *ret_usage);

#endif
