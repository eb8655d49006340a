// SPDX-License-Identifier: GPL-2.0-or-later
/* Wildcards and whole-name regular expressions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trigger/matcher.h"

static bool fits(const char *pattern, bool regexp, const char *name)
{
	struct matcher *matcher = NULL;
	struct error err = { 0 };
	bool result;

	if (matcher_new(pattern, regexp, &matcher, &err) < 0)
		fail_msg("%s: %s", pattern, err.text);
	result = matcher_matches(matcher, name);
	matcher_free(matcher);
	return result;
}

static void wildcards_match_and_all_else_is_literal(void **state)
{
	(void)state;
	assert_true(fits("malloc", false, "malloc"));
	assert_false(fits("malloc", false, "mallocx"));
	assert_false(fits("malloc", false, "xmalloc"));
	assert_true(fits("tcp_send*", false, "tcp_sendmsg"));
	assert_true(fits("tcp_send*", false, "tcp_send"));
	assert_false(fits("tcp_send*", false, "xtcp_send"));
	assert_true(fits("*", false, ""));
	assert_true(fits("a?c", false, "abc"));
	assert_false(fits("a?c", false, "ac"));
	assert_true(fits("*b*b*c", false, "abbxbc"));
	assert_false(fits("*b*b*c", false, "abc"));
	assert_true(fits("a.b", false, "a.b"));
	assert_false(fits("a.b", false, "axb"));
	assert_true(fits("f[1]+", false, "f[1]+"));
	assert_false(fits("", false, "x"));
	assert_true(fits("", false, ""));
	assert_true(fits("**a**", false, "xxaxx"));
}

static void regular_expressions_match_the_whole_name(void **state)
{
	(void)state;
	assert_true(fits("^tcp_send.*", true, "tcp_sendmsg"));
	assert_false(fits("tcp_send", true, "tcp_sendmsg"));
	assert_true(fits("tcp_send", true, "tcp_send"));
	assert_false(fits("send", true, "tcp_send"));
	assert_true(fits("a|ab", true, "ab"));
	assert_true(fits("vfs_(read|write)", true, "vfs_write"));
	assert_false(fits("vfs_(read|write)", true, "vfs_writev"));
	assert_true(fits("[[:alpha:]]+", true, "abc"));
	assert_true(fits("x*", true, ""));
}

static void many_stars_take_no_time(void **state)
{
	char pattern[201] = "", name[20001];

	(void)state;
	for (int i = 0; i < 100; i++)
		memcpy(pattern + (size_t)i * 2, "a*", 3);
	pattern[199] = 'b';
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_false(fits(pattern, false, name));
}

static void wrong_expressions_are_refused(void **state)
{
	struct matcher *matcher = NULL;
	struct error err = { 0 };
	char *pattern = malloc(10001);

	(void)state;
	assert_true(matcher_new("a(", true, &matcher, &err) < 0);
	assert_non_null(strstr(err.text, "a("));
	memset(pattern, 'x', 10000);
	pattern[10000] = '\0';
	assert_true(matcher_new(pattern, false, &matcher, &err) < 0);
	assert_null(matcher);
	matcher_free(NULL);
	free(pattern);
}

static void patterns_are_shown_as_bcc_shows_them(void **state)
{
	char text[16];

	(void)state;
	matcher_describe("nosuch", false, text, sizeof(text));
	assert_string_equal(text, "^nosuch$");
	matcher_describe("a*b?", false, text, sizeof(text));
	assert_string_equal(text, "^a.*b.$");
	matcher_describe("a.*", true, text, sizeof(text));
	assert_string_equal(text, "a.*");
	matcher_describe("0123456789abcdefghij", false, text, sizeof(text));
	assert_true(strlen(text) < sizeof(text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wildcards_match_and_all_else_is_literal),
		cmocka_unit_test(regular_expressions_match_the_whole_name),
		cmocka_unit_test(many_stars_take_no_time),
		cmocka_unit_test(wrong_expressions_are_refused),
		cmocka_unit_test(patterns_are_shown_as_bcc_shows_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
