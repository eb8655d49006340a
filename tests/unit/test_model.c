// SPDX-License-Identifier: GPL-2.0-or-later
/* The model of the live view: deltas of a real tally go in, seconds, sums and JSON come out. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "live/updates.h"
#include "live_data.h"

struct fixture {
	struct tally *tally; /* of the measurement */
	struct delta_tracker tracker;
	struct model model;
	int resolve_error; /* returned by the next resolve() */
};

static int resolve(void *context, const struct tally *tally, struct names *names)
{
	struct fixture *fixture = context;
	int r = fixture->resolve_error;

	fixture->resolve_error = 0;
	return r < 0 ? r : data_resolve(NULL, tally, names);
}

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	const struct model_source source = { .resolve = resolve,
					     .context = fixture,
					     .report = { .per_process = true },
					     .meta = { .command = "profile" } };

	if (!fixture)
		return -1;
	fixture->tally = data_tally();
	*state = fixture;
	return model_make(&fixture->model, &source, NULL);
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	model_clear(&fixture->model);
	delta_tracker_clear(&fixture->tracker);
	tally_free(fixture->tally);
	free(fixture);
	return 0;
}

static const struct names_cgroup *cgroup(void *context, uint64_t id)
{
	static const struct names_label label = { LABEL_CONTAINER_NAME, "web" };
	static const struct names_cgroup slice = { 7, "/slice", &label, 1 };

	(void)context;
	return id ? &slice : NULL;
}

static int apply(struct fixture *fixture, uint64_t at_ns)
{
	struct delta *delta = NULL;
	int r;

	assert_int_equal(delta_take(&fixture->tracker, fixture->tally, at_ns, cgroup, NULL, &delta),
			 0);
	r = model_apply(&fixture->model, delta);
	delta_free(delta);
	return r;
}

/* Expects these counts of the node with this path: in the newest second, and in all seconds. */
static void expect_counts(struct fixture *fixture, const char *path, uint64_t second_count,
			  uint64_t total)
{
	const struct tree *tree = &fixture->model.tree;
	const struct second *second =
		history_get(&fixture->model.history, history_newest(&fixture->model.history));
	uint64_t counted = 0;
	uint32_t node = 0;

	while (node < tree->n_nodes && strcmp(data_path(tree, node), path) != 0)
		node++;
	assert_int_not_equal(node, tree->n_nodes);
	for (uint32_t i = 0; i < second->n_counts; i++)
		if (tree->leaf_of[second->counts[i].entry] == node)
			counted += second->counts[i].count;
	assert_int_equal(counted, second_count);
	assert_int_equal(tree->nodes[node].self, total);
}

static void deltas_add_up(void **state)
{
	struct fixture *fixture = *state;

	data_count(fixture->tally, 3, 9, "ab", "");
	data_count(fixture->tally, 2, 9, "ab", "k");
	assert_int_equal(apply(fixture, 1000), 0);
	expect_counts(fixture, "all;sh;a;b", 3, 3);
	expect_counts(fixture, "all;sh;a;b;k", 2, 2);
	data_count(fixture->tally, 4, 9, "ab", "k");
	data_count(fixture->tally, 5, 9, "cb", "");
	tally_losses(fixture->tally)->lost_ring = 6;
	assert_int_equal(apply(fixture, 2500), 0);
	expect_counts(fixture, "all;sh;a;b", 0, 3);
	expect_counts(fixture, "all;sh;a;b;k", 4, 6);
	expect_counts(fixture, "all;sh;c;b", 5, 5);
	assert_int_equal(tally_total(fixture->model.tally), tally_total(fixture->tally));
	assert_int_equal(tally_losses_of(fixture->model.tally)->events, 14);
	assert_int_equal(history_get(&fixture->model.history, 2)->ns, 1500);
	assert_int_equal(history_get(&fixture->model.history, 2)->samples, 9);
	assert_int_equal(history_get(&fixture->model.history, 1)->losses.lost_ring, 0);
	assert_int_equal(history_get(&fixture->model.history, 2)->losses.lost_ring, 6);
}

