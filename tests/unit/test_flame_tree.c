// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "flame/flame_tree.h"

struct data {
	struct tally *tally;
	struct names *names;
	struct flame_frames *frames;
	struct profile_meta meta;
	uint64_t seed;
};

static int set_up(void **state)
{
	static struct data data;

	data = (struct data){ .seed = 88172645463325252u };
	*state = &data;
	return tally_new(0, 0, &data.tally) < 0 || names_new(&data.names) < 0 ||
	       flame_frames_new(&data.frames) < 0;
}

static int tear_down(void **state)
{
	struct data *data = *state;

	tally_free(data->tally);
	names_free(data->names);
	flame_frames_free(data->frames);
	return 0;
}

static uint32_t address(struct data *data, const char *name, uint32_t flags, const char *linkage)
{
	struct tally_address it = { .address = names_n_addresses(data->names), .image = 1 };
	struct names_frame frame = { .name = name ? names_string(data->names, name) : NULL,
				     .linkage_name =
					     linkage ? names_string(data->names, linkage) : NULL,
				     .module = names_string(data->names, "lib.so"),
				     .object = NAMES_NONE,
				     .flags = flags };
	uint32_t id;

	assert_int_equal(tally_address(data->tally, &it, &id), 0);
	assert_int_equal(names_add_address(data->names, &frame, 1), 0);
	return id;
}

/* Frames are letters, root first; the last `n_kernel` of them are the kernel's part. */
static void count(struct data *data, uint64_t n, uint32_t tgid, const char *stack,
		  uint32_t n_kernel)
{
	struct tally_entry entry = { .count = n,
				     .tgid = tgid,
				     .tid = tgid + 1,
				     .kernel = TALLY_STACK_NONE,
				     .user = TALLY_STACK_NONE };
	uint32_t ids[64], size = (uint32_t)strlen(stack);

	while (names_n_addresses(data->names) < 26) {
		char name[2] = { (char)('a' + names_n_addresses(data->names)), 0 };

		address(data, name, 0, NULL);
	}
	for (uint32_t i = 0; i < size; i++)
		ids[size - 1 - i] = (uint32_t)(stack[i] - 'a');
	assert_int_equal(tally_stack(data->tally, ids, n_kernel, 0, &entry.kernel), 0);
	assert_int_equal(tally_stack(data->tally, ids + n_kernel, size - n_kernel, 0, &entry.user),
			 0);
	memcpy(entry.comm, "sh", 3);
	assert_int_equal(tally_add(data->tally, &entry), 0);
}

static struct flame_tree build(struct data *data, struct flame_options options)
{
	struct flame_tree tree = { 0 };
	struct profile profile;

	assert_int_equal(profile_build(data->tally, data->names, &data->meta,
				       flame_tree_view(&options), NULL, &profile),
			 0);
	assert_int_equal(flame_tree_build(data->frames, &profile, &options, &tree), 0);
	profile_clear(&profile);
	return tree;
}

/* "all 6/0(a 5/1(...))": name total/self, children in brackets; with the base if there is one. */
static const char *show(struct data *data, const struct flame_tree *tree)
{
	static char text[4096];
	size_t at = 0;

	for (uint32_t i = 0; i < tree->n_nodes; i++) {
		const struct flame_node *node = &tree->nodes[i];
		uint32_t next = i + 1 < tree->n_nodes ? tree->nodes[i + 1].depth : 0;

		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s %u/%u",
				       flame_frames_get(data->frames, node->frame)->name,
				       (unsigned int)node->total, (unsigned int)node->self);
		if (tree->nodes[0].base_total)
			at += (size_t)snprintf(text + at, sizeof(text) - at, " was %u/%u",
					       (unsigned int)node->base_total,
					       (unsigned int)node->base_self);
		if (next > node->depth)
			text[at++] = '(';
		for (uint32_t depth = next; depth < node->depth; depth++)
			text[at++] = ')';
		if (next && next <= node->depth)
			text[at++] = ' ';
		text[at] = '\0';
	}
	return text;
}

