/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One file's rows, packed into a tree of blocks as bpf/unwind_wire.h has it. A leaf ends when it
 * is full or the next row is 64 KiB or more from its first; a range may go on for longer, up to
 * the next leaf's first row, so who looks up takes the last row for what lies beyond.
 *
 * The tree is made of fresh blocks and never changed; it is for whoever refers to its root to be
 * told of it afterwards. Must not know: files, processes, budgets.
 */
#ifndef STACKTALLY_UNWIND_TABLE_H
#define STACKTALLY_UNWIND_TABLE_H

#include <stdint.h>

#include "cfi/unwind_rows.h"
#include "unwind/blocks.h"

struct table_tree {
	uint32_t owner;
	uint32_t root;
	uint32_t *ids; /* all its blocks */
	uint32_t n;
};

/* Blocks that so many rows take. */
uint32_t table_blocks(const struct unwind_row *rows, uint32_t n);

/*
 * Packs at least one row. `numbers` gives the number in the kernel of each rule that rows name.
 * 0, -ENOMEM, -EFBIG (more than the levels of a tree hold), or as blocks_take() with `spare`.
 */
int table_pack(struct blocks *blocks, const struct unwind_row *rows, uint32_t n,
	       const uint16_t *numbers, uint32_t owner, uint32_t spare,
	       struct table_tree *ret_tree);

/* Gives its blocks back; nothing may refer to it any more. Makes it empty. */
void table_release(struct blocks *blocks, struct table_tree *tree);

#endif
