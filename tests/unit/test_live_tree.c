// SPDX-License-Identifier: GPL-2.0-or-later
/* The growing tree of the live view: the node of each entry, and its limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "live_data.h"

struct fixture {
	struct tally *tally;
	struct names *names;
	struct tree tree;
};

static struct fixture begin(const struct report_options *report, uint32_t max_nodes)
{
	struct fixture fixture = { .tally = data_tally() };

	assert_int_equal(names_new(&fixture.names), 0);
	assert_int_equal(tree_make(&fixture.tree, report, max_nodes), 0);
	return fixture;
}

static void end(struct fixture *fixture)
{
	tree_clear(&fixture->tree);
	names_free(fixture->names);
	tally_free(fixture->tally);
}

static void grow(struct fixture *fixture)
{
	assert_int_equal(data_resolve(NULL, fixture->tally, fixture->names), 0);
	assert_int_equal(tree_grow(&fixture->tree, fixture->tally, fixture->names), 0);
	assert_int_equal(fixture->tree.n_entries, tally_n_entries(fixture->tally));
}

static void expect_path(const struct fixture *fixture, uint32_t entry, const char *path)
{
	assert_string_equal(data_path(&fixture->tree, fixture->tree.leaf_of[entry]), path);
}

static const struct report_options per_process = { .per_process = true };

static void nodes_keep_their_numbers(void **state)
{
	struct fixture fixture = begin(&per_process, 1000);
	uint32_t leaf, n_nodes;

	(void)state;
	grow(&fixture);
	assert_int_equal(fixture.tree.n_nodes, 1);
	data_count(fixture.tally, 1, 9, "ab", "k");
	data_count(fixture.tally, 5, 9, "ab", "");
	grow(&fixture);
	expect_path(&fixture, 0, "all;sh;a;b;k");
	expect_path(&fixture, 1, "all;sh;a;b");
	leaf = fixture.tree.leaf_of[0];
	n_nodes = fixture.tree.n_nodes;
	assert_int_equal(n_nodes, 5);
	assert_int_equal(fixture.tree.leaf_of[1], fixture.tree.nodes[leaf].parent);
	/* A known stack adds no node; a new one adds nodes at the end. */
	data_count(fixture.tally, 5, 9, "ab", "");
	grow(&fixture);
	assert_int_equal(fixture.tree.n_nodes, n_nodes);
	data_count(fixture.tally, 2, 9, "aba", "");
	grow(&fixture);
	assert_int_equal(fixture.tree.n_nodes, n_nodes + 1);
	assert_int_equal(fixture.tree.leaf_of[2], n_nodes);
	assert_int_equal(fixture.tree.leaf_of[0], leaf);
	expect_path(&fixture, 0, "all;sh;a;b;k");
	expect_path(&fixture, 2, "all;sh;a;b;a");
	end(&fixture);
}

/* With -U, a profile merges entries that only differ in their kernel stacks. */
static void merged_entries_share_a_node(void **state)
{
	const struct report_options user_only = { .per_process = true, .user_only = true };
	struct fixture fixture = begin(&user_only, 1000);

	(void)state;
	data_count(fixture.tally, 1, 9, "ab", "k");
	data_count(fixture.tally, 1, 9, "ab", "l");
	data_count(fixture.tally, 1, 9, "abc", "k");
	data_count(fixture.tally, 1, 9, "ab", "kl");
	data_count(fixture.tally, 1, 9, "abd", "");
	data_count(fixture.tally, 1, 9, "abc", "");
	data_count(fixture.tally, 1, 9, "", "k");
	grow(&fixture);
	expect_path(&fixture, 0, "all;sh;a;b");
	expect_path(&fixture, 1, "all;sh;a;b");
	expect_path(&fixture, 2, "all;sh;a;b;c");
	expect_path(&fixture, 3, "all;sh;a;b");
	expect_path(&fixture, 4, "all;sh;a;b;d");
	expect_path(&fixture, 5, "all;sh;a;b;c");
	assert_int_equal(fixture.tree.leaf_of[0], fixture.tree.leaf_of[1]);
	assert_int_equal(fixture.tree.leaf_of[2], fixture.tree.leaf_of[5]);
	assert_int_equal(fixture.tree.n_shortened, 0);
	end(&fixture);
}

