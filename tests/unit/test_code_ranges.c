// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cfi/code_ranges.h"

struct fixture {
	struct code_ranges list, more;
	uint32_t overlaps;
};

static void add(struct code_ranges *list, uint32_t begin, uint32_t end, uint32_t context)
{
	const struct code_range range = { .begin = begin, .end = end, .context = context };

	assert_int_equal(code_ranges_add(list, &range), 0);
}

/* Merges the ranges of `more`; `overlaps` of them are cut or dropped. */
static void merge(struct fixture *fixture, uint32_t overlaps)
{
	fixture->overlaps = 100;
	assert_int_equal(code_ranges_merge(&fixture->list, &fixture->more, &fixture->overlaps), 0);
	assert_int_equal(fixture->overlaps, 100 + overlaps);
	assert_int_equal(fixture->more.n, 0);
}

static void assert_range(const struct fixture *fixture, uint32_t at, uint32_t begin, uint32_t end,
			 uint32_t context)
{
	assert_true(at < fixture->list.n);
	assert_int_equal(fixture->list.ranges[at].begin, begin);
	assert_int_equal(fixture->list.ranges[at].end, end);
	assert_int_equal(fixture->list.ranges[at].context, context);
}

static void finish(struct fixture *fixture)
{
	code_ranges_free(&fixture->list);
	code_ranges_free(&fixture->more);
}

static void a_list_is_sorted_and_cut(void **state)
{
	struct fixture fixture = { 0 };

	(void)state;
	add(&fixture.more, 50, 60, 1);
	add(&fixture.more, 10, 20, 2);
	add(&fixture.more, 20, 30, 3); /* touches, and is not cut */
	add(&fixture.more, 55, 70, 4); /* cuts the first */
	add(&fixture.more, 10, 15, 5); /* in the place of the second */
	merge(&fixture, 2);
	assert_int_equal(fixture.list.n, 4);
	assert_range(&fixture, 0, 10, 15, 5);
	assert_range(&fixture, 1, 20, 30, 3);
	assert_range(&fixture, 2, 50, 55, 1);
	assert_range(&fixture, 3, 55, 70, 4);
	finish(&fixture);
}

/* The sort is by digits: numbers differ in each digit, and equal ones keep their order. */
static void many_are_sorted_by_all_their_bits(void **state)
{
	struct fixture fixture = { 0 };
	uint32_t begin = 1, n = 3000;

	(void)state;
	for (uint32_t i = 0; i < n; i++) {
		begin = begin * 1664525 + 1013904223;
		add(&fixture.more, begin & ~3u, (begin & ~3u) + 1, i);
		add(&fixture.more, begin & ~3u, (begin & ~3u) + 2, i + n);
	}
	merge(&fixture, n);
	assert_int_equal(fixture.list.n, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct code_range *range = &fixture.list.ranges[i];

		assert_int_equal(range->end - range->begin, 2);
		assert_true(range->context >= n && range->context < 2 * n);
		assert_true(i == 0 || range[-1].begin < range->begin);
	}
	finish(&fixture);

	/* Two numbers that differ in one bit. */
	for (unsigned int bit = 0; bit < 32; bit++) {
		add(&fixture.more, 1u << bit, (1u << bit) + 1, 1);
		add(&fixture.more, 0, 1, 2);
		merge(&fixture, 0);
		assert_range(&fixture, 0, 0, 1, 2);
		assert_range(&fixture, 1, 1u << bit, (1u << bit) + 1, 1);
		finish(&fixture);
	}
}

