// SPDX-License-Identifier: GPL-2.0-or-later
/* The text of /proc/PID/maps: real lines, odd ones, hostile ones, and that of this process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include <cmocka.h>

#include "files/maps.h"

/* Copies the text to memory of exactly its size, so that sanitizers see a read beyond it. */
static char *exactly(const char *text, const char **ret_end)
{
	size_t size = strlen(text);
	char *copy = malloc(size ? size : 1);

	assert_non_null(copy);
	memcpy(copy, text, size);
	*ret_end = copy + size;
	return copy;
}

static bool first_line(const char *text, struct maps_line *ret_line, char *ret_name, size_t size)
{
	const char *end;
	char *copy = exactly(text, &end);
	const char *at = copy;
	bool found = maps_next(&at, end, ret_line);

	if (found)
		maps_name(ret_line, ret_name, size);
	free(copy);
	return found;
}

static void test_fields(void **state)
{
	struct maps_line line;
	char name[256];

	(void)state;
	assert_true(first_line(
		"7f1c2a000000-7f1c2a155000 r-xp 00028000 fe:01 332835   /usr/lib/libc.so.6\n",
		&line, name, sizeof(name)));
	assert_int_equal(line.start, 0x7f1c2a000000);
	assert_int_equal(line.end, 0x7f1c2a155000);
	assert_int_equal(line.offset, 0x28000);
	assert_int_equal(line.access, MAPS_READ | MAPS_EXECUTE);
	assert_int_equal(line.device, makedev(0xfe, 1));
	assert_int_equal(line.inode, 332835);
	assert_string_equal(name, "/usr/lib/libc.so.6");

	assert_true(first_line("ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]",
			       &line, name, sizeof(name)));
	assert_int_equal(line.start, 0xffffffffff600000);
	assert_int_equal(line.access, MAPS_EXECUTE);
	assert_string_equal(name, "[vsyscall]");

	assert_true(first_line("1000-2000 rwxs 0 0:5 18446744073709551615 ", &line, name,
			       sizeof(name)));
	assert_int_equal(line.access, MAPS_READ | MAPS_WRITE | MAPS_EXECUTE | MAPS_SHARED);
	assert_int_equal(line.inode, UINT64_MAX);
	assert_string_equal(name, "");
	assert_true(first_line("1000-2000 ---p 0 0:5 7", &line, name, sizeof(name)));
	assert_int_equal(line.access, 0);
}

static void test_names(void **state)
{
	struct maps_line line;
	char name[256], small[4];

	(void)state;
	assert_true(first_line("1000-2000 r-xp 0 0:5 7  /a b/c\\012d (deleted)\n", &line, name,
			       sizeof(name)));
	assert_string_equal(name, "/a b/c\nd (deleted)");
	assert_int_equal(maps_name_undeleted(name, strlen(name)), strlen("/a b/c\nd"));
	assert_int_equal(maps_name_undeleted("/x", 2), 2);
	assert_int_equal(maps_name_undeleted(" (deleted)", 10), 10);
	assert_true(first_line("1000-2000 r-xp 0 0:5 7  /abcdef\n", &line, small, sizeof(small)));
	assert_string_equal(small, "/ab");
	assert_true(first_line("1000-2000 r-xp 0 0:5 7  /ab\\01", &line, name, sizeof(name)));
	assert_string_equal(name, "/ab\\01");
}

static void test_malformed_lines_are_skipped(void **state)
{
	static const char *const lines[] = {
		"",
		"\n",
		"1000",
		"1000-",
		"1000-2000",
		"1000-2000 ",
		"1000-2000 r-x",
		"1000-2000 r-xp",
		"1000-2000 r-xp 0",
		"1000-2000 r-xp 0 0:",
		"1000-2000 r-xp 0 0:5",
		"1000-2000 r-xp 0 0:5 ",
		"1000-2000 r-xp 0 0:5 x",
		"1000-2000 r-xp 0 0:5 7x",
		"2000-1000 r-xp 0 0:5 7",
		"1000-1000 r-xp 0 0:5 7",
		"-2000 r-xp 0 0:5 7",
		"1000-2000 rwxq 0 0:5 7",
		"1000-2000 xrwp 0 0:5 7",
		"10000000000000000-20000000000000000 r-xp 0 0:5 7",
		"1000-2000 r-xp 0 100000000:5 7",
		"1000-2000 r-xp 0 0:5 18446744073709551616",
		"1000-2000  r-xp 0 0:5 7",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		struct maps_line line;
		char name[64], text[256];

		if (first_line(lines[i], &line, name, sizeof(name)))
			fail_msg("taken for a line: %s", lines[i]);
		/* The next line is still found. */
		snprintf(text, sizeof(text), "%s\n3000-4000 r-xp 0 0:5 7 good\n", lines[i]);
		assert_true(first_line(text, &line, name, sizeof(name)));
		assert_int_equal(line.start, 0x3000);
		assert_string_equal(name, "good");
	}
}

static void test_a_name_with_nul_is_no_line(void **state)
{
	static const char text[] = "1000-2000 r-xp 0 0:5 7 a\0b\n3000-4000 r-xp 0 0:5 7 c\n";
	const char *at = text;
	struct maps_line line;

	(void)state;
	assert_true(maps_next(&at, text + sizeof(text) - 1, &line));
	assert_int_equal(line.start, 0x3000);
	assert_false(maps_next(&at, text + sizeof(text) - 1, &line));
}

/* Every line of our own maps is parsed, and this function is in one. */
static void test_own_maps(void **state)
{
	uint64_t here = (uintptr_t)test_own_maps, before = 0;
	FILE *maps = fopen("/proc/self/maps", "re");
	char text[8192];
	bool found = false;

	(void)state;
	assert_non_null(maps);
	while (fgets(text, sizeof(text), maps)) {
		const char *at = text;
		struct maps_line line;

		assert_true(maps_next(&at, text + strlen(text), &line));
		assert_true(line.start >= before);
		before = line.end;
		if (line.start <= here && here < line.end) {
			assert_true(line.access & MAPS_EXECUTE);
			found = true;
		}
	}
	fclose(maps);
	assert_true(found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_malformed_lines_are_skipped),
		cmocka_unit_test(test_a_name_with_nul_is_no_line),
		cmocka_unit_test(test_own_maps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
