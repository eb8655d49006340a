// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * New entries are turned into paths by the code that makes all other flame graphs: they and their
 * addresses become a small tally and from that a profile, which says which of its entries is that
 * of each entry of the tally.
 */
#include "live/tree.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/own.h"
#include "flame/flame_paths.h"

DEFINE_OWN(struct tally, tally_free)
DEFINE_OWN(struct names, names_free)

int tree_make(struct tree *tree, const struct report_options *report, uint32_t max_nodes)
{
	*tree = (struct tree){ .options = flame_tree_options(report),
			       .sides = report_options_hidden(report),
			       .filter = report->filter,
			       .max_nodes = max_nodes,
			       .capacity = 1024 };
	if (tree->options.who == FLAME_WHO_COMM)
		tree->options.who = FLAME_WHO_PROCESS;
	tree->nodes = calloc(tree->capacity, sizeof(*tree->nodes));
	tree->n_nodes = 1;
	return tree->nodes ? flame_frames_new(&tree->frames) : -ENOMEM;
}

bool tree_shares_processes(const struct tree *tree)
{
	return tree->options.who == FLAME_WHO_COMM;
}

void tree_clear(struct tree *tree)
{
	flame_frames_free(tree->frames);
	free(tree->nodes);
	free(tree->leaf_of);
	index_free(&tree->index);
	*tree = (struct tree){ 0 };
}

/* ---- nodes ---- */

static uint64_t hash_node(uint32_t parent, uint32_t frame)
{
	return hash_u64((uint64_t)parent << 32 | frame);
}

/* Finds or adds the child with this frame; the parent itself when there are no nodes left. */
static int child(struct tree *tree, uint32_t parent, uint32_t frame, uint32_t *ret_node)
{
	uint64_t hash = hash_node(parent, frame);
	struct index_cursor cursor;
	int r;

	for (uint32_t at = index_first(&tree->index, hash, &cursor); at != INDEX_NONE;
	     at = index_next(&tree->index, &cursor)) {
		if (tree->nodes[at].parent == parent && tree->nodes[at].frame == frame) {
			*ret_node = at;
			return 0;
		}
	}
	*ret_node = parent;
	if (tree->n_nodes >= tree->max_nodes)
		return 0;
	r = grow(&tree->nodes, &tree->capacity, (size_t)tree->n_nodes + 1);
	if (r < 0)
		return r;
	r = index_add(&tree->index, hash, tree->n_nodes);
	if (r < 0)
		return r;
	tree->nodes[tree->n_nodes] = (struct tree_node){ .parent = parent, .frame = frame };
	*ret_node = tree->n_nodes++;
	return 0;
}

/* Finds or adds the nodes of a path. */
static int add_path(struct tree *tree, const struct flame_paths *paths, const uint32_t *path,
		    uint32_t n, uint32_t *ret_leaf)
{
	uint32_t node = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t next;
		int r = child(tree, node, paths->frame_of[path[i]], &next);

		if (r < 0)
			return r;
		if (next == node) {
			tree->n_shortened++;
			break;
		}
		node = next;
	}
	*ret_leaf = node;
	return 0;
}

/* ---- the small tally ---- */

struct part {
	const struct tally *whole;
	const struct names *whole_names;
	struct tally *tally;
	struct names *names;
	uint32_t *number_of; /* of each address of `whole`: its number in `tally` plus 1, or 0 */
};

/* Copies an address with its names. Strings are borrowed from `whole_names`. */
static int add_address(struct part *part, uint32_t id, uint32_t *ret_number)
{
	struct names_frame frames[NAMES_MAX_INLINED];
	struct names_address address;
	int r;

	if (part->number_of[id]) {
		*ret_number = part->number_of[id] - 1;
		return 0;
	}
	address = names_address(part->whole_names, id);
	for (uint32_t i = 0; i < address.n; i++) {
		frames[i] = names_frame(part->whole_names, address.first + i);
		frames[i].object = NAMES_NONE;
	}
	r = names_add_address(part->names, frames, address.n);
	if (r < 0)
		return r;
	r = tally_append_address(part->tally, &tally_addresses(part->whole)[id]);
	if (r < 0)
		return r;
	*ret_number = tally_n_addresses(part->tally) - 1;
	part->number_of[id] = *ret_number + 1;
	return 0;
}