static void earlier_ranges_stay(void **state)
{
	struct fixture fixture = { 0 };

	(void)state;
	add(&fixture.more, 100, 200, 1);
	add(&fixture.more, 300, 400, 2);
	merge(&fixture, 0);
	add(&fixture.more, 50, 100, 3);	 /* ends where the first begins */
	add(&fixture.more, 100, 110, 4); /* the same begin: dropped */
	add(&fixture.more, 199, 210, 5); /* begins in it: dropped */
	add(&fixture.more, 210, 350, 6); /* cut where the second begins */
	add(&fixture.more, 399, 500, 7); /* dropped */
	add(&fixture.more, 500, 600, 8);
	merge(&fixture, 0);
	assert_int_equal(fixture.list.n, 5);
	assert_range(&fixture, 0, 50, 100, 3);
	assert_range(&fixture, 1, 100, 200, 1);
	assert_range(&fixture, 2, 210, 300, 6);
	assert_range(&fixture, 3, 300, 400, 2);
	assert_range(&fixture, 4, 500, 600, 8);
	/* A range may begin where another one ends. */
	add(&fixture.more, 200, 210, 9);
	add(&fixture.more, 40, 45, 10);
	merge(&fixture, 0);
	assert_int_equal(fixture.list.n, 7);
	assert_range(&fixture, 0, 40, 45, 10);
	assert_range(&fixture, 3, 200, 210, 9);
	merge(&fixture, 0);
	assert_int_equal(fixture.list.n, 7);
	finish(&fixture);
}

static void addresses_are_found(void **state)
{
	struct fixture fixture = { 0 };

	(void)state;
	assert_int_equal(code_ranges_above(&fixture.list, 5), 0);
	assert_false(code_ranges_cover(&fixture.list, 5));
	for (uint32_t i = 1; i <= 100; i++)
		add(&fixture.more, i * 10, i * 10 + 5, i);
	merge(&fixture, 0);
	for (uint32_t address = 0; address < 1020; address++) {
		uint32_t above = 0;

		while (above < 100 && fixture.list.ranges[above].end <= address)
			above++;
		assert_int_equal(code_ranges_above(&fixture.list, address), above);
		assert_int_equal(code_ranges_cover(&fixture.list, address),
				 address >= 10 && address < 1005 && address % 10 < 5);
	}
	finish(&fixture);
}

static void gaps(const struct fixture *fixture, uint64_t begin, uint64_t end, uint64_t least,
		 const uint64_t *expected, size_t n)
{
	struct code_gaps gaps = code_gaps_of(&fixture->list, begin, end);
	uint64_t from, to;

	for (size_t i = 0; i < n; i++) {
		assert_true(code_gaps_next(&gaps, least, &from, &to));
		assert_int_equal(from, expected[2 * i]);
		assert_int_equal(to, expected[2 * i + 1]);
	}
	assert_false(code_gaps_next(&gaps, least, &from, &to));
	assert_false(code_gaps_next(&gaps, least, &from, &to));
}

static void gaps_are_not_covered(void **state)
{
	static const uint64_t all[] = { 0, 10, 20, 30, 33, 40, 50, 100 },
			      some[] = { 22, 30, 33, 35 };
	static const uint64_t large[] = { 0, 10, 20, 30, 50, 100 }, whole[] = { 5, 9 };
	static const uint64_t rest[] = { 60, 0x100000000ull };
	struct fixture fixture = { 0 };

	(void)state;
	gaps(&fixture, 5, 9, 4, whole, 1);
	gaps(&fixture, 5, 9, 5, whole, 0);
	add(&fixture.more, 10, 20, 1);
	add(&fixture.more, 30, 33, 2);
	add(&fixture.more, 40, 50, 3);
	merge(&fixture, 0);
	gaps(&fixture, 0, 100, 1, all, 4);
	gaps(&fixture, 0, 100, 7, all, 4);
	gaps(&fixture, 0, 100, 8, large, 3);
	gaps(&fixture, 22, 35, 1, some, 2);
	gaps(&fixture, 10, 20, 1, NULL, 0);
	gaps(&fixture, 12, 18, 1, NULL, 0);
	gaps(&fixture, 60, 0x100000000ull, 1, rest, 1);
	gaps(&fixture, 60, 60, 0, NULL, 0);
	finish(&fixture);
}

static void many_are_added(void **state)
{
	struct fixture fixture = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 100000; i++)
		add(&fixture.more, i * 8, i * 8 + 4, i);
	merge(&fixture, 0);
	for (uint32_t i = 0; i < 100000; i++)
		assert_range(&fixture, i, i * 8, i * 8 + 4, i);
	finish(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_is_sorted_and_cut),
		cmocka_unit_test(many_are_sorted_by_all_their_bits),
		cmocka_unit_test(earlier_ranges_stay),
		cmocka_unit_test(addresses_are_found),
		cmocka_unit_test(gaps_are_not_covered),
		cmocka_unit_test(many_are_added),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
