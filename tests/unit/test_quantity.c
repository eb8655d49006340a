// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/duration.h"
#include "view/quantity.h"

static void durations_have_four_digits(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} examples[] = {
		{ 0, "0 ns" },
		{ 999, "999 ns" },
		{ 1000, "1.000 \xc2\xb5s" },
		{ 56789, "56.79 \xc2\xb5s" },
		{ 123456789, "123.5 ms" },
		{ 1500000000, "1.500 s" },
		{ 98765432100000, "98765 s" },
	};
	char text[DURATION_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
		assert_string_equal(duration_text(examples[i].ns, text, sizeof(text)),
				    examples[i].text);
}

static void times_are_microseconds_in_text(void **state)
{
	const struct profile_meta timed = { .command = "profile", .timed = true };
	const struct profile_meta samples = { .command = "profile" };
	char text[QUANTITY_SIZE];

	(void)state;
	assert_int_equal(quantity_number(&timed, 1499), 1);
	assert_int_equal(quantity_number(&timed, 1500), 2);
	assert_int_equal(quantity_number(&timed, UINT64_MAX), UINT64_MAX / 1000 + 1);
	assert_int_equal(quantity_number(&samples, 1499), 1499);
	assert_string_equal(quantity_number_unit(&timed), "us");
	assert_string_equal(quantity_unit(&timed), "ns");
	quantity_text(&timed, 1500000000, text);
	assert_string_equal(text, "1.500 s");
	quantity_text(&samples, 1234567, text);
	assert_string_equal(text, "1,234,567 samples");
}

static void what_is_awaited_is_what_is_counted(void **state)
{
	const struct profile_meta samples = { .command = "profile" },
				  absences = { .command = "profile", .timed = true },
				  calls = { .command = "stackcount",
					    .measure = "time",
					    .unit = "nanoseconds",
					    .summed = true },
				  blocks = { .command = "stackcount",
					     .measure = "outstanding",
					     .unit = "bytes",
					     .summed = true };

	(void)state;
	assert_string_equal(quantity_awaited(&samples), "samples");
	assert_string_equal(quantity_awaited(&absences), "absences");
	assert_string_equal(quantity_awaited(&calls), "calls");
	assert_string_equal(quantity_awaited(&blocks), "blocks");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations_have_four_digits),
		cmocka_unit_test(times_are_microseconds_in_text),
		cmocka_unit_test(what_is_awaited_is_what_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
