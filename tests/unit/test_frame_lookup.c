// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Single functions of a file by its call frame information: reports like "stacks of PHP's compiled
 * code end although the evaluator's frame is known". The compiler of all rows is the oracle, on
 * this program itself.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cfi/frame_lookup.h"
#include "elf/elf_file.h"

static void rules_are_those_of_the_rows(void **state)
{
	struct rule_table *rules = NULL;
	struct unwind_rows rows = { 0 };
	struct elf_file *elf = NULL;
	struct frame_lookup lookup;
	struct code_view view;
	uint32_t n = 0, n_rules;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(rule_table_new(&rules), 0);
	assert_int_equal(unwind_rows_compile(fd, rules, &rows, NULL), 0);
	assert_int_equal(elf_file_open(fd, &elf), 0);
	code_view_open(&view, elf, UINT32_MAX);
	assert_int_equal(frame_lookup_open(&lookup, &view, 1), 0);
	for (uint32_t i = 0; i < rows.n; i += 97) {
		const struct wire_rule *expected =
			&rule_table_rules(rules, &n_rules)[rows.rows[i].rule];
		struct frame_function function;
		struct wire_rule rule;

		if (!frame_lookup_find(&lookup, rows.rows[i].address, &function))
			continue;
		assert_true(frame_lookup_rule(&lookup, rows.rows[i].address, &rule));
		assert_memory_equal(&rule, expected, sizeof(rule));
		n++;
	}
	assert_true(n > 20);
	frame_lookup_close(&lookup);
	elf_file_close(elf);
	unwind_rows_free(&rows);
	rule_table_free(rules);
	close(fd);
}

static void there_is_none_outside_of_functions(void **state)
{
	struct elf_file *elf = NULL;
	struct frame_lookup lookup;
	struct wire_rule rule;
	struct code_view view;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(elf_file_open(fd, &elf), 0);
	code_view_open(&view, elf, UINT32_MAX);
	assert_int_equal(frame_lookup_open(&lookup, &view, 1), 0);
	assert_false(frame_lookup_rule(&lookup, 0, &rule));
	assert_false(frame_lookup_rule(&lookup, UINT32_MAX, &rule));
	assert_false(frame_lookup_rule(&lookup, 1ull << 32, &rule));
	frame_lookup_close(&lookup);
	elf_file_close(elf);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_are_those_of_the_rows),
		cmocka_unit_test(there_is_none_outside_of_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
