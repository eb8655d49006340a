// SPDX-License-Identifier: GPL-2.0-or-later
/* Deltas of a growing tally: each has the counts since the one before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "live_data.h"

static const struct names_cgroup *cgroup(void *context, uint64_t id)
{
	static const struct names_cgroup seven = { .id = 7, .path = "/seven" };

	(void)context;
	return id == 7 ? &seven : NULL;
}

static struct delta *take(struct delta_tracker *tracker, const struct tally *tally)
{
	struct delta *delta = NULL;

	assert_int_equal(delta_take(tracker, tally, 5, cgroup, NULL, &delta), 0);
	assert_int_equal(delta->at_ns, 5);
	return delta;
}

/* The frames of the delta are these letters, leaf first. */
static void expect_frames(const struct delta *delta, const struct tally *tally, const char *letters)
{
	assert_int_equal(delta->n_frames, strlen(letters));
	for (size_t i = 0; i < delta->n_frames; i++)
		assert_int_equal(tally_addresses(tally)[delta->frames[i]].address, letters[i]);
}

static void the_first_delta_has_all(void **state)
{
	struct tally *tally = data_tally();
	struct delta_tracker tracker = { 0 };
	struct delta *delta;

	(void)state;
	data_count(tally, 3, 1, "ab", "k");
	data_count(tally, 4, 2, "abc", "");
	assert_int_equal(tally_add(tally, &(struct tally_entry){ .count = 5,
								 .cgroup = 7,
								 .kernel = TALLY_STACK_MISSED,
								 .user = TALLY_STACK_NONE }),
			 0);
	delta = take(&tracker, tally);
	assert_int_equal(delta->n_addresses, 4);
	assert_int_equal(delta->n_entries, 3);
	assert_int_equal(delta->n_counts, 0);
	expect_frames(delta, tally, "kbacba");
	assert_int_equal(delta->entries[0].n_kernel, 1);
	assert_int_equal(delta->entries[0].n_user, 2);
	assert_int_equal(delta->entries[0].entry.count, 3);
	assert_int_equal(delta->entries[1].n_kernel, 0);
	assert_int_equal(delta->entries[1].n_user, 3);
	assert_int_equal(delta->entries[1].entry.kernel, TALLY_STACK_NONE);
	assert_null(delta->entries[1].cgroup);
	assert_int_equal(delta->entries[2].n_kernel + delta->entries[2].n_user, 0);
	assert_int_equal(delta->entries[2].entry.kernel, TALLY_STACK_MISSED);
	assert_string_equal(delta->entries[2].cgroup->path, "/seven");
	assert_int_equal(delta->losses.events, 7);
	assert_false(delta->cleared);
	delta_free(delta);
	delta_tracker_clear(&tracker);
	tally_free(tally);
}

static void later_deltas_have_the_changes(void **state)
{
	struct tally *tally = data_tally();
	struct delta_tracker tracker = { 0 };
	struct delta *delta;

	(void)state;
	data_count(tally, 3, 1, "ab", "");
	data_count(tally, 4, 2, "ab", "");
	delta_free(take(&tracker, tally));
	data_count(tally, 10, 2, "ab", "");
	data_count(tally, 1, 3, "ad", "");
	tally_losses(tally)->lost_ring = 2;
	delta = take(&tracker, tally);
	assert_int_equal(delta->n_addresses, 1);
	assert_int_equal(delta->addresses[0].address, 'd');
	assert_int_equal(delta->n_counts, 1);
	assert_int_equal(delta->counts[0].entry, 1);
	assert_int_equal(delta->counts[0].count, 10);
	assert_int_equal(delta->n_entries, 1);
	assert_int_equal(delta->entries[0].entry.tgid, 3);
	expect_frames(delta, tally, "da");
	assert_int_equal(delta->losses.events, 11);
	assert_int_equal(delta->losses.lost_ring, 2);
	delta_free(delta);
	/* Sums: events whose values are 0 are a change, too. */
	tally_more(tally, 1, 0, 5, 7);
	delta = take(&tracker, tally);
	assert_int_equal(delta->n_counts, 1);
	assert_int_equal(delta->counts[0].entry, 1);
	assert_int_equal(delta->counts[0].count, 0);
	assert_int_equal(delta->counts[0].events, 5);
	assert_int_equal(delta->counts[0].largest, 7);
	delta_free(delta);
	/* Without new counts, the delta is empty. */
	delta = take(&tracker, tally);
	assert_int_equal(delta->n_addresses + delta->n_counts + delta->n_entries, 0);
	assert_int_equal(delta->losses.events + delta->losses.lost_ring, 0);
	delta_free(delta);
	delta_tracker_clear(&tracker);
	tally_free(tally);
}

