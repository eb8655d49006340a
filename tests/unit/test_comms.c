// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tally/comms.h"

static void add(struct comms *comms, const char *name, uint64_t count)
{
	char comm[TALLY_COMM_SIZE] = { 0 };

	memcpy(comm, name, strnlen(name, sizeof(comm)));
	assert_int_equal(comms_add(comms, comm, count), 0);
}

static void the_most_frequent_are_named(void **state)
{
	struct comms comms = { 0 };
	char text[100];

	(void)state;
	comms_describe(&comms, text, sizeof(text));
	assert_string_equal(text, "");
	add(&comms, "nothing", 0);
	comms_describe(&comms, text, sizeof(text));
	assert_string_equal(text, "");
	add(&comms, "a", 2);
	add(&comms, "of-16-characters", 3); /* without a NUL */
	comms_describe(&comms, text, sizeof(text));
	assert_string_equal(text, "of-16-characters (3), a (2)");
	add(&comms, "a", 2);
	add(&comms, "b", 3);
	add(&comms, "c", 1);
	comms_describe(&comms, text, sizeof(text));
	assert_string_equal(text, "a (4), of-16-characters (3), b (3)");
	comms_describe(&comms, text, 10);
	assert_string_equal(text, "a (4)");
	comms_clear(&comms);
}

/* Whatever number of names processes make up. */
static void the_number_of_names_is_bounded(void **state)
{
	struct comms comms = { 0 };
	char name[TALLY_COMM_SIZE], text[100];

	(void)state;
	for (uint32_t i = 0; i < COMMS_MAX + 10; i++) {
		snprintf(name, sizeof(name), "%u", i);
		add(&comms, name, 1);
	}
	assert_int_equal(comms.n, COMMS_MAX);
	add(&comms, "7", 8);
	comms_describe(&comms, text, sizeof(text));
	assert_memory_equal(text, "7 (9), 0 (1)", 12);
	comms_clear(&comms);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_most_frequent_are_named),
		cmocka_unit_test(the_number_of_names_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
