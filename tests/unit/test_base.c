// SPDX-License-Identifier: GPL-2.0-or-later
// Growth of arrays and binary search (base/grow.h, base/partition.h).
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/grow.h"
#include "base/own.h"
#include "base/partition.h"

static void an_array_grows_and_keeps_its_elements(void **state)
{
	own(own_free) uint32_t *items = NULL;
	uint32_t capacity = 0;

	(void)state;
	for (uint32_t i = 0; i < 10000; i++) {
		assert_int_equal(grow(&items, &capacity, i + 1), 0);
		assert_true(capacity > i && capacity < 2 * i + 32);
		items[i] = i;
	}
	for (uint32_t i = 0; i < 10000; i++)
		assert_int_equal(items[i], i);
}

static void an_array_that_has_room_stays(void **state)
{
	own(own_free) uint64_t *items = NULL;
	size_t capacity = 0;
	uint64_t *before;

	(void)state;
	assert_int_equal(grow(&items, &capacity, 100), 0);
	assert_int_equal(capacity, 100);
	before = items;
	assert_int_equal(grow(&items, &capacity, 100), 0);
	assert_ptr_equal(items, before);
	assert_int_equal(capacity, 100);
}

static void a_capacity_never_wraps(void **state)
{
	own(own_free) char *items = NULL;
	uint8_t capacity = 0;

	(void)state;
	assert_int_equal(grow(&items, &capacity, 200), 0);
	assert_int_equal(capacity, 200);
	assert_int_equal(grow(&items, &capacity, 201), 0);
	assert_int_equal(capacity, UINT8_MAX);
	assert_int_equal(grow(&items, &capacity, 256), -ENOMEM);
	assert_int_equal(capacity, UINT8_MAX);
}

static void too_much_memory_changes_nothing(void **state)
{
	own(own_free) uint64_t *items = NULL;
	uint64_t *before;
	size_t capacity = 0;

	(void)state;
	assert_int_equal(grow(&items, &capacity, 1), 0);
	before = items;
	assert_int_equal(grow(&items, &capacity, SIZE_MAX / 2), -ENOMEM);
	assert_ptr_equal(items, before);
	assert_int_equal(capacity, 16);
}

static void a_partition_point_is_where_the_condition_ends(void **state)
{
	static const int sorted[] = { 1, 3, 3, 5 };

	(void)state;
	assert_int_equal(partition_point(i, 0, sorted[i] < 3), 0);
	assert_int_equal(partition_point(i, 4, sorted[i] < 1), 0);
	assert_int_equal(partition_point(i, 4, sorted[i] < 3), 1);
	assert_int_equal(partition_point(i, 4, sorted[i] <= 3), 3);
	assert_int_equal(partition_point(i, 4, sorted[i] <= 5), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_array_grows_and_keeps_its_elements),
		cmocka_unit_test(an_array_that_has_room_stays),
		cmocka_unit_test(a_capacity_never_wraps),
		cmocka_unit_test(too_much_memory_changes_nothing),
		cmocka_unit_test(a_partition_point_is_where_the_condition_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