/* stackcount -i clears its tally in each interval, but not the model. */
static void a_cleared_tally_goes_on(void **state)
{
	struct fixture *fixture = *state;

	data_count(fixture->tally, 3, 9, "ab", "");
	data_count(fixture->tally, 1, 9, "ac", "");
	assert_int_equal(apply(fixture, 1000), 0);
	delta_tracker_reset(&fixture->tracker);
	tally_clear(fixture->tally);
	data_count(fixture->tally, 7, 9, "ac", "");
	data_count(fixture->tally, 2, 9, "ad", "");
	assert_int_equal(apply(fixture, 2000), 0);
	data_count(fixture->tally, 10, 9, "ac", "");
	data_count(fixture->tally, 20, 9, "ad", "");
	assert_int_equal(apply(fixture, 3000), 0);
	expect_counts(fixture, "all;sh;a;b", 0, 3);
	expect_counts(fixture, "all;sh;a;c", 10, 18);
	expect_counts(fixture, "all;sh;a;d", 20, 22);
	assert_int_equal(tally_n_entries(fixture->model.tally), 3);
}

static void failed_names_lose_one_second(void **state)
{
	struct fixture *fixture = *state;

	data_count(fixture->tally, 3, 9, "ab", "");
	assert_int_equal(apply(fixture, 1000), 0);
	data_count(fixture->tally, 4, 9, "ab", "");
	data_count(fixture->tally, 5, 9, "ac", "");
	fixture->resolve_error = -ENOMEM;
	assert_int_equal(apply(fixture, 2000), -ENOMEM);
	assert_int_equal(history_newest(&fixture->model.history), 1);
	data_count(fixture->tally, 6, 9, "ac", "");
	data_count(fixture->tally, 7, 9, "ad", "");
	assert_int_equal(apply(fixture, 3000), 0);
	expect_counts(fixture, "all;sh;a;b", 0, 3);
	expect_counts(fixture, "all;sh;a;c", 6, 6);
	expect_counts(fixture, "all;sh;a;d", 7, 7);
	assert_int_equal(history_newest(&fixture->model.history), 2);
	assert_int_equal(history_get(&fixture->model.history, 2)->ns, 2000);
}

static void cgroups_are_named(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(tally_add(fixture->tally,
				   &(struct tally_entry){ .count = 1,
							  .cgroup = 7,
							  .kernel = TALLY_STACK_NONE,
							  .user = TALLY_STACK_NONE }),
			 0);
	assert_int_equal(apply(fixture, 1000), 0);
	assert_int_equal(names_n_cgroups(fixture->model.names), 1);
	assert_int_equal(names_cgroups(fixture->model.names)[0].id, 7);
	assert_string_equal(names_cgroups(fixture->model.names)[0].path, "/slice");
	assert_string_equal(names_cgroup_label(names_cgroups(fixture->model.names),
					       LABEL_CONTAINER_NAME),
			    "web");
}

/* ---- updates for clients */

static void expect_text(const struct buffer *buffer, const char *text)
{
	assert_non_null(buffer);
	if (memmem(buffer->bytes, buffer->size, text, strlen(text)))
		return;
	fwrite(buffer->bytes, 1, buffer->size < 20000 ? buffer->size : 20000, stderr);
	fail_msg("lacks %s", text);
}

static void a_range_of_seconds_is_added_up(void **state)
{
	struct fixture *fixture = *state;
	struct buffer *buffer;

	for (uint64_t tick = 1; tick <= 4; tick++) {
		data_count(fixture->tally, tick, 9, "a", "");
		if (tick > 2)
			data_count(fixture->tally, 100, 9, "b", "");
		assert_int_equal(apply(fixture, tick * 1000), 0);
	}
	/* The nodes are all, sh, a, b. */
	buffer = updates_counts(&fixture->model, 2, 3);
	expect_text(buffer, "{\"from\":2,\"to\":3,\"counts\":[2,5,3,100]}");
	buffer_unref(buffer);
	buffer = updates_counts(&fixture->model, 0, UINT64_MAX >> 8);
	expect_text(buffer, "{\"from\":1,");
	expect_text(buffer, "\"counts\":[2,10,3,200]}");
	buffer_unref(buffer);
	buffer = updates_counts(&fixture->model, 5, 9);
	expect_text(buffer, "\"counts\":[]}");
	buffer_unref(buffer);
}

