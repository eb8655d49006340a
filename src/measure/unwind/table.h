/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packs one file's rows into a tree of blocks (bpf/unwind_wire.h). A leaf ends when it is full or
 * when the next row is 64 KiB or more above its first. The range of a leaf's last row may be longer
 * than that, so a search takes the last row for all addresses beyond.
 *
 * The tree never changes. It is made of fresh blocks; the caller publishes its root afterwards.
 * Must not know: files, processes, budgets.
 */
#ifndef STACKTALLY_UNWIND_TABLE_H
#define STACKTALLY_UNWIND_TABLE_H

#include <stdint.h>

#include "cfi/unwind_rows.h"
#include "unwind/blocks.h"

struct table_tree {
	uint32_t owner;
	uint32_t root;
	uint32_t *ids; /* of all its blocks; owned */
	uint32_t n;    /* blocks */
};

/* How many blocks the rows take. */
uint32_t table_blocks(const struct unwind_row *rows, uint32_t n);

/*
 * Packs at least one row. `numbers` translates the rows' rules to numbers in the kernel's array.
 * 0, -EINVAL (no row), -ENOMEM, -EFBIG (over WIRE_MAX_LEVELS), or as blocks_take() with `spare`.
 */
int table_pack(struct blocks *blocks, const struct unwind_row *rows, uint32_t n,
	       const uint16_t *numbers, uint32_t owner, uint32_t spare,
	       struct table_tree *ret_tree);

/* Gives the blocks back, to which nothing may refer any more, and empties the tree. */
void table_release(struct blocks *blocks, struct table_tree *tree);

#endif