static void what_a_filter_leaves_out_has_no_node(void **state)
{
	const char *const ignored = "^x$", *const hidden = "^b$";
	const struct frame_filter_asked asked = {
		.of = { [FRAME_FILTER_IGNORE] = { &ignored, 1 },
			[FRAME_FILTER_HIDE] = { &hidden, 1 } },
	};
	struct report_options options = { .per_process = true };
	struct frame_filter *filter = NULL;
	struct fixture fixture;

	(void)state;
	assert_int_equal(frame_filter_new(&asked, &filter, NULL), 0);
	options.filter = filter;
	fixture = begin(&options, 1000);
	data_count(fixture.tally, 1, 9, "ab", "k");
	data_count(fixture.tally, 1, 9, "axb", "");
	data_count(fixture.tally, 1, 9, "ak", "");
	data_count(fixture.tally, 1, 9, "b", "");
	grow(&fixture);
	expect_path(&fixture, 0, "all;sh;a;k");
	assert_int_equal(fixture.tree.leaf_of[1], TREE_NO_NODE);
	expect_path(&fixture, 2, "all;sh;a;k");
	assert_int_equal(fixture.tree.leaf_of[3], TREE_NO_NODE);
	end(&fixture);
	frame_filter_free(filter);
}

static void without_nodes_a_path_ends_early(void **state)
{
	const struct report_options per_thread = { .per_thread = true };
	struct fixture fixture = begin(&per_thread, 6);

	(void)state;
	data_count(fixture.tally, 1, 9, "ab", "");
	grow(&fixture);
	assert_int_equal(fixture.tree.n_nodes, 4);
	data_count(fixture.tally, 1, 9, "abcd", "");
	grow(&fixture);
	assert_int_equal(fixture.tree.n_nodes, 6);
	assert_int_equal(fixture.tree.n_shortened, 0);
	data_count(fixture.tally, 1, 9, "abcdef", "");
	data_count(fixture.tally, 1, 9, "abx", "");
	data_count(fixture.tally, 1, 9, "abc", "");
	data_count(fixture.tally, 1, 8, "ab", "");
	grow(&fixture);
	assert_int_equal(fixture.tree.n_nodes, 6);
	assert_int_equal(fixture.tree.n_shortened, 3);
	expect_path(&fixture, 0, "all;sh;a;b");
	expect_path(&fixture, 1, "all;sh;a;b;c;d");
	expect_path(&fixture, 2, "all;sh;a;b;c;d");
	expect_path(&fixture, 3, "all;sh;a;b");
	expect_path(&fixture, 4, "all;sh;a;b;c");
	expect_path(&fixture, 5, "all");
	end(&fixture);
}

static void processes_share_nodes_when_these_get_few(void **state)
{
	struct fixture fixture = begin(&per_process, 20);

	(void)state;
	for (uint32_t tgid = 1; tgid <= 11; tgid++) {
		data_count(fixture.tally, 1, tgid, "", "");
		grow(&fixture);
	}
	/* Ten processes get a node each, until more than half are in use; the others share one. */
	for (uint32_t i = 0; i < 10; i++) {
		uint32_t node = fixture.tree.leaf_of[i];

		assert_int_equal(node, i + 1);
		assert_int_equal(
			flame_frames_get(fixture.tree.frames, fixture.tree.nodes[node].frame)->tgid,
			i + 1);
	}
	assert_int_equal(fixture.tree.n_nodes, 12);
	for (uint32_t tgid = 12; tgid <= 30; tgid++)
		data_count(fixture.tally, 1, tgid, "", "");
	grow(&fixture);
	assert_int_equal(fixture.tree.n_nodes, 12);
	for (uint32_t i = 10; i < 30; i++)
		assert_int_equal(fixture.tree.leaf_of[i], 11);
	assert_int_equal(flame_frames_get(fixture.tree.frames, fixture.tree.nodes[11].frame)->tgid,
			 0);
	assert_int_equal(fixture.tree.n_shortened, 0);
	end(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_keep_their_numbers),
		cmocka_unit_test(merged_entries_share_a_node),
		cmocka_unit_test(what_a_filter_leaves_out_has_no_node),
		cmocka_unit_test(without_nodes_a_path_ends_early),
		cmocka_unit_test(processes_share_nodes_when_these_get_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