/* Checks the invariants of a tree. */
static void check(struct data *data, const struct flame_tree *tree)
{
	uint32_t deepest = 0;

	assert_true(tree->n_nodes >= 1);
	assert_int_equal(tree->nodes[0].end, tree->n_nodes);
	for (uint32_t i = 0; i < tree->n_nodes; i++) {
		const struct flame_node *node = &tree->nodes[i];
		uint64_t below = 0;
		uint32_t before = UINT32_MAX;

		deepest = node->depth > deepest ? node->depth : deepest;
		assert_true(node->end > i && node->end <= tree->n_nodes);
		if (i > 0) {
			assert_true(node->parent < i && tree->nodes[node->parent].end >= node->end);
			assert_int_equal(tree->nodes[node->parent].depth + 1, node->depth);
		}
		for (uint32_t c = i + 1; c < node->end; c = tree->nodes[c].end) {
			assert_int_equal(tree->nodes[c].parent, i);
			assert_true(before == UINT32_MAX ||
				    flame_frames_compare(data->frames, before,
							 tree->nodes[c].frame) < 0);
			before = tree->nodes[c].frame;
			below += tree->nodes[c].total;
		}
		if (tree->left_out == 0)
			assert_int_equal(node->self + below, node->total);
		else
			assert_true(node->self + below <= node->total);
	}
	assert_int_equal(deepest, tree->max_depth);
}

static void merges_stacks(void **state)
{
	struct data *data = *state;
	struct flame_tree tree;

	count(data, 1, 1, "ab", 0);
	count(data, 2, 1, "ab", 1);
	count(data, 4, 2, "acd", 2);
	count(data, 8, 2, "a", 0);
	count(data, 16, 2, "", 0);
	tree = build(data, (struct flame_options){ .who = FLAME_WHO_NONE });
	check(data, &tree);
	assert_string_equal(show(data, &tree), "all 31/16(a 15/8(b 3/3 c 4/0(d 4/4)))");
	flame_tree_clear(&tree);

	tree = build(data, (struct flame_options){ .who = FLAME_WHO_COMM });
	check(data, &tree);
	assert_string_equal(show(data, &tree), "all 31/0(sh 31/16(a 15/8(b 3/3 c 4/0(d 4/4))))");
	flame_tree_clear(&tree);

	tree = build(data, (struct flame_options){ .who = FLAME_WHO_THREAD, .cgroup = true });
	check(data, &tree);
	assert_string_equal(show(data, &tree), "all 31/0([cgroup ?] 31/0(sh 3/0(a 3/0(b 3/3)) "
					       "sh 28/16(a 12/8(c 4/0(d 4/4)))))");
	assert_int_equal(flame_frames_get(data->frames, tree.nodes[2].frame)->tgid, 1);
	assert_int_equal(flame_frames_get(data->frames, tree.nodes[2].frame)->tid, 2);
	flame_tree_clear(&tree);
}

static void an_empty_tally_has_a_root(void **state)
{
	struct data *data = *state;
	struct flame_tree tree = build(data, (struct flame_options){ .who = FLAME_WHO_COMM });

	check(data, &tree);
	assert_string_equal(show(data, &tree), "all 0/0");
	flame_tree_clear(&tree);
	flame_tree_clear(NULL);
}

static void leaves_out_small_nodes(void **state)
{
	struct data *data = *state;
	struct flame_tree whole, tree, pruned;

	count(data, 1, 1, "abc", 0);
	count(data, 2, 1, "abd", 0);
	count(data, 9, 1, "ae", 0);
	tree = build(data, (struct flame_options){ .minimum = 3 });
	check(data, &tree);
	assert_string_equal(show(data, &tree), "all 12/0(a 12/0(b 3/0 e 9/9))");
	assert_int_equal(tree.left_out, 2);

	whole = build(data, (struct flame_options){ .minimum = 0 });
	assert_int_equal(whole.left_out, 0);
	assert_int_equal(flame_tree_prune(&whole, 3, &pruned), 0);
	check(data, &pruned);
	assert_int_equal(pruned.n_nodes, tree.n_nodes);
	assert_memory_equal(pruned.nodes, tree.nodes, tree.n_nodes * sizeof(*tree.nodes));
	flame_tree_clear(&pruned);
	assert_int_equal(flame_tree_prune(&whole, 100, &pruned), 0);
	assert_string_equal(show(data, &pruned), "all 12/0");
	flame_tree_clear(&pruned);
	flame_tree_clear(&whole);
	flame_tree_clear(&tree);
}

/* The leaf of each entry: its frame, in brackets if it was left out. */
static const char *leaves(struct data *data, const struct flame_tree *tree)
{
	static char text[64];
	size_t at = 0;

	for (uint32_t i = 0; i < tree->n_leaves; i++) {
		uint32_t leaf = tree->leaf_of[i];
		const struct flame_node *node = &tree->nodes[leaf & ~FLAME_LEFT_OUT];
		const char *name = flame_frames_get(data->frames, node->frame)->name;

		at += (size_t)snprintf(text + at, sizeof(text) - at,
				       leaf & FLAME_LEFT_OUT ? "(%s)" : "%s", name);
	}
	return text;
}

