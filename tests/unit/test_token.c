// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "live/token.h"

static char path[64];

static int make(void **state)
{
	(void)state;
	strcpy(path, "/tmp/token-test.XXXXXX");
	if (!mkdtemp(path))
		return -1;
	strcat(path, "/token");
	return 0;
}

static int clean(void **state)
{
	(void)state;
	unlink(path);
	*strrchr(path, '/') = '\0';
	return rmdir(path);
}

static void put(const char *text, mode_t mode)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static void the_same_again(void **state)
{
	char first[TOKEN_DIGITS + 1], second[TOKEN_DIGITS + 1];
	struct stat is;

	(void)state;
	assert_int_equal(token_of_file(path, first, NULL), 0);
	assert_int_equal(token_of_file(path, second, NULL), 0);
	assert_string_equal(first, second);
	assert_int_equal(strlen(first), TOKEN_DIGITS);
	assert_int_equal(stat(path, &is), 0);
	assert_int_equal(is.st_mode & 0777, 0600);
}

static void files_of_users(void **state)
{
	static const char *const wrong[] = { "", "0123", "0123456789abcdef0123456789abcdeg\n",
					     "0123456789abcdef0123456789abcdef0\n",
					     "0123456789abcdef0123456789abcde/\n" };
	char token[TOKEN_DIGITS + 1];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		put(wrong[i], 0600);
		assert_int_equal(token_of_file(path, token, NULL), -EINVAL);
	}
	put("0123456789abcdef0123456789abcdef\n", 0600);
	assert_int_equal(token_of_file(path, token, NULL), 0);
	assert_string_equal(token, "0123456789abcdef0123456789abcdef");
	put("0123456789abcdef0123456789abcdef", 0400);
	assert_int_equal(token_of_file(path, token, NULL), 0);
	put("0123456789abcdef0123456789abcdef\n", 0640);
	assert_int_equal(token_of_file(path, token, NULL), -EACCES);
	assert_int_equal(token_of_file("/proc", token, NULL), -EINVAL);
	assert_int_equal(token_of_file("/no/such/directory", token, NULL), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_same_again, make, clean),
		cmocka_unit_test_setup_teardown(files_of_users, make, clean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