static void a_cleared_tally_begins_anew(void **state)
{
	struct tally *tally = data_tally();
	struct delta_tracker tracker = { 0 };
	struct delta *delta;

	(void)state;
	data_count(tally, 3, 1, "ab", "");
	data_count(tally, 3, 2, "ab", "");
	delta_free(take(&tracker, tally));
	delta_tracker_reset(&tracker);
	tally_clear(tally);
	data_count(tally, 6, 2, "abe", "");
	delta = take(&tracker, tally);
	assert_true(delta->cleared);
	assert_int_equal(delta->n_addresses, 1);
	assert_int_equal(delta->n_counts, 0);
	assert_int_equal(delta->n_entries, 1);
	assert_int_equal(delta->entries[0].entry.count, 6);
	assert_int_equal(delta->losses.events, 6);
	delta_free(delta);
	delta = take(&tracker, tally);
	assert_false(delta->cleared);
	delta_free(delta);
	delta_tracker_clear(&tracker);
	tally_free(tally);
}

static void losses_add_up(void **state)
{
	const struct tally_losses more = { 1,	 2,  3,	   4,	 13,  5,  12, 6,  7,  8,
					   9,	 11, true, true, 100, 1,  2,  3,  12, 13,
					   true, 14, 15,   16,	 17,  18, 19, 20, 21, 22 };
	struct tally_losses sum = { 10,	   20,	30,    40,    0,   50,	0,   60,  70,  80,
				    90,	   100, false, false, 100, 1,	2,   3,	  120, 130,
				    false, 140, 150,   160,   170, 180, 190, 200, 210, 220 };

	(void)state;
	delta_add_losses(&sum, &more);
	assert_int_equal(sum.events, 11);
	assert_int_equal(sum.lost_ring, 22);
	assert_int_equal(sum.lost_counts, 33);
	assert_int_equal(sum.lost_nested, 44);
	assert_int_equal(sum.throttled, 55);
	assert_int_equal(sum.unsampled, 12);
	assert_int_equal(sum.unseen, 66);
	assert_int_equal(sum.lost_time, 77);
	assert_int_equal(sum.lost_threads, 88);
	assert_int_equal(sum.lost_ends, 99);
	assert_int_equal(sum.unwalked, 111);
	assert_int_equal(sum.lost_memory, 13);
	assert_int_equal(sum.due, 200);
	assert_int_equal(sum.due_throttled, 2);
	assert_int_equal(sum.due_stolen, 4);
	assert_int_equal(sum.due_late, 6);
	assert_int_equal(sum.unreturned, 154);
	assert_int_equal(sum.unentered, 165);
	assert_int_equal(sum.lost_calls, 176);
	assert_int_equal(sum.lost_values, 187);
	assert_int_equal(sum.unallocated, 198);
	assert_int_equal(sum.lost_blocks, 209);
	assert_int_equal(sum.lost_bytes, 220);
	assert_int_equal(sum.replaced_blocks, 231);
	assert_int_equal(sum.unmapped, 242);
	assert_int_equal(tally_never_came(&sum), 12);
	assert_true(sum.counts_full);
	assert_true(sum.memory_full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_delta_has_all),
		cmocka_unit_test(later_deltas_have_the_changes),
		cmocka_unit_test(a_cleared_tally_begins_anew),
		cmocka_unit_test(losses_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
