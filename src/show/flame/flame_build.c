// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Builds the tree of a profile. The stacks are sorted by their paths; where a path leaves the one
 * before it, nodes close and their totals are final. Nodes below the minimum are dropped at once,
 * so a million stacks need no more memory than the nodes that stay.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/index.h"
#include "base/own.h"
#include "flame/flame_paths.h"

/* The histogram of totals is exact up to here; then it has eight buckets for each power of two. */
#define EXACT	  256u
#define N_BUCKETS (EXACT + 56u * 8u)

struct stack_key {
	uint64_t key; /* the first elements of the path, enough for most comparisons */
	uint32_t entry;
};

struct open_node {
	uint64_t total, self;
	uint64_t id;
	uint32_t at; /* in the tree */
	uint32_t rank;
	uint32_t first; /* of the sorted stacks below it */
};

struct build {
	struct flame_paths paths;
	const struct flame_options *options;
	uint32_t n_entries;
	struct stack_key *keys;
	uint32_t at_key;	/* the stack that is walked */
	uint32_t *path, *other; /* ranks */
	struct open_node *open;
	uint64_t sizes[N_BUCKETS]; /* the number of nodes by total */
	struct flame_tree made;
	uint32_t capacity;
	bool counting; /* a first pass that only fills `sizes` */
};

/* ---- the order of stacks ---- */

static int by_path(const void *a, const void *b, void *context)
{
	const struct stack_key *one = a, *other = b;
	struct build *build = context;
	uint32_t i = 0;

	if (one->key != other->key)
		return one->key < other->key ? -1 : 1;
	flame_paths_put(&build->paths, one->entry, build->path);
	flame_paths_put(&build->paths, other->entry, build->other);
	while (build->path[i] && build->path[i] == build->other[i])
		i++;
	if (build->path[i] != build->other[i])
		return build->path[i] < build->other[i] ? -1 : 1;
	return one->entry < other->entry ? -1 : 1;
}

/* The elements of each path that fit into 64 bits, filled up with 0. */
static void make_keys(struct build *build)
{
	unsigned int bits = 32 - (unsigned int)__builtin_clz(build->paths.n_ranks | 1);

	for (uint32_t i = 0; i < build->n_entries; i++) {
		uint32_t n = flame_paths_put(&build->paths, i, build->path);
		struct stack_key *key = &build->keys[i];

		key->entry = i;
		key->key = 0;
		for (uint32_t at = 0; at < 64 / bits; at++)
			key->key = key->key << bits | (at < n ? build->path[at] : 0);
	}
}

/* ---- nodes ---- */

static uint32_t bucket_of(uint64_t total)
{
	unsigned int top;

	if (total < EXACT)
		return (uint32_t)total;
	top = 63 - (unsigned int)__builtin_clzll(total);
	return EXACT + (top - 8) * 8 + (uint32_t)(total >> (top - 3) & 7);
}

/* The smallest total of a bucket. */
static uint64_t bucket_start(uint32_t bucket)
{
	unsigned int top = (bucket - EXACT) / 8 + 8;

	if (bucket < EXACT)
		return bucket;
	return (uint64_t)(8 + (bucket - EXACT) % 8) << (top - 3);
}

static int open_node(struct build *build, uint32_t depth, uint32_t rank)
{
	struct open_node *open = &build->open[depth];
	uint32_t frame = build->paths.frame_of[rank];
	uint64_t hash = flame_frames_get(build->paths.frames, frame)->hash;
	struct flame_tree *made = &build->made;
	uint64_t parent_id = depth ? build->open[depth - 1].id : 0;
	int r;

	*open = (struct open_node){ .id = hash_u64(parent_id * 31 + hash),
				    .at = made->n_nodes,
				    .rank = rank,
				    .first = build->at_key };
	if (build->counting)
		return 0;
	r = grow(&made->nodes, &build->capacity, (size_t)made->n_nodes + 1);
	if (r < 0)
		return r;
	made->nodes[made->n_nodes++] =
		(struct flame_node){ .id = open->id,
				     .frame = frame,
				     .parent = depth ? build->open[depth - 1].at : 0,
				     .depth = depth };
	return 0;
}

