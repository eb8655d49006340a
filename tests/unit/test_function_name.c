// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How the names of symbols compare with patterns. It stands for reports that functions cannot be
 * named as their source has them: in C++ outside of namespaces, as templates, as the compiler's
 * variants; and that parts of functions are taken for functions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "trigger/function_name.h"
#include "trigger/matcher.h"

static enum name_match match(const char *pattern, const char *name)
{
	struct name_reader *reader = calloc(1, sizeof(*reader));
	struct matcher *matcher = NULL;
	struct nearest nearest;
	struct error err;
	enum name_match is;

	assert_non_null(reader);
	nearest_init(&nearest, pattern);
	assert_int_equal(matcher_new(pattern, false, &matcher, &err), 0);
	reader->matcher = matcher;
	reader->nearest = &nearest;
	is = name_match(reader, name, true);
	matcher_free(matcher);
	free(reader);
	return is;
}

static void names_match_as_they_are(void **state)
{
	(void)state;
	assert_int_equal(match("foo", "foo"), NAME_EXACT);
	assert_int_equal(match("foo*", "foobar"), NAME_EXACT);
	assert_int_equal(match("foo", "foobar"), NAME_DIFFERS);
	assert_int_equal(match("_Z3fooi", "_Z3fooi"), NAME_EXACT);
	assert_int_equal(match("main.f", "main.f"), NAME_EXACT);
	assert_int_equal(match("main", "main.f"), NAME_DIFFERS);
	assert_int_equal(match("*", "main._omp_fn.0"), NAME_EXACT);
	assert_int_equal(match("main", "main._omp_fn.0"), NAME_DIFFERS);
}

static void readable_names_match_whole_or_in_part(void **state)
{
	static const char *const patterns[] = { "foo", "foo(int)", "f?o", "foo*" };
	static const char *const of_template[] = { "int twice<int>(int)", "twice<int>(int)",
						   "twice<int>", "twice" };

	(void)state;
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(match(patterns[i], "_Z3fooi"), NAME_READABLE);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(match(of_template[i], "_Z5twiceIiET_S0_"), NAME_READABLE);
	assert_int_equal(match("foo()", "_Z3foov"), NAME_READABLE);
	assert_int_equal(match("foo()", "_Z3fooi"), NAME_DIFFERS);
	assert_int_equal(match("int", "_Z5twiceIiET_S0_"), NAME_DIFFERS);
	assert_int_equal(match("operator new", "_Znwm"), NAME_READABLE);
	assert_int_equal(match("operator<<", "_ZlsRSoi"), NAME_READABLE);
	assert_int_equal(match("v0::burn", "_RNvCsfq2Zq5gqAK1_2v04burn"), NAME_READABLE);
	/* A thunk jumps to the method, which would count twice. */
	assert_int_equal(match("A::f", "_ZThn16_N1A1fEv"), NAME_DIFFERS);
	assert_int_equal(match("A::f", "_ZN1A1fEv"), NAME_READABLE);
}

static void cold_parts_are_no_functions(void **state)
{
	static const char *const names[] = { "hot.cold", "hot.cold.3", "hot.part.0.cold",
					     "hot.constprop.0.cold" };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(match("hot*", names[i]), NAME_COLD);
		assert_int_equal(match("hot", names[i]), NAME_DIFFERS);
		assert_int_equal(match(names[i], names[i]), NAME_EXACT);
	}
	assert_int_equal(match("foo", "_Z3fooi.cold"), NAME_DIFFERS);
	assert_int_equal(match("cold", "cold"), NAME_EXACT);
	assert_int_equal(match("is.colder", "is.colder"), NAME_EXACT);
}

static void variants_are_known_by_their_function(void **state)
{
	static const char *const names[] = { "foo.isra.0",     "foo.constprop.0",
					     "foo.lto_priv.1", "foo.isra.0.constprop.12",
					     "foo.llvm.12345", "foo.3" };

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(match("foo", names[i]), NAME_CLONE);
		assert_int_equal(match("foo*", names[i]), NAME_EXACT);
	}
	assert_int_equal(match("foo", "foo.part.0"), NAME_DIFFERS);
	assert_int_equal(match("foo", "foo.avx2"), NAME_DIFFERS);
	assert_int_equal(match("foo", "_Z3fooi.isra.0"), NAME_READABLE);
	assert_int_equal(match("foo", "_Z3fooi.part.0"), NAME_DIFFERS);
	assert_int_equal(match("foo", "_Z3fooi.actor"), NAME_DIFFERS);
	assert_int_equal(match("v0::burn", "_RNvCsfq2Zq5gqAK1_2v04burn.llvm.12345"), NAME_READABLE);
	assert_int_equal(match("*core::convert*",
			       "_ZN50_$LT$T$u20$as$u20$core..convert..Into$LT$U$GT$$GT$4into"
			       "17h0123456789abcdefE"),
			 NAME_READABLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_match_as_they_are),
		cmocka_unit_test(readable_names_match_whole_or_in_part),
		cmocka_unit_test(cold_parts_are_no_functions),
		cmocka_unit_test(variants_are_known_by_their_function),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
