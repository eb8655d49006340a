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

/* The address of the first row below a block. */
static uint32_t first_key(const struct blocks *blocks, uint32_t id)
{
	const struct wire_block_header *header = blocks_at(blocks, id);

	return header->level ? ((const struct wire_inner *)header)->keys[0] : header->base;
}

/* Fills a level of inner blocks over `n` children; returns how many blocks. */
static uint32_t fill_level(const struct blocks *blocks, uint32_t owner, uint16_t level,
			   const uint32_t *children, uint32_t n, const uint32_t *ids)
{
	uint32_t made = 0;

	for (uint32_t first = 0; first < n; made++) {
		struct wire_inner *inner = blocks_at(blocks, ids[made]);
		uint32_t taken = n - first;

		if (taken > WIRE_INNER_CHILDREN)
			taken = WIRE_INNER_CHILDREN;
		for (uint32_t i = 0; i < taken; i++) {
			inner->keys[i] = first_key(blocks, children[first + i]);
			inner->children[i] = children[first + i];
		}
		inner->header = (struct wire_block_header){
			.owner = owner,
			.n = (uint16_t)taken,
			.level = level,
		};
		first += taken;
	}
	return made;
}

int table_pack(struct blocks *blocks, const struct unwind_row *rows, uint32_t n,
	       const uint16_t *numbers, uint32_t owner, uint32_t spare, struct table_tree *ret_tree)
{
	uint32_t leaves = count_leaves(rows, n), total = table_blocks(rows, n), done = 0;
	uint32_t begin = 0, level_n = leaves;
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
	for (uint32_t i = 0; i < leaves; i++)
		done += fill_leaf(blocks_at(blocks, ids[i]), owner, &rows[done], n - done, numbers);
	for (uint16_t level = 1; level_n > 1; level++) {
		uint32_t made = fill_level(blocks, owner, level, &ids[begin], level_n,
					   &ids[begin + level_n]);

		begin += level_n;
		level_n = made;
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
