/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pool of blocks of 4 KiB that tables and mappings are written to: in segments that are added
 * when they are needed, up to a limit. A block that was given back may still be read by a walk
 * that is under way, so it is handed out again only after a grace period.
 *
 * Grace periods are counted: what was let go under a stamp is out of use once blocks_passed() says
 * so. Several threads may use the pool. Must not know: what is in the blocks, but that the first
 * four bytes of each name its owner.
 */
#ifndef STACKTALLY_UNWIND_BLOCKS_H
#define STACKTALLY_UNWIND_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/own.h"
#include "unwind/kernel_maps.h"

struct blocks;

/*
 * `limit` in bytes: whole segments of it are used, at least one. `maps` is borrowed. 0 or -ENOMEM.
 */
int blocks_new(struct unwind_maps *maps, uint64_t limit, struct blocks **ret_blocks);
void blocks_free(struct blocks *blocks);
DEFINE_OWN(struct blocks, blocks_free)

/*
 * Takes `n` blocks, or none: their content is undefined, their owner 0. Leaves `spare` blocks for
 * others, of what may ever be there. May wait for a grace period. 0; -ENOSPC: over the limit;
 * or the negative errno of adding a segment.
 */
int blocks_take(struct blocks *blocks, uint32_t n, uint32_t spare, uint32_t *ret_ids);
void blocks_give(struct blocks *blocks, const uint32_t *ids, uint32_t n);

/* Valid as long as the pool; id must have been taken. */
void *blocks_at(const struct blocks *blocks, uint32_t id);

/* Makes room before it is needed: at least `n` blocks are free then, if the limit allows. */
int blocks_prepare(struct blocks *blocks, uint32_t n);

/* The stamp of what is let go now, and whether all walks that could see such have ended. */
uint64_t blocks_stamp(struct blocks *blocks);
bool blocks_passed(struct blocks *blocks, uint64_t stamp);
/* Waits for a grace period: everything let go before has passed then. */
int blocks_settle(struct blocks *blocks);

struct blocks_usage {
	uint32_t limit;	 /* blocks there may be */
	uint32_t there;	 /* in segments that were added, but for block 0 */
	uint32_t taken;	 /* in use */
	uint32_t let_go; /* given back, and not out of use yet */
};
void blocks_usage(struct blocks *blocks, struct blocks_usage *ret_usage);

#endif
