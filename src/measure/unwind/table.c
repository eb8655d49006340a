// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/table.h"

#include <errno.h>
#include <string.h>

/* How many rows from `first` on go into one leaf. */
static uint32_t leaf_rows(const struct unwind_row *rows, uint32_t n, uint32_t first)
{
	uint32_t base = rows[first].address, end = first + 1;

	while (end < n && end - first < WIRE_LEAF_ROWS && rows[end].address - base <= 0xffff)
		end++;
	return end - first;
}

static uint32_t count_leaves(const struct unwind_row *rows, uint32_t n)
{
	uint32_t leaves = 0;

	for (uint32_t i = 0; i < n; i += leaf_rows(rows, n, i))
		leaves++;
	return leaves;
}

/* How many inner blocks `children` need. */
static uint32_t parents(uint32_t children)
{
	return (uint32_t)((children + WIRE_INNER_CHILDREN - 1) / WIRE_INNER_CHILDREN);
}

uint32_t table_blocks(const struct unwind_row *rows, uint32_t n)
{
	uint32_t level = count_leaves(rows, n), total = level;

	while (level > 1) {
		level = parents(level);
		total += level;
	}
	return total;
}

/* Fills a leaf; returns how many of the rows it took. */
static uint32_t fill_leaf(struct wire_leaf *leaf, uint32_t owner, const struct unwind_row *rows,
			  uint32_t n, const uint16_t *numbers)
{
	uint32_t taken = leaf_rows(rows, n, 0);

	leaf->header = (struct wire_block_header){
		.owner = owner,
		.base = rows[0].address,
		.n = (uint16_t)taken,
	};
	for (uint32_t i = 0; i < taken; i++)
		wire_leaf_put(leaf, i, rows[i].address - rows[0].address, numbers[rows[i].rule]);
	return taken;
}

/* A block, and the address of the first row in it or below it. */
struct child {
	uint32_t id, key;
};

/* Fills a level of inner blocks over `n` children. They become the children of the next level, at
 * the beginning of the list; *ret_n: how many. 0 or -ENOMEM. */
static int fill_level(struct blocks *blocks, uint32_t owner, uint16_t level, struct child *children,
		      uint32_t n, const uint32_t *ids, uint32_t *ret_n)
{
	uint32_t made = 0;

	for (uint32_t first = 0; first < n; made++) {
		struct wire_inner *inner = blocks_hold(blocks, ids[made]);
		struct child parent = { ids[made], children[first].key };
		uint32_t taken = n - first;

		if (!inner)
			return -ENOMEM;
		if (taken > WIRE_INNER_CHILDREN)
			taken = WIRE_INNER_CHILDREN;
		for (uint32_t i = 0; i < taken; i++) {
			inner->keys[i] = children[first + i].key;
			inner->children[i] = children[first + i].id;
		}
		inner->header = (struct wire_block_header){
			.owner = owner,
			.n = (uint16_t)taken,
			.level = level,
		};
		blocks_drop(blocks, ids[made]);
		first += taken;
		children[made] = parent; /* behind those that were read */
	}
	*ret_n = made;
	return 0;
}

/* Fills the leaves, and lists them. 0 or -ENOMEM. */
static int fill_leaves(struct blocks *blocks, uint32_t owner, const struct unwind_row *rows,
		       uint32_t n, const uint16_t *numbers, const uint32_t *ids,
		       struct child *children)
{
	for (uint32_t done = 0; done < n; ids++, children++) {
		struct wire_leaf *leaf = blocks_hold(blocks, *ids);

		if (!leaf)
			return -ENOMEM;
		*children = (struct child){ *ids, rows[done].address };
		done += fill_leaf(leaf, owner, &rows[done], n - done, numbers);
		blocks_drop(blocks, *ids);
	}
	return 0;
}

/* Fills the blocks `ids`: the leaves, then the levels above, the root last. */
static int fill_tree(struct blocks *blocks, uint32_t owner, const struct unwind_row *rows,
		     uint32_t n, const uint16_t *numbers, const uint32_t *ids, uint32_t leaves)
{
	own(own_free) struct child *children = malloc(leaves * sizeof(*children));
	uint32_t level_n = leaves;
	int r;

	if (!children)
		return -ENOMEM;
	r = fill_leaves(blocks, owner, rows, n, numbers, ids, children);
	ids += leaves;
	for (uint16_t level = 1; r == 0 && level_n > 1; level++) {
		r = fill_level(blocks, owner, level, children, level_n, ids, &level_n);
		ids += level_n;
	}
	return r;
}

int table_pack(struct blocks *blocks, const struct unwind_row *rows, uint32_t n,
	       const uint16_t *numbers, uint32_t owner, uint32_t spare, struct table_tree *ret_tree)
{
	uint32_t leaves = count_leaves(rows, n), total = table_blocks(rows, n);
	own(own_free) uint32_t *ids = NULL;
	int r;

	if (n == 0)
		return -EINVAL;
	if (leaves > WIRE_INNER_CHILDREN * WIRE_INNER_CHILDREN)
		return -EFBIG;
	ids = malloc(total * sizeof(*ids));
	if (!ids)
		return -ENOMEM;
	r = blocks_take(blocks, total, spare, ids);
	if (r < 0)
		return r;
	r = fill_tree(blocks, owner, rows, n, numbers, ids, leaves);
	if (r < 0) {
		blocks_give(blocks, ids, total);
		return r;
	}
	*ret_tree = (struct table_tree){
		.owner = owner,
		.root = ids[total - 1],
		.n = total,
	};
	ret_tree->ids = take_ptr(ids);
	return 0;
}

void table_release(struct blocks *blocks, struct table_tree *tree)
{
	if (tree->n)
		blocks_give(blocks, tree->ids, tree->n);
	free(tree->ids);
	*tree = (struct table_tree){ 0 };
}
