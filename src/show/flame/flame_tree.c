// SPDX-License-Identifier: GPL-2.0-or-later
#include "flame/flame_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"

void flame_tree_clear(struct flame_tree *tree)
{
	if (!tree)
		return;
	free(tree->nodes);
	free(tree->leaf_of);
	*tree = (struct flame_tree){ 0 };
}

static uint64_t sum(uint64_t a, uint64_t b)
{
	uint64_t result;

	return __builtin_add_overflow(a, b, &result) ? UINT64_MAX : result;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* ---- merging two trees ---- */

struct both {
	const struct flame_frames *frames;
	const struct flame_tree *a, *b;
	enum flame_merge how;
	struct flame_tree made;
};

/* Merges a node of both trees; `a` or `b` is NULL if only the other tree has it. */
static struct flame_node combine(const struct both *both, const struct flame_node *a,
				 const struct flame_node *b)
{
	static const struct flame_node nothing;
	struct flame_node node = a ? *a : *b;

	a = a ? a : &nothing;
	b = b ? b : &nothing;
	switch (both->how) {
	case FLAME_ADD:
		node.self = sum(a->self, b->self);
		node.total = sum(a->total, b->total);
		node.base_self = sum(a->base_self, b->base_self);
		node.base_total = sum(a->base_total, b->base_total);
		break;
	case FLAME_SUBTRACT:
		node.self = less(a->self, b->self);
		node.total = less(a->total, b->total);
		node.base_self = less(a->base_self, b->base_self);
		node.base_total = less(a->base_total, b->base_total);
		break;
	case FLAME_COMPARE:
		node.self = a->self;
		node.total = a->total;
		node.base_self = b->self;
		node.base_total = b->total;
		break;
	}
	return node;
}

static uint32_t put_node(struct both *both, struct flame_node node, uint32_t parent)
{
	struct flame_tree *made = &both->made;
	uint32_t at = made->n_nodes++;

	node.parent = parent;
	node.end = made->n_nodes;
	made->nodes[at] = node;
	return at;
}

static bool is_nothing(const struct flame_node *node)
{
	return node->total == 0 && node->base_total == 0;
}

/* Copies the subtree of node i, which only one tree has. */
static void put_subtree(struct both *both, const struct flame_tree *from, uint32_t i,
			uint32_t parent)
{
	uint32_t shift = both->made.n_nodes - i; /* modulo 2^32 */
	uint32_t first = i, end = from->nodes[i].end;

	for (; i < end; i++) {
		const struct flame_node *node = &from->nodes[i];
		struct flame_node it =
			from == both->a ? combine(both, node, NULL) : combine(both, NULL, node);
		uint32_t at;

		if (both->how == FLAME_SUBTRACT && is_nothing(&it)) {
			/* Only in b: nothing of the subtree is left. */
			return;
		}
		at = put_node(both, it, i == first ? parent : node->parent + shift);
		both->made.nodes[at].end = node->end + shift;
	}
}

/* The next children of a node that both trees have. */
struct level {
	uint32_t a, b; /* node indices */
	uint32_t end_a, end_b, node;
};

static struct level open_level(struct both *both, uint32_t a, uint32_t b, uint32_t parent)
{
	const struct flame_node *one = &both->a->nodes[a], *other = &both->b->nodes[b];
	uint32_t node = put_node(both, combine(both, one, other), parent);

	return (struct level){
		.a = a + 1, .b = b + 1, .end_a = one->end, .end_b = other->end, .node = node
	};
}

/* Removes the node if subtraction left nothing of it; nothing below it is left either. */
static void close_level(struct both *both, const struct level *level)
{
	struct flame_tree *made = &both->made;

	if (level->node > 0 && is_nothing(&made->nodes[level->node]))
		made->n_nodes = level->node;
	else
		made->nodes[level->node].end = made->n_nodes;
}

static void walk_both(struct both *both, struct level *levels)
{
	uint32_t n = 1;

	levels[0] = open_level(both, 0, 0, 0);
	while (n > 0) {
		struct level *level = &levels[n - 1];
		bool more_a = level->a < level->end_a, more_b = level->b < level->end_b;
		uint32_t a = level->a, b = level->b;
		int order;

		if (!more_a && !more_b) {
			close_level(both, level);
			n--;
			continue;
		}
		order = !more_b	  ? -1
			: !more_a ? 1
				  : flame_frames_compare(both->frames, both->a->nodes[a].frame,
							 both->b->nodes[b].frame);
		if (order <= 0)
			level->a = both->a->nodes[a].end;
		if (order >= 0)
			level->b = both->b->nodes[b].end;
		if (order < 0)
			put_subtree(both, both->a, a, level->node);
		else if (order > 0)
			put_subtree(both, both->b, b, level->node);
		else
			levels[n++] = open_level(both, a, b, level->node);
	}
}

static uint32_t deepest(const struct flame_tree *tree)
{
	uint32_t depth = 0;

	for (uint32_t i = 0; i < tree->n_nodes; i++)
		if (tree->nodes[i].depth > depth)
			depth = tree->nodes[i].depth;
	return depth;
}

/* Frees the memory that was allocated for the worst case. */
static void fit(struct flame_tree *tree)
{
	struct flame_node *fitted = reallocarray(tree->nodes, tree->n_nodes, sizeof(*tree->nodes));

	if (fitted)
		tree->nodes = fitted;
	tree->max_depth = deepest(tree);
}

int flame_tree_merge(const struct flame_frames *frames, const struct flame_tree *a,
		     const struct flame_tree *b, enum flame_merge how, struct flame_tree *ret_tree)
{
	struct both both = { .frames = frames, .a = a, .b = b, .how = how };
	uint64_t most = (uint64_t)a->n_nodes + b->n_nodes;
	uint32_t depth = a->max_depth < b->max_depth ? a->max_depth : b->max_depth;
	own(own_free) struct level *levels = reallocarray(NULL, (size_t)depth + 2, sizeof(*levels));

	if (most >= UINT32_MAX)
		return -EFBIG;
	both.made.nodes = reallocarray(NULL, most, sizeof(*both.made.nodes));
	if (!both.made.nodes || !levels) {
		free(both.made.nodes);
		return -ENOMEM;
	}
	walk_both(&both, levels);
	both.made.minimum = a->minimum > b->minimum ? a->minimum : b->minimum;
	both.made.left_out = sum(a->left_out, b->left_out);
	fit(&both.made);
	*ret_tree = both.made;
	return 0;
}

/* ---- a part of a tree ---- */

/* `kept_as` has for each node its number in the part, or that of the nearest one with the mark. */
static int prune_leaves(const struct flame_tree *tree, const uint32_t *kept_as,
			struct flame_tree *made)
{
	if (!tree->leaf_of)
		return 0;
	made->leaf_of = reallocarray(NULL, (size_t)tree->n_leaves + 1, sizeof(*made->leaf_of));
	if (!made->leaf_of)
		return -ENOMEM;
	made->n_leaves = tree->n_leaves;
	for (uint32_t i = 0; i < tree->n_leaves; i++) {
		uint32_t leaf = tree->leaf_of[i];

		made->leaf_of[i] = kept_as[leaf & ~FLAME_LEFT_OUT] | (leaf & FLAME_LEFT_OUT);
	}
	return 0;
}

int flame_tree_prune(const struct flame_tree *tree, uint64_t minimum, struct flame_tree *ret_tree)
{
	struct flame_tree made = { .minimum = minimum > tree->minimum ? minimum : tree->minimum,
				   .left_out = tree->left_out };
	own(own_free) uint32_t *path =
		reallocarray(NULL, (size_t)tree->max_depth + 1, sizeof(*path));
	own(own_free) uint32_t *kept_as = reallocarray(NULL, tree->n_nodes, sizeof(*kept_as));

	made.nodes = reallocarray(NULL, tree->n_nodes, sizeof(*made.nodes));
	if (!made.nodes || !path || !kept_as) {
		free(made.nodes);
		return -ENOMEM;
	}
	/* The last node of each depth is the parent of those one deeper. */
	for (uint32_t i = 0; i < tree->n_nodes;) {
		const struct flame_node *node = &tree->nodes[i];

		if (i > 0 && node->total < minimum && node->base_total < minimum) {
			made.left_out += node->end - i;
			for (; i < node->end; i++)
				kept_as[i] = path[node->depth - 1] | FLAME_LEFT_OUT;
			continue;
		}
		path[node->depth] = kept_as[i] = made.n_nodes;
		made.nodes[made.n_nodes] = *node;
		made.nodes[made.n_nodes].parent = node->depth ? path[node->depth - 1] : 0;
		made.n_nodes++;
		i++;
	}
	/* Backwards, so that the ends of all descendants are known before that of a node. */
	for (uint32_t i = made.n_nodes; i-- > 0;)
		made.nodes[i].end = i + 1;
	for (uint32_t i = made.n_nodes; i-- > 1;) {
		struct flame_node *parent = &made.nodes[made.nodes[i].parent];

		if (parent->end < made.nodes[i].end)
			parent->end = made.nodes[i].end;
	}
	fit(&made);
	if (prune_leaves(tree, kept_as, &made) < 0) {
		flame_tree_clear(&made);
		return -ENOMEM;
	}
	*ret_tree = made;
	return 0;
}