static void frames_and_nodes_are_sent_once(void **state)
{
	struct fixture *fixture = *state;
	struct buffer *tick, *all, *again;

	data_count(fixture->tally, 3, 9, "ab", "");
	assert_int_equal(apply(fixture, 1000000), 0);
	/* They were in the tick that model_apply() made. */
	tick = updates_tick(&fixture->model, history_get(&fixture->model.history, 1));
	expect_text(tick,
		    "event: tick\ndata: {\"tick\":1,\"at\":1,\"ms\":1,\"samples\":3,\"lost\":0,"
		    "\"shortened\":0,\"shared_from\":0,"
		    "\"frames\":[],\"nodes\":[],\"counts\":[3,3],");
	buffer_unref(tick);
	all = updates_state(&fixture->model);
	expect_text(all, "\"nodes\":[0,0,0,7,1,2,2,1],\"seconds\":[[1,1,1,3,0,[3,3]]],"
			 "\"totals\":[3,3],\"bins\":[0]}");
	expect_text(all, "\"bin_ms\":0,\"shortened\":0,\"shared_from\":0,");
	/* The state is made once a second. */
	again = updates_state(&fixture->model);
	assert_ptr_equal(all, again);
	buffer_unref(again);
	data_count(fixture->tally, 1, 9, "ab", "");
	assert_int_equal(apply(fixture, 2000000), 0);
	again = updates_state(&fixture->model);
	expect_text(again, "\"seconds\":[[1,1,1,3,0,[3,3]],[2,2,1,1,0,[3,1]]],\"totals\":[3,4],");
	buffer_unref(again);
	buffer_unref(all);
}

/* ---- limits */

static void add_many(struct fixture *fixture, uint32_t first, uint32_t n)
{
	for (uint32_t i = first; i < first + n; i++)
		assert_int_equal(tally_add(fixture->tally,
					   &(struct tally_entry){ .count = 1,
								  .tgid = i,
								  .kernel = TALLY_STACK_NONE,
								  .user = TALLY_STACK_NONE }),
				 0);
}

static void entries_beyond_the_limit_are_counted_as_lost(void **state)
{
	const uint32_t n = 600000; /* of 8 bytes: more than the counts in a state may take */
	struct fixture *fixture = *state;
	struct buffer *all;

	add_many(fixture, 0, n);
	assert_int_equal(apply(fixture, 1000000), 0);
	assert_int_equal(fixture->model.tree.n_nodes, MODEL_MAX_NODES);
	assert_int_equal(fixture->model.shared_from_ns, 0);
	add_many(fixture, n, MODEL_MAX_ENTRIES - n + 2);
	assert_int_equal(apply(fixture, 2000000), 0);
	assert_int_equal(fixture->model.shared_from_ns, 1000000);
	assert_int_equal(tally_n_entries(fixture->model.tally), MODEL_MAX_ENTRIES);
	assert_int_equal(tally_losses_of(fixture->model.tally)->lost_counts, 2);
	assert_true(tally_losses_of(fixture->model.tally)->counts_full);
	/* Of these two entries, the first is known and the second was not added. */
	add_many(fixture, MODEL_MAX_ENTRIES - 1, 2);
	assert_int_equal(apply(fixture, 3000000), 0);
	assert_int_equal(tally_total(fixture->model.tally), MODEL_MAX_ENTRIES + 1);
	assert_int_equal(history_get(&fixture->model.history, 3)->samples, 1);
	all = updates_state(&fixture->model);
	/* A client has to ask for the counts of the first second. */
	expect_text(all, "\"seconds\":[[1,1,1,600000,0,null],[2,2,1,400000,0,[");
	expect_text(all, "\"shared_from\":1,");
	buffer_unref(all);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(deltas_add_up),
		TEST(a_cleared_tally_goes_on),
		TEST(failed_names_lose_one_second),
		TEST(cgroups_are_named),
		TEST(a_range_of_seconds_is_added_up),
		TEST(frames_and_nodes_are_sent_once),
		TEST(entries_beyond_the_limit_are_counted_as_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
