// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/pool.h"

static void equal_strings_share(void **state)
{
	struct pool *pool = NULL;
	char text[] = "main";
	const char *first;

	(void)state;
	assert_int_equal(pool_new(&pool), 0);
	first = pool_string(pool, text);
	assert_non_null(first);
	assert_ptr_not_equal(first, text);
	assert_ptr_equal(pool_string(pool, "main"), first);
	assert_ptr_equal(pool_string_n(pool, "main()", 4), first);
	text[0] = 'X';
	assert_string_equal(first, "main");
	assert_ptr_not_equal(pool_string(pool, "mai"), first);
	assert_string_equal(pool_string(pool, ""), "");
	pool_free(pool);
	pool_free(NULL);
}

/* Strings of all sizes, some larger than a chunk, keep their address and content. */
static void strings_stay(void **state)
{
	enum { N = 3000 };
	static const char *kept[N];
	struct pool *pool = NULL;
	char *text = malloc(100 * N + 1);

	(void)state;
	assert_non_null(text);
	assert_int_equal(pool_new(&pool), 0);
	for (int i = 0; i < N; i++) {
		int size = i % 500 ? i % 90 : 50 * i;

		memset(text, 'a' + i % 26, (size_t)size);
		snprintf(text + size, 16, "%d", i);
		kept[i] = pool_string(pool, text);
		assert_non_null(kept[i]);
	}
	for (int i = 0; i < N; i++) {
		int size = i % 500 ? i % 90 : 50 * i;

		memset(text, 'a' + i % 26, (size_t)size);
		snprintf(text + size, 16, "%d", i);
		assert_string_equal(kept[i], text);
		assert_ptr_equal(pool_string(pool, text), kept[i]);
	}
	free(text);
	pool_free(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_strings_share),
		cmocka_unit_test(strings_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
