// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "symbolize/demangle.h"

static char demangled[DEMANGLE_SIZE];

static void assert_demangles(const char *name, const char *expected)
{
	assert_true(demangle(name, demangled, sizeof(demangled)));
	assert_string_equal(demangled, expected);
}

static void assert_stays(const char *name)
{
	assert_false(demangle(name, demangled, sizeof(demangled)));
}

static void cxx(void **state)
{
	(void)state;
	assert_demangles("_ZN3foo3barEi", "foo::bar(int)");
	assert_demangles("_Z3maxIiET_S0_S0_", "int max<int>(int, int)");
	assert_demangles("_ZNSolsEi", "std::ostream::operator<<(int)");
	assert_demangles("_ZN3foo3barEi.cold", "foo::bar(int) [clone .cold]");
	assert_demangles("___ZN3foo3barEv", "foo::bar()");
	assert_demangles("_ZNSt14error_categoryC2Ev@plt",
			 "std::error_category::error_category()@plt");
	assert_demangles("_ZN3foo3barEi@@V_1", "foo::bar(int)@@V_1");
}

/* A C program whose _Zgetc() was shown as operator>=(unsigned short, char). */
static void functions_of_c(void **state)
{
	(void)state;
	assert_stays("_Zgetc");
	assert_stays("_Zgetc.part.0");
	assert_stays("_Zls");
	assert_demangles("_Znwm", "operator new(unsigned long)");
	assert_demangles("_ZdlPv", "operator delete(void*)");
	assert_demangles("_ZeqRK1AS1_", "operator==(A const&, A const&)");
}

static void rust(void **state)
{
	(void)state;
	assert_demangles("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write");
	assert_demangles("_ZN4core3fmt5write17h0123456789abcdefE.llvm.1234", "core::fmt::write");
	assert_demangles("_ZN60_$LT$alloc..string..String$u20$as$u20$core..fmt..Display$GT$3fmt"
			 "17h0123456789abcdefE",
			 "<alloc::string::String as core::fmt::Display>::fmt");
	assert_demangles("_RNvCs1234_7mycrate3foo", "mycrate::foo");
	assert_demangles("_RINvNtC3std3mem8align_ofjE", "std::mem::align_of::<usize>");
}

/*
 * Names that libiberty of 2022 leaves mangled (those of newer compilers and long ones), with what
 * LLVM's demangler makes of them, in either's style.
 */
static void names_of_newer_compilers(void **state)
{
	(void)state;
	/* Constraints, explicit object parameters, members of a named module, deduced returns. */
	assert_true(demangle("_Z2trIiQ4SameIT_iEEvS0_", demangled, sizeof(demangled)));
	if (strcmp(demangled, "void tr<int>(T)") != 0)
		assert_string_equal(demangled, "void tr<int>(int) requires Same<int, int>");
	assert_demangles("_ZN3VecIdE4pushITk4TrueIT_EfEEvS3_", "void Vec<double>::push<float>(T)");
	assert_demangles("_ZNH7Counter3addES_i", "Counter::add(this Counter, int)");
	assert_demangles("_ZW3net4openv", "open@net()");
	assert_demangles("_ZN3foo3barEi.AVX2", "foo::bar(int) [clone .AVX2]");
	assert_demangles("_ZNH7Counter3addES_i.cold",
			 "Counter::add(this Counter, int) [clone .cold]");
}

static void d(void **state)
{
	(void)state;
	assert_demangles("_D3std5stdio7writelnFZv", "std.stdio.writeln()");
	assert_demangles("_Dmain", "D main");
	assert_demangles("_D3foo3Bar6methodMFiZv", "foo.Bar.method(int)");
	assert_stays("_Display");
	assert_stays("_D");
	assert_stays("_D99x");
}

/* Beyond 1,024 bytes libiberty's limit of recursion refused them. */
static void long_names(void **state)
{
	char name[9100], *at = name + sprintf(name, "_ZN");

	(void)state;
	while (at - name < 9000)
		at += sprintf(at, "13namespace_%03d", (int)(at - name) / 15 % 1000);
	strcpy(at, "3runEi");
	assert_true(demangle(name, demangled, sizeof(demangled)));
	assert_int_equal(strncmp(demangled, "namespace_000::namespace_001::", 30), 0);
	assert_string_equal(strrchr(demangled, ':'), ":run(int)");
}

static void other_names_stay(void **state)
{
	(void)state;
	assert_stays("");
	assert_stays("main");
	assert_stays("_start");
	assert_stays("_Z");
	assert_stays("_R");
	assert_stays("_Zebra");
	assert_stays("_Z@plt");
	assert_stays("malloc@plt");
	assert_stays("_Resize");
	assert_stays("i");	   /* a type, to demanglers that accept types */
	assert_stays("main.main"); /* Go */
	assert_stays("Z3foov");
}

static void small_room_is_not_overrun(void **state)
{
	char small[8];

	(void)state;
	for (size_t size = 0; size <= sizeof(small); size++) {
		memset(small, 'x', sizeof(small));
		assert_false(demangle("_ZN3foo3barEi", small, size));
		assert_false(demangle("_ZN3foo3barE@plt", small, size));
		for (size_t i = size; i < sizeof(small); i++)
			assert_int_equal(small[i], 'x');
	}
}

/* Each parameter is a pair of the previous one, twice: the last is 2^40 times as long. */
static void names_that_grow_too_long_stay(void **state)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char name[2048] = "_Z1fSt4pairIiiE", before[8];
	struct timespec start, end;

	(void)state;
	for (unsigned int i = 0; i < 40; i++) {
		/* Each pair makes two substitutions, numbered to base 36: template and type. */
		if (2 * i < 36)
			snprintf(before, sizeof(before), "S%c_", digits[2 * i]);
		else
			snprintf(before, sizeof(before), "S%c%c_", digits[2 * i / 36],
				 digits[2 * i % 36]);
		strcat(name, "St4pairI");
		strcat(name, before);
		strcat(name, before);
		strcat(name, "E");
		if (i == 4) {
			assert_true(demangle(name, demangled, sizeof(demangled)));
			assert_in_range(strlen(demangled), 32 * strlen("std::pair<int, int>"),
					DEMANGLE_SIZE - 1);
		}
	}
	clock_gettime(CLOCK_MONOTONIC, &start);
	assert_stays(name);
	clock_gettime(CLOCK_MONOTONIC, &end);
	assert_true(end.tv_sec - start.tv_sec < 5);
}

static void deep_and_long_names_stay(void **state)
{
	char *name = malloc(200001);

	(void)state;
	memset(name, 'P', 200000); /* pointers to pointers ... */
	memcpy(name, "_Z1f", 4);
	name[200000] = '\0';
	assert_stays(name);
	name[4000] = '\0';
	assert_stays(name);
	memcpy(name, "_RNvCs_", 7);
	memset(name + 7, 'N', 3000);
	assert_stays(name);
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cxx),
		cmocka_unit_test(functions_of_c),
		cmocka_unit_test(rust),
		cmocka_unit_test(names_of_newer_compilers),
		cmocka_unit_test(d),
		cmocka_unit_test(long_names),
		cmocka_unit_test(other_names_stay),
		cmocka_unit_test(small_room_is_not_overrun),
		cmocka_unit_test(names_that_grow_too_long_stay),
		cmocka_unit_test(deep_and_long_names_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
