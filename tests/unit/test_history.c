// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "live/history.h"

/* Adds a second that ends at `at_ns` and counts `n` entries. */
static void push(struct history *history, uint64_t at_ns, uint32_t n)
{
	struct second second = { .at_ns = at_ns };

	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(second_add(&second, i, 1, 0), 0);
	history_push(history, &second);
	assert_null(second.counts);
}

static void expect_kept(const struct history *history, uint64_t oldest, uint64_t newest)
{
	assert_int_equal(history_oldest(history), oldest);
	assert_int_equal(history_newest(history), newest);
	assert_null(history_get(history, oldest - 1));
	assert_null(history_get(history, newest + 1));
	for (uint64_t tick = oldest; tick <= newest; tick++) {
		assert_int_equal(history_get(history, tick)->tick, tick);
		assert_int_equal(history_get(history, tick)->at_ns, tick * 10);
	}
}

static void an_empty_history_has_no_seconds(void **state)
{
	struct history history;

	(void)state;
	assert_int_equal(history_make(&history, 3, 1000), 0);
	assert_int_equal(history_newest(&history), 0);
	assert_int_equal(history_oldest(&history), 1);
	assert_null(history_get(&history, 0));
	assert_null(history_get(&history, 1));
	history_clear(&history);
}

static void the_oldest_seconds_are_evicted(void **state)
{
	struct history history;

	(void)state;
	assert_int_equal(history_make(&history, 3, 1 << 20), 0);
	for (uint64_t tick = 1; tick <= 8; tick++) {
		push(&history, tick * 10, 5);
		expect_kept(&history, tick > 3 ? tick - 2 : 1, tick);
	}
	assert_int_equal(history.bytes, 3 * 5 * sizeof(struct history_count));
	history_clear(&history);
}

static void seconds_are_evicted_by_memory(void **state)
{
	struct history history;

	(void)state;
	assert_int_equal(history_make(&history, 10, 200 * sizeof(struct history_count)), 0);
	push(&history, 10, 100);
	push(&history, 20, 100);
	expect_kept(&history, 1, 2);
	push(&history, 30, 1);
	expect_kept(&history, 2, 3);
	push(&history, 40, 99);
	expect_kept(&history, 2, 4);
	/* The newest second is kept even if it alone is too large. */
	push(&history, 50, 1000);
	expect_kept(&history, 5, 5);
	assert_int_equal(history_get(&history, 5)->n_counts, 1000);
	push(&history, 60, 1);
	expect_kept(&history, 6, 6);
	assert_int_equal(history.bytes, sizeof(struct history_count));
	history_clear(&history);
}

/* The sum of a second may be as large as a number can be. */
static void large_counts_take_one_place(void **state)
{
	struct second second = { 0 };
	struct history history;

	(void)state;
	assert_int_equal(second_add(&second, 7, UINT64_MAX - 5, 3), 0);
	assert_int_equal(second_add(&second, 8, 0, 0), 0);
	assert_int_equal(second_add(&second, 9, 0, 2), 0);
	assert_int_equal(second.n_counts, 2);
	assert_int_equal(second.counts[0].entry, 7);
	assert_int_equal(second.counts[0].count, UINT64_MAX - 5);
	assert_int_equal(second.counts[0].events, 3);
	assert_int_equal(second.counts[1].entry, 9);
	assert_int_equal(second.counts[1].events, 2);
	assert_int_equal(second.samples, UINT64_MAX - 5);
	assert_int_equal(history_make(&history, 1, 0), 0);
	history_push(&history, &second);
	assert_int_equal(history_get(&history, 1)->samples, UINT64_MAX - 5);
	history_clear(&history);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_history_has_no_seconds),
		cmocka_unit_test(the_oldest_seconds_are_evicted),
		cmocka_unit_test(seconds_are_evicted_by_memory),
		cmocka_unit_test(large_counts_take_one_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
