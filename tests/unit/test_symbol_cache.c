// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "symbolize/symbol_cache.h"

static struct symbol_cache *begin(void)
{
	struct symbol_cache *cache = NULL;

	assert_int_equal(symbol_cache_new(&cache), 0);
	return cache;
}

static void symbols_stay_valid_when_more_are_added(void **state)
{
	struct symbol_cache *cache = begin();
	char module[32], name[32];
	struct symbol added;
	uint32_t symbol;

	(void)state;
	for (uint32_t i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "name_%u", i);
		snprintf(module, sizeof(module), "[module_%u]", i);
		added = (struct symbol){ .name = pool_string(symbol_cache_pool(cache), name),
					 .module = i % 2 ? module : NULL,
					 .flags = i };
		assert_int_equal(symbol_cache_add(cache, &added, &symbol), 0);
		assert_int_equal(symbol, i);
	}
	for (uint32_t i = 0; i < 2000; i++) {
		const struct symbol *found = symbol_cache_symbol(cache, i);

		snprintf(name, sizeof(name), "name_%u", i);
		snprintf(module, sizeof(module), "[module_%u]", i);
		assert_string_equal(found->name, name);
		assert_null(found->linkage_name);
		assert_int_equal(found->flags, i);
		if (i % 2)
			assert_string_equal(found->module, module);
		else
			assert_null(found->module);
	}
	symbol_cache_free(cache);
}

/* Adds matches for the offsets first, first + step, ... of a file; match i has the offset i. */
static void keep(struct symbol_cache *cache, uint32_t file, uint64_t first, uint64_t step, size_t n)
{
	struct symbol_query queries[200];
	struct symbol_match found[200];

	assert_true(n <= 200);
	for (size_t i = 0; i < n; i++) {
		queries[i] = (struct symbol_query){ .address = first + i * step };
		found[i] = (struct symbol_match){ .symbol = file,
						  .offset = (uint32_t)queries[i].address };
	}
	assert_int_equal(symbol_cache_insert(cache, file, queries, found, n), 0);
}

static bool is_known(const struct symbol_cache *cache, uint32_t file, uint64_t offset, size_t *from)
{
	struct symbol_match match = { 0 };
	bool known = symbol_cache_find(cache, file, offset, from, &match);

	if (known) {
		assert_int_equal(match.symbol, file);
		assert_int_equal(match.offset, offset);
	}
	return known;
}

static void matches_are_found_from_any_start(void **state)
{
	struct symbol_cache *cache = begin();
	size_t from = 0;

	(void)state;
	assert_false(is_known(cache, 0, 10, &from));
	keep(cache, 3, 10, 10, 100); /* 10, 20, ... 1000 */
	keep(cache, 3, 15, 20, 50);  /* 15, 35, ... 995 */
	keep(cache, 7, 5, 1, 1);
	for (uint32_t file = 0; file < 3; file++) {
		from = 0;
		assert_false(is_known(cache, file, 10, &from));
	}
	from = 0;
	assert_false(is_known(cache, 8, 5, &from));
	assert_false(is_known(cache, 1000000, 5, &from));
	assert_true(is_known(cache, 7, 5, &from));
	/* One search for all, then one for every n-th. */
	for (uint64_t step = 1; step < 300; step++) {
		from = 0;
		for (uint64_t at = 0; at < 1100; at += step) {
			bool kept = at >= 10 && at <= 1000 &&
				    (at % 10 == 0 || (at % 20 == 15 && at <= 995));

			assert_int_equal(is_known(cache, 3, at, &from), kept);
		}
	}
	symbol_cache_free(cache);
}

static void answers_of_many_files_are_kept_apart(void **state)
{
	struct symbol_cache *cache = begin();

	(void)state;
	for (uint32_t file = 0; file < 100; file++)
		keep(cache, file, file, 1000, 3);
	keep(cache, 5000, 5000, 1000, 3);
	for (uint32_t file = 0; file < 101; file++) {
		uint32_t of = file == 100 ? 5000 : file;
		size_t from = 0;

		assert_true(is_known(cache, of, of, &from));
		assert_false(is_known(cache, of, of + 1, &from));
		assert_true(is_known(cache, of, of + 1000, &from));
		assert_true(is_known(cache, of, of + 2000, &from));
		assert_false(is_known(cache, of, of + 3000, &from));
	}
	symbol_cache_free(cache);
	symbol_cache_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(symbols_stay_valid_when_more_are_added),
		cmocka_unit_test(matches_are_found_from_any_start),
		cmocka_unit_test(answers_of_many_files_are_kept_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
