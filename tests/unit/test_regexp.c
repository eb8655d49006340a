// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "base/regexp.h"

#define MEMORY (256ul << 20) /* so that a fault ends this test, not the machine */

static void what_repeats_too_much_is_refused(void **state)
{
	static const char *const refused[] = {
		"((((a{1,200}){1,200}){1,200}){1,200})",
		"(a*){5000}",
		"(((a{200}){200}){200",
		"a{99999999999999999999}",
		"(a{9}b{9}){999}",
		"([]{]{50}){500}",
	};
	static const char *const compiled[] = {
		"a{1,200}",	     "(a{1,60}){1,60}", "[]{9999}]",
		"[[:alpha:]{9999}]", "a\\{9999\\}",	"^(json|netty)",
	};
	const struct rlimit memory = { MEMORY, MEMORY };
	regex_t regex;

	(void)state;
	(void)memory;
#ifndef __SANITIZE_ADDRESS__ /* which maps terabytes */
	assert_int_equal(setrlimit(RLIMIT_AS, &memory), 0);
#endif
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		assert_int_equal(regexp_compile(&regex, refused[i], REG_NOSUB), REG_ESPACE);
	for (size_t i = 0; i < sizeof(compiled) / sizeof(compiled[0]); i++) {
		assert_int_equal(regexp_compile(&regex, compiled[i], REG_NOSUB), 0);
		regfree(&regex);
	}
}

static void what_is_none_is_refused_as_by_regcomp(void **state)
{
	static const char *const broken[] = { "(", "a{", "[", "a\\", "*{1,2", "[[:", "[[.a" };
	regex_t regex;

	(void)state;
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++)
		assert_int_not_equal(regexp_compile(&regex, broken[i], 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_none_is_refused_as_by_regcomp),
		cmocka_unit_test(what_repeats_too_much_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