/* Entries ascend by their counts. */
static void leaves_are_known(void **state)
{
	const struct flame_options options = { .leaves = true },
				   large = { .leaves = true, .minimum = 3 };
	struct data *data = *state;
	struct flame_tree whole, tree, pruned;

	count(data, 1, 1, "afgh", 0);
	count(data, 2, 1, "abd", 0);
	count(data, 3, 1, "ab", 0);
	count(data, 9, 1, "ae", 0);
	whole = build(data, options);
	assert_string_equal(leaves(data, &whole), "hdbe");
	tree = build(data, large);
	assert_string_equal(leaves(data, &tree), "(a)(b)be");
	assert_int_equal(flame_tree_prune(&whole, 3, &pruned), 0);
	assert_string_equal(leaves(data, &pruned), "(a)(b)be");
	flame_tree_clear(&whole);
	assert_int_equal(flame_tree_prune(&pruned, 6, &whole), 0);
	assert_string_equal(leaves(data, &whole), "(a)(a)(a)e");
	flame_tree_clear(&whole);
	flame_tree_clear(&pruned);
	flame_tree_clear(&tree);
}

static uint32_t chance(struct data *data, uint32_t below)
{
	data->seed ^= data->seed << 13;
	data->seed ^= data->seed >> 7;
	data->seed ^= data->seed << 17;
	return (uint32_t)((data->seed >> 32) * below >> 32);
}

static void count_at_random(struct data *data, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		char stack[16] = "";
		uint32_t size = chance(data, 15);

		for (uint32_t at = 0; at < size; at++)
			stack[at] = (char)('a' + chance(data, 4));
		count(data, 1 + chance(data, 1000), chance(data, 4), stack,
		      size ? chance(data, size) : 0);
	}
}

static void bounds_its_memory(void **state)
{
	struct data *data = *state;
	struct flame_tree tree;
	uint64_t total;

	count_at_random(data, 3000);
	total = tally_total(data->tally);
	for (uint32_t max = 1; max < 40000; max *= 3) {
		tree = build(data,
			     (struct flame_options){ .who = FLAME_WHO_COMM, .max_nodes = max });
		check(data, &tree);
		/* The root is never left out. */
		assert_true(tree.n_nodes <= max || tree.n_nodes == 1);
		assert_int_equal(tree.nodes[0].total, total);
		for (uint32_t i = 1; i < tree.n_nodes; i++)
			assert_true(tree.nodes[i].total >= tree.minimum);
		flame_tree_clear(&tree);
	}
}

/* The sum of the trees of two halves equals the tree of the whole, node by node. */
static void adds_and_subtracts(void **state)
{
	struct data *data = *state;
	struct flame_options options = { .who = FLAME_WHO_THREAD };
	struct flame_tree first, second, both, sum, rest;

	count_at_random(data, 1000);
	first = build(data, options);
	tally_clear(data->tally);
	count_at_random(data, 500);
	second = build(data, options);
	assert_int_equal(flame_tree_merge(data->frames, &first, &second, FLAME_ADD, &sum), 0);
	check(data, &sum);
	data->seed = 88172645463325252u;
	tally_clear(data->tally);
	count_at_random(data, 1000);
	count_at_random(data, 500);
	both = build(data, options);
	assert_int_equal(sum.n_nodes, both.n_nodes);
	assert_memory_equal(sum.nodes, both.nodes, sum.n_nodes * sizeof(*sum.nodes));
	assert_int_equal(flame_tree_merge(data->frames, &sum, &first, FLAME_SUBTRACT, &rest), 0);
	check(data, &rest);
	assert_int_equal(rest.n_nodes, second.n_nodes);
	assert_memory_equal(rest.nodes, second.nodes, rest.n_nodes * sizeof(*rest.nodes));
	flame_tree_clear(&first);
	flame_tree_clear(&second);
	flame_tree_clear(&both);
	flame_tree_clear(&sum);
	flame_tree_clear(&rest);
}