static int add_stack(struct part *part, uint32_t *stack)
{
	uint32_t frames[TALLY_MAX_FRAMES];
	const struct tally_stack *is;
	const uint32_t *from;

	if (*stack >= tally_n_stacks(part->whole))
		return 0;
	is = &tally_stacks(part->whole)[*stack];
	from = tally_frames(part->whole, is);
	for (uint32_t i = 0; i < is->n_frames; i++) {
		int r = add_address(part, from[i], &frames[i]);

		if (r < 0)
			return r;
	}
	return tally_stack(part->tally, frames, is->n_frames, is->flags, stack);
}

static int add_entries(struct part *part, uint32_t first, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct tally_entry entry = tally_entries(part->whole)[first + i];
		int r = add_stack(part, &entry.kernel);

		if (r == 0)
			r = add_stack(part, &entry.user);
		if (r == 0)
			r = tally_append_entry(part->tally, &entry);
		if (r < 0)
			return r;
	}
	return 0;
}

static int add_cgroups(struct part *part)
{
	for (uint32_t i = 0; i < names_n_cgroups(part->whole_names); i++) {
		int r = names_add_cgroup(part->names, &names_cgroups(part->whole_names)[i]);

		if (r < 0)
			return r;
	}
	return 0;
}

/* Adds the path of each entry of the profile. */
static int add_paths(struct tree *tree, const struct profile *profile, uint32_t *leaves)
{
	own(own_free) uint32_t *path = reallocarray(NULL, FLAME_PATH_LONGEST + 1, sizeof(*path));
	struct flame_paths paths;
	int r;

	if (!path)
		return -ENOMEM;
	r = flame_paths_make(&paths, tree->frames, profile, &tree->options);
	for (uint32_t i = 0; r == 0 && i < profile->n_entries; i++) {
		uint32_t n = flame_paths_put(&paths, i, path);

		r = add_path(tree, &paths, path, n, &leaves[i]);
	}
	flame_paths_clear(&paths);
	return r;
}

/* Maps the `n` entries of the tally from `first` on, which are those of the profile. */
static int map_entries(struct tree *tree, const struct profile *profile, uint32_t first, uint32_t n)
{
	own(own_free) uint32_t *leaves =
		reallocarray(NULL, (size_t)profile->n_entries + 1, sizeof(*leaves));
	int r = leaves ? add_paths(tree, profile, leaves) : -ENOMEM;

	for (uint32_t i = 0; r == 0 && i < n; i++) {
		uint32_t entry = profile->entry_of[i];

		tree->leaf_of[first + i] = entry == PROFILE_NO_ENTRY ? TREE_NO_NODE : leaves[entry];
	}
	return r;
}

static int grow_by(struct tree *tree, const struct tally *tally, const struct names *names,
		   uint32_t first, uint32_t n)
{
	const struct profile_meta meta = { .command = "" };
	own(own_free) uint32_t *number_of =
		calloc((size_t)tally_n_addresses(tally) + 1, sizeof(*number_of));
	own(own_tally_free) struct tally *small = NULL;
	own(own_names_free) struct names *small_names = NULL;
	own(profile_clear) struct profile profile = { 0 };
	struct part part = { .whole = tally, .whole_names = names, .number_of = number_of };
	int r;

	if (!number_of)
		return -ENOMEM;
	r = tally_new(0, 0, &small);
	if (r < 0)
		return r;
	r = names_new(&small_names);
	if (r < 0)
		return r;
	part.tally = small;
	part.names = small_names;
	r = add_cgroups(&part);
	if (r == 0)
		r = add_entries(&part, first, n);
	if (r == 0)
		r = profile_build(small, small_names, &meta,
				  PROFILE_VIEW_ENTRY_OF | PROFILE_VIEW_ASLEEP |
					  flame_tree_view(&tree->options) | tree->sides,
				  tree->filter, &profile);
	return r < 0 ? r : map_entries(tree, &profile, first, n);
}

int tree_grow(struct tree *tree, const struct tally *tally, const struct names *names)
{
	uint32_t n = tally_n_entries(tally);
	int r;

	if (n == tree->n_entries)
		return 0;
	r = grow(&tree->leaf_of, &tree->leaf_capacity, n);
	if (r < 0)
		return r;
	/* Thousands of short processes would use up all nodes: from here on they share by name. */
	if (tree->options.who == FLAME_WHO_PROCESS && tree->n_nodes > tree->max_nodes / 2)
		tree->options.who = FLAME_WHO_COMM;
	r = grow_by(tree, tally, names, tree->n_entries, n - tree->n_entries);
	if (r == 0)
		tree->n_entries = n;
	return r;
}
