// SPDX-License-Identifier: GPL-2.0-or-later
/* The rules by which long names are shortened, by tests/browser/labels.tsv. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "flame/flame_label.h"

static void test_examples(void **state)
{
	FILE *file = fopen("tests/browser/labels.tsv", "re");
	char line[1000];
	unsigned int n = 0;

	(void)state;
	assert_non_null(file);
	for (; fgets(line, sizeof(line), file); n++) {
		char *rest = line, *name = strsep(&rest, "\t\n"), got[1000];

		strcpy(got, name);
		for (enum flame_shorter step = 0; step < FLAME_N_SHORTER; step++) {
			flame_label_shorten(got, step);
			assert_string_equal(got, strsep(&rest, "\t\n"));
		}
	}
	fclose(file);
	assert_true(n > 15);
}

/* Whatever the name is, it becomes no longer and stays a string. */
static void test_any_name(void **state)
{
	static const char pieces[] = "(<[{)>]}::-/. operatorab";
	uint64_t seed = 88172645463325252u;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		char name[40];
		size_t size = (size_t)i % 39;

		for (size_t at = 0; at < size; at++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			name[at] = pieces[(seed >> 33) % (sizeof(pieces) - 1)];
		}
		name[size] = '\0';
		for (enum flame_shorter step = 0; step < FLAME_N_SHORTER; step++) {
			flame_label_shorten(name, step);
			assert_true(strlen(name) <= size);
		}
		assert_true(!size || *name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples),
		cmocka_unit_test(test_any_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