static void compares(void **state)
{
	struct data *data = *state;
	struct flame_tree before, after, tree, pruned;

	count(data, 1, 1, "abc", 0);
	count(data, 2, 1, "ad", 0);
	before = build(data, (struct flame_options){ .who = FLAME_WHO_NONE });
	tally_clear(data->tally);
	count(data, 5, 1, "abb", 0);
	count(data, 7, 1, "e", 0);
	after = build(data, (struct flame_options){ .who = FLAME_WHO_NONE });
	assert_int_equal(flame_tree_merge(data->frames, &after, &before, FLAME_COMPARE, &tree), 0);
	assert_string_equal(show(data, &tree),
			    "all 12/0 was 3/0(a 5/0 was 3/0(b 5/0 was 1/0(b 5/5 was 0/0 "
			    "c 0/0 was 1/1) d 0/0 was 2/2) e 7/7 was 0/0)");
	assert_int_equal(flame_tree_prune(&tree, 2, &pruned), 0);
	assert_string_equal(show(data, &pruned),
			    "all 12/0 was 3/0(a 5/0 was 3/0(b 5/0 was 1/0(b 5/5 was 0/0) "
			    "d 0/0 was 2/2) e 7/7 was 0/0)");
	flame_tree_clear(&before);
	flame_tree_clear(&after);
	flame_tree_clear(&tree);
	flame_tree_clear(&pruned);
}

static void tells_kinds(void **state)
{
	struct data *data = *state;
	const struct {
		const char *name, *linkage, *shown;
		uint32_t flags;
		enum flame_kind kind;
	} cases[] = {
		{ "main", NULL, "main", 0, FLAME_USER },
		{ "schedule", NULL, "schedule", NAMES_FRAME_KERNEL, FLAME_KERNEL },
		{ "f(int)", "_Z1fi", "f(int)", 0, FLAME_CPP },
		{ "a::f", NULL, "a::f", 0, FLAME_CPP },
		{ "a::f", "_ZN1a1fE", "a::f", NAMES_FRAME_INLINED, FLAME_INLINED },
		{ "f", NULL, "f", NAMES_FRAME_JIT, FLAME_JIT },
		{ NULL, NULL, "[jit] [lib.so]", NAMES_FRAME_JIT, FLAME_JIT },
		{ NULL, NULL, "[unknown] [lib.so]", 0, FLAME_MARKER },
		{ "[unwind: no table]", NULL, "[unwind: no table]", 0, FLAME_MARKER },
		{ "a\nb\xff", NULL, "a?b?", 0, FLAME_USER },
	};

	for (uint32_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tally_entry entry = { .count = 1, .kernel = TALLY_STACK_NONE };
		uint32_t id = address(data, cases[i].name, cases[i].flags, cases[i].linkage);
		const struct flame_frame *frame;
		struct flame_tree tree;

		assert_int_equal(tally_stack(data->tally, &id, 1, 0, &entry.user), 0);
		assert_int_equal(tally_add(data->tally, &entry), 0);
		tree = build(data, (struct flame_options){ .who = FLAME_WHO_NONE });
		assert_int_equal(tree.n_nodes, 2);
		frame = flame_frames_get(data->frames, tree.nodes[1].frame);
		assert_string_equal(frame->name, cases[i].shown);
		assert_string_equal(frame->module, "lib.so");
		assert_int_equal(frame->kind, cases[i].kind);
		assert_int_equal(frame->kernel, !!(cases[i].flags & NAMES_FRAME_KERNEL));
		flame_tree_clear(&tree);
		tally_clear(data->tally);
	}
}

/* A name of 30 KB is cut between characters. */
static void cuts_long_names(void **state)
{
	struct data *data = *state;
	static char name[30002];
	struct flame_frame frame = { .name = name };
	uint32_t number;

	for (size_t i = 0; i + 3 < sizeof(name); i += 2)
		memcpy(name + 1 + i, "\xc3\xa9", 2);
	name[0] = 'x';
	assert_int_equal(flame_frames_add(data->frames, &frame, &number), 0);
	name[1999] = '\0';
	assert_int_equal(strncmp(flame_frames_get(data->frames, number)->name, name, 1999), 0);
	assert_string_equal(flame_frames_get(data->frames, number)->name + 1999, "...");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(merges_stacks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_empty_tally_has_a_root, set_up, tear_down),
		cmocka_unit_test_setup_teardown(leaves_out_small_nodes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(leaves_are_known, set_up, tear_down),
		cmocka_unit_test_setup_teardown(bounds_its_memory, set_up, tear_down),
		cmocka_unit_test_setup_teardown(adds_and_subtracts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(compares, set_up, tear_down),
		cmocka_unit_test_setup_teardown(tells_kinds, set_up, tear_down),
		cmocka_unit_test_setup_teardown(cuts_long_names, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
