// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "symbolize/answers.h"

static struct answers *begin(void)
{
	struct answers *answers = NULL;

	assert_int_equal(answers_new(&answers), 0);
	return answers;
}

static void symbols_stay_what_they_are_when_more_come(void **state)
{
	struct answers *answers = begin();
	char module[32], name[32];
	uint32_t symbol;

	(void)state;
	for (uint32_t i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "name_%u", i);
		snprintf(module, sizeof(module), "[module_%u]", i);
		assert_int_equal(answers_add_symbol(answers,
						    pool_string(answers_pool(answers), name),
						    i % 2 ? module : NULL, i, &symbol),
				 0);
		assert_int_equal(symbol, i);
	}
	for (uint32_t i = 0; i < 2000; i++) {
		const struct found_symbol *found = answers_symbol(answers, i);

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
	answers_free(answers);
}

static void names_are_demangled_once(void **state)
{
	struct answers *answers = begin();
	uint32_t symbol;

	(void)state;
	assert_int_equal(answers_add_symbol(answers, "_ZN4deep1S1fEi", NULL, 0, &symbol), 0);
	assert_string_equal(answers_symbol(answers, symbol)->name, "deep::S::f(int)");
	assert_string_equal(answers_symbol(answers, symbol)->linkage_name, "_ZN4deep1S1fEi");
	answers_free(answers);
}

/* Keeps the offsets first, first + step, ... of a file; the answer's offset is the key's number. */
static void keep(struct answers *answers, uint32_t file, uint64_t first, uint64_t step, size_t n)
{
	struct symbol_query queries[200];
	struct answer found[200];

	assert_true(n <= 200);
	for (size_t i = 0; i < n; i++) {
		queries[i] = (struct symbol_query){ .address = first + i * step };
		found[i] =
			(struct answer){ .symbol = file, .offset = (uint32_t)queries[i].address };
	}
	assert_int_equal(answers_keep(answers, file, queries, found, n), 0);
}

static bool is_known(const struct answers *answers, uint32_t file, uint64_t offset, size_t *from)
{
	struct answer answer = { 0 };
	bool known = answers_known(answers, file, offset, from, &answer);

	if (known) {
		assert_int_equal(answer.symbol, file);
		assert_int_equal(answer.offset, offset);
	}
	return known;
}

static void what_is_kept_is_known_from_wherever_the_search_begins(void **state)
{
	struct answers *answers = begin();
	size_t from = 0;

	(void)state;
	assert_false(is_known(answers, 0, 10, &from));
	keep(answers, 3, 10, 10, 100); /* 10, 20, ... 1000 */
	keep(answers, 3, 15, 20, 50);  /* 15, 35, ... 995 */
	keep(answers, 7, 5, 1, 1);
	for (uint32_t file = 0; file < 3; file++) {
		from = 0;
		assert_false(is_known(answers, file, 10, &from));
	}
	from = 0;
	assert_false(is_known(answers, 8, 5, &from));
	assert_false(is_known(answers, 1000000, 5, &from));
	assert_true(is_known(answers, 7, 5, &from));
	/* One search for all, then one for every n-th. */
	for (uint64_t step = 1; step < 300; step++) {
		from = 0;
		for (uint64_t at = 0; at < 1100; at += step) {
			bool kept = at >= 10 && at <= 1000 &&
				    (at % 10 == 0 || (at % 20 == 15 && at <= 995));

			assert_int_equal(is_known(answers, 3, at, &from), kept);
		}
	}
	answers_free(answers);
}

static void answers_of_many_files_are_kept_apart(void **state)
{
	struct answers *answers = begin();

	(void)state;
	for (uint32_t file = 0; file < 100; file++)
		keep(answers, file, file, 1000, 3);
	keep(answers, 5000, 5000, 1000, 3);
	for (uint32_t file = 0; file < 101; file++) {
		uint32_t of = file == 100 ? 5000 : file;
		size_t from = 0;

		assert_true(is_known(answers, of, of, &from));
		assert_false(is_known(answers, of, of + 1, &from));
		assert_true(is_known(answers, of, of + 1000, &from));
		assert_true(is_known(answers, of, of + 2000, &from));
		assert_false(is_known(answers, of, of + 3000, &from));
	}
	answers_free(answers);
	answers_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(symbols_stay_what_they_are_when_more_come),
		cmocka_unit_test(names_are_demangled_once),
		cmocka_unit_test(what_is_kept_is_known_from_wherever_the_search_begins),
		cmocka_unit_test(answers_of_many_files_are_kept_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
