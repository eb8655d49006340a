// SPDX-License-Identifier: GPL-2.0-or-later
/* Arguments of USDT probes whose sites have them in different places. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/user.h>

#include <cmocka.h>

#include "evaluate.h"
#include "expression/expression.h"
#include "trigger/usdt_values.h"

#define SITES_MAX 300

static struct event_value arguments[SITES_MAX][USDT_ARGUMENTS_MAX];
static struct site items[SITES_MAX];
static struct sites sites;

static void clear(void)
{
	value_list_clear(&sites.values);
	for (size_t i = 0; i < USDT_ARGUMENTS_MAX; i++)
		free(sites.arguments[i]);
	sites = (struct sites){ .items = items };
}

static void add(uint64_t offset, const char *text)
{
	struct site *site = &items[sites.n];

	site->n_arguments = usdt_arguments_parse(text, arguments[sites.n]);
	site->arguments = (const char *)arguments[sites.n++];
	site->offset = offset;
}

/* The value of an expression at an address; NO_RESULT: it has none; NOT_KNOWN: no such argument. */
#define NO_RESULT INT64_MIN
#define NOT_KNOWN (INT64_MIN + 1)

static struct error err;

static int64_t at(uint64_t address, const struct user_regs_struct *registers, const char *text)
{
	struct wire_expressions expressions = { 0 };
	struct user_regs_struct here = *registers;
	struct event_values values;
	int64_t result;

	if (!sites.values.n)
		assert_int_equal(usdt_values_add(&sites), 0);
	values = value_list_values(&sites.values);
	if (expression_compile(EXPRESSION_VALUE, text, &values, &expressions, NULL, &err) < 0)
		return NOT_KNOWN;
	here.rip = address;
	return evaluate(&expressions, &expressions.value, &here, &result) ? result : NO_RESULT;
}

static const struct user_regs_struct registers = { .rax = 0xffffffff80000001, .rdi = 7, .rsi = 9 };

static void each_site_has_its_own(void **state)
{
	const uint64_t base = 0x7f0000000000;

	(void)state;
	add(0x11f3, "-4@$70000 8@%rdi");
	add(0x1216, "-4@%eax 8@%rdi");
	add(0x3244, "8@%rdi 8@%rdi");
	add(0x5a70, "8@%rdi 8@%rdi");
	add(0x9012, "1@%al 8@%rdi");
	add(0xa013, "-4@$70000 8@%rdi");
	assert_int_equal(at(base + 0x11f3, &registers, "arg1"), 70000);
	assert_int_equal(at(base + 0x1216, &registers, "arg1"), -0x7fffffff);
	assert_int_equal(at(base + 0x3244, &registers, "arg1"), 7);
	assert_int_equal(at(base + 0x5a70, &registers, "arg1"), 7);
	assert_int_equal(at(base + 0x9012, &registers, "arg1"), 1);
	assert_int_equal(at(base + 0xa013, &registers, "arg1"), 70000);
	/* In expressions, on both sides, and twice. */
	assert_int_equal(at(base + 0x11f3, &registers, "10 + arg1 * 2 - arg2"), 140003);
	assert_int_equal(at(base + 0x1216, &registers, "arg1 < 0 && arg1 != 5"), 1);
	assert_int_equal(at(base + 0x9012, &registers, "arg2 - arg1"), 6);
	assert_int_equal(at(base + 0x9012, &registers, "arg2"), 7);
	clear();
}

/* All are constants, and the last step of them must not be taken for all of it. */
static void constants_differ(void **state)
{
	(void)state;
	add(0x10, "-4@$3");
	add(0x20, "-4@$-4");
	add(0x30, "-4@$5");
	assert_int_equal(at(0x1010, &registers, "1 + arg1"), 4);
	assert_int_equal(at(0x1020, &registers, "1 + arg1"), -3);
	assert_int_equal(at(0x1030, &registers, "1 + arg1"), 6);
	clear();
}

static void strings_are_compared(void **state)
{
	const struct user_regs_struct names = { .rdi = (uintptr_t) "one",
						.rsi = (uintptr_t) "two" };

	(void)state;
	add(0x10, "8@%rdi 8@%rdi");
	add(0x20, "8@%rsi -4@%esi");
	assert_int_equal(at(0x1010, &names, "arg1 == \"one\""), 1);
	assert_int_equal(at(0x1020, &names, "arg1 == \"one\""), 0);
	assert_int_equal(at(0x1020, &names, "arg1 ~ \"t*\""), 1);
	assert_int_equal(at(0x1010, &names, "arg2 == \"one\""), NOT_KNOWN);
	clear();
}

static void what_cannot_be_known_is_left_out(void **state)
{
	char text[40];

	(void)state;
	/* Addresses that end alike; of arg2 that makes no difference. */
	add(0x1010, "8@%rdi 8@%rdi 8@%rdi 8@%rdi");
	add(0x2010, "8@%rsi 8@%rdi 8f@%xmm0");
	assert_int_equal(at(0x1010, &registers, "arg1"), NOT_KNOWN);
	assert_string_equal(err.text, "argument --sum: the events have no value 'arg1'; they have "
				      "arg2, common_pid, cpu, comm");
	assert_int_equal(at(0x1010, &registers, "arg2"), 7);
	assert_int_equal(at(0x1010, &registers, "arg3"), NOT_KNOWN);
	assert_int_equal(at(0x1010, &registers, "arg4"), NOT_KNOWN);
	clear();
	/* More ways than an expression has steps for. */
	for (uint32_t i = 0; i < SITES_MAX; i++) {
		snprintf(text, sizeof(text), "-4@$%u -4@$%u", i, i % 9);
		add(13 * i, text);
	}
	assert_int_equal(at(13, &registers, "arg1"), NOT_KNOWN);
	assert_int_equal(at(13, &registers, "arg2"), NOT_KNOWN);
	assert_string_equal(err.text,
			    "argument --sum: the expression is too long with 'arg2', which "
			    "the 300 sites of the probe have in different places");
	clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_site_has_its_own),
		cmocka_unit_test(constants_differ),
		cmocka_unit_test(strings_are_compared),
		cmocka_unit_test(what_cannot_be_known_is_left_out),
	};

	clear();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
