// SPDX-License-Identifier: GPL-2.0-or-later
/* Titles of pages and pictures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "view/caption.h"

static void expect_title(const char *command_line, const char *title)
{
	struct profile_meta meta = { .command_line = command_line };
	struct profile profile = { .meta = &meta };
	struct bytes bytes;

	bytes_start(&bytes, NULL);
	caption_title(&bytes, &profile);
	bytes_char(&bytes, '\0');
	assert_int_equal(bytes.failed, 0);
	assert_string_equal(bytes.start, title);
	bytes_clear(&bytes);
}

static void a_title_is_the_command_without_its_directory(void **state)
{
	(void)state;
	expect_title("profile 5", "profile 5");
	expect_title("/usr/bin/profile -p 1/2 5", "profile -p 1/2 5");
	expect_title("profile", "profile");
	expect_title("", "");
	expect_title(NULL, "Flame graph");
}

static void files_that_are_written_are_not_in_it(void **state)
{
	(void)state;
	expect_title("profile -q -o x.html --output a.svg --output=b.svg 5", "profile 5");
	expect_title("profile -o 'my file.html' -p 7 5", "profile -p 7 5");
	expect_title("profile -o 'it'\\''s mine.html' 5", "profile 5");
	expect_title("profile --name '-o' 5 -o", "profile --name '-o' 5");
	expect_title("profile --off-cpu --output-of 5", "profile --off-cpu --output-of 5");
}

static void a_given_title_is_all_of_it(void **state)
{
	struct profile_meta meta = { .command_line = "profile 5", .event = "cpu-clock" };
	struct profile profile = { .meta = &meta, .caption = "The shop, Friday \033[1m" };
	struct bytes bytes;

	(void)state;
	bytes_start(&bytes, NULL);
	caption_title(&bytes, &profile);
	bytes_char(&bytes, '\0');
	assert_string_equal(bytes.start, "The shop, Friday ?[1m");
	bytes_clear(&bytes);
}

static void the_measured_command_is_whole(void **state)
{
	(void)state;
	expect_title("profile -o a.html -- gcc -o a a.c", "profile -- gcc -o a a.c");
}

static void a_long_one_is_cut_between_characters(void **state)
{
	char line[200] = "profile --name '", title[200];
	size_t n = strlen(line);

	(void)state;
	while (n + 2 < 120) {
		memcpy(line + n, "\xc3\xa4", 2);
		n += 2;
	}
	line[n] = '\0';
	snprintf(title, sizeof(title), "%.80s\xe2\x80\xa6", line);
	expect_title(line, title);
	memmove(line + 9, line + 8, n - 7); /* now a character is at the limit */
	snprintf(title, sizeof(title), "%.79s\xe2\x80\xa6", line);
	expect_title(line, title);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_title_is_the_command_without_its_directory),
		cmocka_unit_test(files_that_are_written_are_not_in_it),
		cmocka_unit_test(a_given_title_is_all_of_it),
		cmocka_unit_test(the_measured_command_is_whole),
		cmocka_unit_test(a_long_one_is_cut_between_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
