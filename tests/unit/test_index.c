// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/index.h"

/* Whether `position` is among the candidates of `hash`. */
static bool holds(const struct index *index, uint64_t hash, uint32_t position)
{
	struct index_cursor cursor;

	for (uint32_t at = index_first(index, hash, &cursor); at != INDEX_NONE;
	     at = index_next(index, &cursor))
		if (at == position)
			return true;
	return false;
}

static void empty_holds_nothing(void **state)
{
	struct index index = { 0 };
	struct index_cursor cursor;

	(void)state;
	assert_int_equal(index_first(&index, 0, &cursor), INDEX_NONE);
	assert_int_equal(index_first(&index, UINT64_MAX, &cursor), INDEX_NONE);
	index_prefetch(&index, 5);
	index_free(&index);
	index_free(NULL);
}

static void finds_all_after_growing(void **state)
{
	struct index index = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 100000; i++)
		assert_int_equal(index_add(&index, hash_u64(i), i), 0);
	assert_int_equal(index.used, 100000);
	assert_true(index.mask + 1 >= index.used);
	for (uint32_t i = 0; i < 100000; i++)
		assert_true(holds(&index, hash_u64(i), i));
	for (uint32_t i = 100000; i < 101000; i++)
		assert_false(holds(&index, hash_u64(i), i));
	index_free(&index);
	assert_null(index.slots);
}

/* Equal hashes are all candidates, in order of insertion, also after growing. */
static void keeps_equal_hashes_apart(void **state)
{
	struct index index = { 0 };
	struct index_cursor cursor;
	uint32_t n = 0;

	(void)state;
	for (uint32_t i = 0; i < 500; i++)
		assert_int_equal(index_add(&index, 42, i), 0);
	for (uint32_t at = index_first(&index, 42, &cursor); at != INDEX_NONE;
	     at = index_next(&index, &cursor))
		n++;
	assert_int_equal(n, 500);
	assert_int_equal(index_first(&index, 43, &cursor), INDEX_NONE);
	index_free(&index);
}

/* A cluster that runs over the end of the table goes on at its beginning. */
static void wraps_around(void **state)
{
	struct index index = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 30; i++)
		assert_int_equal(index_add(&index, 0xffff, i), 0);
	for (uint32_t i = 0; i < 30; i++)
		assert_true(holds(&index, 0xffff, i));
	index_free(&index);
}

static void bytes_hash_by_content_and_size(void **state)
{
	const char text[] = "a string of more than sixteen bytes";
	char moved[sizeof(text) + 1];

	(void)state;
	memcpy(moved + 1, text, sizeof(text)); /* at another alignment */
	for (size_t size = 0; size < sizeof(text); size++) {
		assert_true(hash_bytes(text, size) == hash_bytes(moved + 1, size));
		assert_true(hash_bytes(text, size) != hash_bytes(text, size + 1));
	}
	for (size_t i = 0; i < sizeof(text); i++) {
		moved[1 + i] ^= 1;
		assert_true(hash_bytes(text, sizeof(text)) != hash_bytes(moved + 1, sizeof(text)));
		moved[1 + i] ^= 1;
	}
	/* The number of zeros and the order of words change the hash. */
	assert_true(hash_bytes("\0\0\0\0\0\0\0\0", 7) != hash_bytes("\0\0\0\0\0\0\0\0", 8));
	assert_true(hash_bytes("aaaaaaaabbbbbbbb", 16) != hash_bytes("bbbbbbbbaaaaaaaa", 16));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_holds_nothing),
		cmocka_unit_test(finds_all_after_growing),
		cmocka_unit_test(keeps_equal_hashes_apart),
		cmocka_unit_test(wraps_around),
		cmocka_unit_test(bytes_hash_by_content_and_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
