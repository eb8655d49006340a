// SPDX-License-Identifier: GPL-2.0-or-later
/* Names without parameters, template arguments and return types; any bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "view/simple_name.h"

static const char *shortened(const char *name)
{
	static char to[256];

	assert_true(strlen(name) < sizeof(to));
	return simple_name(name, to) ? to : NULL;
}

static void names_are_shortened(void **state)
{
	static const struct {
		const char *name, *simple;
	} cases[] = {
		{ "f(int)", "f" },
		{ "ns::f<int>(char const*) const", "ns::f" },
		{ "void ns::f<int, std::vector<int> >(int)", "ns::f" },
		{ "unsigned long f<(E)1>(unsigned long)", "f" },
		{ "f(int) [clone .cold]", "f" },
		{ "(anonymous namespace)::f(int)", "(anonymous namespace)::f" },
		{ "ns::(anonymous namespace)::g(void (*)(int))", "ns::(anonymous namespace)::g" },
		{ "f(int)::{lambda(int)#1}::operator()(int) const", "f::{lambda#1}::operator()" },
		{ "a::operator<<(int)", "a::operator<<" },
		{ "std::ostream& std::operator<< <char>(std::ostream&, char)", "std::operator<<" },
		{ "A::operator->() const", "A::operator->" },
		{ "A::operator[](int)", "A::operator[]" },
		{ "A::operator bool() const", "A::operator bool" },
		{ "operator new(unsigned long)", "operator new" },
		{ "f<A<(1)>, &B::operator-> >()", "f" },
		{ "my_operator(int)", "my_operator" },
		{ "f[abi:cxx11](int)", "f" },
		{ "A::~A()", "A::~A" },
		{ "core::ptr::drop_in_place<alloc::string::String>", "core::ptr::drop_in_place" },
		{ "<alloc::string::String as core::fmt::Write>::write_str",
		  "<alloc::string::String as core::fmt::Write>::write_str" },
		{ "main.(*T).run", "main.(*T).run" },
		{ "main.Map[go.shape.int]", "main.Map" },
		{ "main.run.func1", NULL },
		{ "vfs_read", NULL },
		{ "[libc.so.6+0x10]", NULL },
		{ "f(int", NULL },
		{ "f<int", NULL },
		{ "()", "()" },
		{ "(", NULL },
		{ "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *simple = shortened(cases[i].name);

		if (cases[i].simple)
			assert_non_null(simple);
		else
			assert_null(simple);
		if (simple)
			assert_string_equal(simple, cases[i].simple);
	}
}

/* No name is longer than what it was made of, or empty. */
static void any_name(void **state)
{
	static const char pieces[] = "<>()[]{}: -~a&operator";

	(void)state;
	srandom(1);
	for (int round = 0; round < 200000; round++) {
		size_t n = (size_t)random() % 40;
		char name[40] = "", to[41];

		for (size_t i = 0; i + 1 < n; i++)
			name[i] = pieces[(size_t)random() % (sizeof(pieces) - 1)];
		memset(to, 'x', sizeof(to));
		if (simple_name(name, to)) {
			assert_true(memchr(to, '\0', strlen(name) + 1) != NULL);
			assert_true(to[0] != '\0');
		}
		assert_int_equal(to[40], 'x');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_shortened),
		cmocka_unit_test(any_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
