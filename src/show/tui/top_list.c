// SPDX-License-Identifier: GPL-2.0-or-later
#include "tui/top_list.h"

#include <errno.h>
#include <stdlib.h>

#include "base/own.h"

void top_list_clear(struct top_list *list)
{
	free(list->rows);
	*list = (struct top_list){ 0 };
}

static int compare(const struct top_row *a, const struct top_row *b, uint64_t of_a, uint64_t of_b)
{
	if (of_a != of_b)
		return of_a > of_b ? -1 : 1;
	return a->frame < b->frame ? -1 : a->frame > b->frame;
}

static int by_self(const void *left, const void *right)
{
	const struct top_row *a = left, *b = right;

	return compare(a, b, a->self, b->self);
}

static int by_total_first(const void *left, const void *right)
{
	const struct top_row *a = left, *b = right;

	return compare(a, b, a->total, b->total);
}

/*
 * Adds up the nodes by frame. `path` has the frames from the root to the node, and `on_path` how
 * often each frame is in it.
 */
static void sum(const struct flame_tree *tree, struct top_row *rows, uint32_t *on_path,
		uint32_t *path)
{
	uint32_t depth = 0; /* frames in `path` */

	for (uint32_t i = 0; i < tree->n_nodes; i++) {
		const struct flame_node *node = &tree->nodes[i];

		while (depth > node->depth)
			on_path[path[--depth]]--;
		rows[node->frame].self += node->self;
		if (on_path[node->frame]++ == 0)
			rows[node->frame].total += node->total;
		path[depth++] = node->frame;
	}
}

int top_list_make(const struct flame_tree *tree, const struct flame_frame *frames,
		  uint32_t n_frames, bool by_total, const struct search *search,
		  struct top_list *ret_list)
{
	own(own_free) uint32_t *on_path = calloc(n_frames + 1, sizeof(*on_path));
	own(own_free) uint32_t *path = calloc(tree->max_depth + 2, sizeof(*path));
	struct top_list list = { .rows = calloc(n_frames + 1, sizeof(*list.rows)) };

	if (!on_path || !path || !list.rows) {
		top_list_clear(&list);
		return -ENOMEM;
	}
	sum(tree, list.rows, on_path, path);
	for (uint32_t i = 0; i < n_frames; i++) {
		if (!list.rows[i].total || frames[i].kind == FLAME_ROOT ||
		    frames[i].kind == FLAME_WHO || (search && !search_finds(search, i)))
			continue;
		list.rows[list.n] = list.rows[i];
		list.rows[list.n++].frame = i;
	}
	qsort(list.rows, list.n, sizeof(*list.rows), by_total ? by_total_first : by_self);
	*ret_list = list;
	return 0;
}
