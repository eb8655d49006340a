// SPDX-License-Identifier: GPL-2.0-or-later
/* The account of how user stacks ended, from tallies made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "view/ends.h"

static struct tally *tally;
static struct names *names;

static int set_up(void **state)
{
	(void)state;
	return tally_new(0, 0, &tally) < 0 || names_new(&names) < 0;
}

static int tear_down(void **state)
{
	(void)state;
	tally_free(tally);
	names_free(names);
	return 0;
}

static uint32_t address(uint64_t at, const char *name, const char *module)
{
	const struct tally_address it = { .address = at, .image = 1 };
	const struct names_frame frame = { .name = name ? names_string(names, name) : NULL,
					   .module = module ? names_string(names, module) : NULL,
					   .object = NAMES_NONE };
	uint32_t id;

	assert_int_equal(tally_address(tally, &it, &id), 0);
	assert_int_equal(names_add_address(names, &frame, 1), 0);
	return id;
}

static void count(uint64_t n, uint32_t tgid, uint32_t user)
{
	const struct tally_entry entry = {
		.count = n, .tgid = tgid, .kernel = TALLY_STACK_NONE, .user = user
	};

	assert_int_equal(tally_add(tally, &entry), 0);
}

static void count_ended(uint64_t n, uint32_t leaf, uint32_t root, enum tally_end end,
			uint32_t flags)
{
	const uint32_t frames[] = { leaf, root };
	uint32_t id;

	assert_int_equal(tally_stack(tally, frames, 2, TALLY_STACK_ENDED(end) | flags, &id), 0);
	count(n, 1, id);
}

static struct ends account(void)
{
	struct ends ends;

	assert_int_equal(ends_of(tally, names, &ends), 0);
	return ends;
}

static void test_nothing(void **state)
{
	struct ends ends;

	(void)state;
	ends = account();
	assert_int_equal(ends.samples, 0);
	assert_int_equal(ends.n_top, 0);
	/* Missing stacks have no end. */
	count(3, 1, TALLY_STACK_NONE);
	count(5, 1, TALLY_STACK_MISSED);
	ends = account();
	assert_int_equal(ends.samples, 0);
	assert_int_equal(ends.complete, 0);
}

static void test_account(void **state)
{
	uint32_t f = address(0x10, "f", "libf"), f2 = address(0x18, "f", "libf");
	uint32_t g = address(0x20, "g", "libg"), nameless = address(0x30, NULL, "libg");
	uint32_t start = address(0x40, "_start", "program");
	struct ends ends;

	(void)state;
	count_ended(100, f, start, TALLY_END_COMPLETE, 0);
	count_ended(40, g, start, TALLY_END_ENTRY, TALLY_STACK_ASSUMED);
	/* Two paths and two instructions of f are one place. */
	count_ended(7, g, f, TALLY_END_NO_CFI, 0);
	count_ended(8, start, f, TALLY_END_NO_CFI, TALLY_STACK_ASSUMED);
	count_ended(1, g, f2, TALLY_END_NO_CFI, 0);
	/* The same function for another reason is another place. */
	count_ended(20, g, f, TALLY_END_PENDING, 0);
	count_ended(17, f, nameless, TALLY_END_PENDING, 0);
	ends = account();
	assert_int_equal(ends.samples, 193);
	assert_int_equal(ends.complete, 140);
	assert_int_equal(ends.assumed, 48);
	assert_int_equal(ends.by_end[TALLY_END_COMPLETE], 100);
	assert_int_equal(ends.by_end[TALLY_END_ENTRY], 40);
	assert_int_equal(ends.by_end[TALLY_END_NO_CFI], 16);
	assert_int_equal(ends.by_end[TALLY_END_PENDING], 37);
	assert_int_equal(ends.n_top, 3);
	assert_int_equal(ends.top[0].count, 20);
	assert_int_equal(ends.top[0].end, TALLY_END_PENDING);
	assert_string_equal(ends.top[0].function, "f");
	assert_string_equal(ends.top[0].module, "libf");
	assert_int_equal(ends.top[1].count, 17);
	assert_null(ends.top[1].function);
	assert_string_equal(ends.top[1].module, "libg");
	assert_int_equal(ends.top[2].count, 16);
	assert_int_equal(ends.top[2].end, TALLY_END_NO_CFI);
}

/* The places with the most samples are listed. */
static void test_many(void **state)
{
	uint32_t leaf = address(0x10, "leaf", "program");
	struct ends ends;

	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%u", i);
		count_ended(1 + i * 37 % 100, leaf, address(0x1000 + i, name, "program"),
			    TALLY_END_NO_ROW, 0);
	}
	ends = account();
	assert_int_equal(ends.samples, 5050);
	assert_int_equal(ends.complete, 0);
	assert_int_equal(ends.n_top, ENDS_TOP);
	for (uint32_t i = 0; i < ends.n_top; i++)
		assert_int_equal(ends.top[i].count, 100 - i);
}

/* Without names, places have none, and nothing is read beyond the addresses. */
static void test_nameless(void **state)
{
	const struct tally_address it = { .address = 0x10, .image = 1 };
	struct ends ends;
	uint32_t id;

	(void)state;
	assert_int_equal(tally_address(tally, &it, &id), 0);
	count_ended(2, id, id, TALLY_END_BROKEN, 0);
	ends = account();
	assert_int_equal(ends.n_top, 1);
	assert_null(ends.top[0].function);
	assert_null(ends.top[0].module);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_account, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_many, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_nameless, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
