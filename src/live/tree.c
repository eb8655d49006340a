// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * New entries are turned into paths by the code that makes all other flame graphs: they alone, with
 * the addresses they have, become a small profile. An entry's number stands in it as its count,
 * since a profile tells entries apart by everything, but does not say which it was.
 */
#include "live/tree.h"

#include <errno.h>
#include <stdlib.h>

#include "base/own.h"
#include "flame/flame_paths.h"

DEFINE_OWN(struct tally, tally_free)
DEFINE_OWN(struct names, names_free)

/* As little as possible is merged. */
#define VIEW_ALL                                                                                   \
	(PROFILE_VIEW_PROCESS | PROFILE_VIEW_THREAD | PROFILE_VIEW_CGROUP | PROFILE_VIEW_ADDRESS)

int tree_make(struct tree *tree, const struct report_options *report, uint32_t max_nodes)
{
	*tree = (struct tree){ .options = flame_tree_options(report),
			       .sides = flame_tree_sides(report),
			       .max_nodes = max_nodes,
			       .room = 1024 };
	if (tree->options.who == FLAME_WHO_COMM)
		tree->options.who = FLAME_WHO_PROCESS;
	tree->nodes = calloc(tree->room, sizeof(*tree->nodes));
	tree->n_nodes = 1;
	return tree->nodes ? flame_frames_new(&tree->frames) : -ENOMEM;
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

/* The child with this frame, made if need be; the parent itself when there is no room. */
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
	if (tree->n_nodes == tree->room) {
		struct tree_node *grown =
			reallocarray(tree->nodes, (size_t)tree->room * 2, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		tree->nodes = grown;
		tree->room *= 2;
	}
	r = index_add(&tree->index, hash, tree->n_nodes);
	if (r < 0)
		return r;
	tree->nodes[tree->n_nodes] = (struct tree_node){ .parent = parent, .frame = frame };
	*ret_node = tree->n_nodes++;
	return 0;
}

static int walk(struct tree *tree, const struct flame_paths *paths, const uint32_t *path,
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

/* ---- the small profile ---- */

struct part {
	const struct tally *whole;
	const struct names *whole_names;
	struct tally *tally;
	struct names *names;
	uint32_t *number_of; /* of each address of the whole: its number here, plus 1 */
};

/* Strings are those of the whole, which outlives this. */
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
	if (r == 0)
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
	const struct tally_entry *entries = tally_entries(part->whole);
	int r = 0;

	for (uint32_t i = first; r == 0 && i < n; i++) {
		struct tally_entry entry = entries[i];

		entry.count = i - first + 1;
		r = add_stack(part, &entry.kernel);
		if (r == 0)
			r = add_stack(part, &entry.user);
		if (r == 0)
			r = tally_append_entry(part->tally, &entry);
	}
	return r;
}

static int add_paths(struct tree *tree, const struct profile *profile, uint32_t first)
{
	own(own_free) uint32_t *path = reallocarray(NULL, FLAME_PATH_LONGEST + 1, sizeof(*path));
	struct flame_paths paths;
	int r = path ? flame_paths_make(&paths, tree->frames, profile, &tree->options) : -ENOMEM;

	if (!path)
		return r;
	for (uint32_t i = 0; r == 0 && i < profile->n_entries; i++) {
		uint64_t number = profile->entries[i].count - 1;
		uint32_t n = flame_paths_put(&paths, i, path);

		r = walk(tree, &paths, path, n, &tree->leaf_of[first + number]);
	}
	flame_paths_clear(&paths);
	return r;
}

static int grow_by(struct tree *tree, const struct tally *tally, const struct names *names,
		   uint32_t first, uint32_t n);

/* Two that look alike have become one of a count that says nothing: each is taken alone. */
static int grow_by_halves(struct tree *tree, const struct tally *tally, const struct names *names,
			  uint32_t first, uint32_t n)
{
	int r = grow_by(tree, tally, names, first, n / 2);

	return r < 0 ? r : grow_by(tree, tally, names, first + n / 2, n - n / 2);
}

static int grow_by(struct tree *tree, const struct tally *tally, const struct names *names,
		   uint32_t first, uint32_t n)
{
	const struct profile_meta meta = { .command = "" };
	own(own_free) uint32_t *number_of =
		calloc((size_t)tally_n_addresses(tally) + 1, sizeof(*number_of));
	own(own_tally_free) struct tally *small = NULL;
	own(own_names_free) struct names *small_names = NULL;
	struct part part = { .whole = tally, .whole_names = names, .number_of = number_of };
	struct profile profile = { 0 };
	int r = number_of ? tally_new(0, 0, &small) : -ENOMEM;

	if (r == 0)
		r = names_new(&small_names);
	part.tally = small;
	part.names = small_names;
	for (uint32_t i = 0; r == 0 && i < names_n_cgroups(names); i++)
		r = names_add_cgroup(small_names, names_cgroups(names)[i].id,
				     names_cgroups(names)[i].path);
	if (r == 0)
		r = add_entries(&part, first, first + n);
	if (r == 0)
		r = profile_build(small, small_names, &meta,
				  VIEW_ALL | flame_tree_view(&tree->options) | tree->sides,
				  &profile);
	if (r == 0 && profile.n_entries < n)
		r = grow_by_halves(tree, tally, names, first, n);
	else if (r == 0)
		r = add_paths(tree, &profile, first);
	profile_clear(&profile);
	return r;
}

int tree_grow(struct tree *tree, const struct tally *tally, const struct names *names)
{
	uint32_t n = tally_n_entries(tally);
	int r;

	if (n == tree->n_entries)
		return 0;
	if (n > tree->leaf_room) {
		uint32_t room = n + n / 2;
		uint32_t *grown = reallocarray(tree->leaf_of, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		tree->leaf_of = grown;
		tree->leaf_room = room;
	}
	/* Where thousands of short processes run, new ones of a name share what boxes are left. */
	if (tree->options.who == FLAME_WHO_PROCESS && tree->n_nodes > tree->max_nodes / 2)
		tree->options.who = FLAME_WHO_COMM;
	r = grow_by(tree, tally, names, tree->n_entries, n - tree->n_entries);
	if (r == 0)
		tree->n_entries = n;
	return r;
}