static uint64_t add_up(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* The stacks below the open node end in a node that is dropped with it. */
static void drop_leaves(struct build *build, const struct open_node *open)
{
	if (build->made.leaf_of)
		for (uint32_t i = open->first; i < build->at_key; i++)
			build->made.leaf_of[build->keys[i].entry] = open[-1].at | FLAME_LEFT_OUT;
}

/* Dropping a node drops its descendants, whose totals are no larger. */
static void close_node(struct build *build, uint32_t depth)
{
	struct open_node *open = &build->open[depth];
	struct flame_tree *made = &build->made;

	if (depth > 0)
		open[-1].total = add_up(open[-1].total, open->total);
	if (build->counting) {
		build->sizes[bucket_of(open->total)]++;
		return;
	}
	if (depth > 0 && open->total < made->minimum) {
		made->n_nodes = open->at;
		made->left_out++;
		drop_leaves(build, open);
		return;
	}
	made->nodes[open->at].self = open->self;
	made->nodes[open->at].total = open->total;
	made->nodes[open->at].end = made->n_nodes;
	if (depth > made->max_depth)
		made->max_depth = depth;
}

/* Walks the sorted stacks: all nodes open and close in preorder. */
static int walk(struct build *build)
{
	uint32_t depth = 0; /* of the deepest open node; the root is always open */
	int r = open_node(build, 0, 0);

	build->at_key = 0;
	for (uint32_t i = 0; r == 0 && i < build->n_entries; i++) {
		const struct stack_key *key = &build->keys[i];
		uint64_t count = build->paths.profile->entries[key->entry].count;
		uint32_t same = 0, n;

		if (i + 8 < build->n_entries)
			profile_prefetch(build->paths.profile, build->keys[i + 8].entry);
		n = flame_paths_put(&build->paths, key->entry, build->path);
		while (same < depth && build->path[same] == build->open[same + 1].rank)
			same++;
		build->at_key = i;
		while (depth > same)
			close_node(build, depth--);
		while (r == 0 && depth < n) {
			depth++;
			r = open_node(build, depth, build->path[depth - 1]);
		}
		build->open[depth].self = add_up(build->open[depth].self, count);
		build->open[depth].total = add_up(build->open[depth].total, count);
		if (build->made.leaf_of && !build->counting)
			build->made.leaf_of[key->entry] = build->open[depth].at;
	}
	build->at_key = build->n_entries;
	while (r == 0 && depth > 0)
		close_node(build, depth--);
	if (r == 0)
		close_node(build, 0);
	return r;
}

/* The number of nodes if no two stacks had a common frame. */
static uint64_t most_nodes(const struct build *build)
{
	uint64_t n = 1;

	for (uint32_t i = 0; i < build->n_entries; i++) {
		struct profile_entry entry;

		profile_prefetch(build->paths.profile, i);
		profile_read(build->paths.profile, &build->paths.profile->entries[i], &entry);
		n += (uint64_t)entry.n_user + entry.n_kernel + FLAME_PATH_EXTRA;
	}
	return n;
}

/* The smallest minimum that leaves no more than max_nodes. */
static int choose_minimum(struct build *build)
{
	uint64_t max = build->options->max_nodes ? build->options->max_nodes : FLAME_MAX_NODES;
	uint64_t kept = 0;
	int r;

	build->made.minimum = build->options->minimum ? build->options->minimum : 1;
	if (most_nodes(build) <= max)
		return 0;
	build->counting = true;
	r = walk(build);
	build->counting = false;
	for (uint32_t i = N_BUCKETS; r == 0 && i-- > 0;) {
		kept += build->sizes[i];
		if (kept > max) {
			if (bucket_start(i + 1) > build->made.minimum)
				build->made.minimum = bucket_start(i + 1);
			break;
		}
	}
	return r;
}

/* ---- the whole ---- */

static int make(struct build *build)
{
	int r;

	build->keys = reallocarray(NULL, (size_t)build->n_entries + 1, sizeof(*build->keys));
	build->path = reallocarray(NULL, FLAME_PATH_LONGEST + 1, sizeof(*build->path));
	build->other = reallocarray(NULL, FLAME_PATH_LONGEST + 1, sizeof(*build->other));
	build->open = reallocarray(NULL, FLAME_PATH_LONGEST + 1, sizeof(*build->open));
	if (!build->keys || !build->path || !build->other || !build->open)
		return -ENOMEM;
	if (build->options->leaves) {
		build->made.n_leaves = build->n_entries;
		build->made.leaf_of = reallocarray(NULL, (size_t)build->n_entries + 1,
						   sizeof(*build->made.leaf_of));
		if (!build->made.leaf_of)
			return -ENOMEM;
	}
	make_keys(build);
	qsort_r(build->keys, build->n_entries, sizeof(*build->keys), by_path, build);
	r = choose_minimum(build);
	return r < 0 ? r : walk(build);
}

int flame_tree_build(struct flame_frames *frames, const struct profile *profile,
		     const struct flame_options *options, struct flame_tree *ret_tree)
{
	struct build build = { .options = options, .n_entries = profile->n_entries };
	int r = flame_paths_make(&build.paths, frames, profile, options);

	if (r == 0)
		r = make(&build);
	if (r == 0) {
		*ret_tree = build.made;
		build.made = (struct flame_tree){ 0 };
	}
	flame_paths_clear(&build.paths);
	free(build.keys);
	free(build.path);
	free(build.other);
	free(build.open);
	flame_tree_clear(&build.made);
	return r;
}

uint32_t flame_tree_view(const struct flame_options *options)
{
	uint32_t view = PROFILE_VIEW_MODULE | PROFILE_VIEW_INLINED | PROFILE_VIEW_UNNAMED |
			PROFILE_VIEW_SCRIPT_FILES;

	if (options->who == FLAME_WHO_COMM)
		view |= PROFILE_VIEW_COMM;
	if (options->who >= FLAME_WHO_PROCESS)
		view |= PROFILE_VIEW_PROCESS;
	if (options->who >= FLAME_WHO_THREAD)
		view |= PROFILE_VIEW_THREAD;
	if (options->cgroup)
		view |= PROFILE_VIEW_CGROUP;
	if (options->lines)
		view |= PROFILE_VIEW_LINES;
	return view;
}

struct flame_options flame_tree_options(const struct report_options *report)
{
	bool shows_process = report->layout != REPORT_LAYOUT_STACKCOUNT || report->per_process;

	return (struct flame_options){ .who = report->per_thread ? FLAME_WHO_THREAD
					      : shows_process	 ? FLAME_WHO_COMM
								 : FLAME_WHO_NONE,
				       .cgroup = report->show_cgroup,
				       .lines = report->lines };
}
