// SPDX-License-Identifier: GPL-2.0-or-later
/* Warnings on what a report lacks. Reports of this kind: samples are missing, and nothing says so.
 */
#include "view/warnings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void says(const struct tally_losses *losses, const char *text)
{
	char line[WARNINGS_LINE_SIZE] = "";

	if (!text) {
		assert_false(warnings_line(NULL, losses, 0, 0, line));
		return;
	}
	assert_true(warnings_line(NULL, losses, 0, 0, line));
	assert_string_equal(line, text);
	assert_false(warnings_line(NULL, losses, 0, 1, line));
}

static void what_never_came_has_its_causes(void **state)
{
	(void)state;
	says(&(struct tally_losses){ .due = 5000 }, NULL);
	says(&(struct tally_losses){ .due = 5000, .due_stolen = 2, .due_late = 3 },
	     "5 of 5000 samples that were due, of any process, never came (0.1 %): the host had "
	     "taken the CPU (2); the CPUs took no interrupt in time (3)");
	says(&(struct tally_losses){ .due = 1000, .due_throttled = 250 },
	     "WARNING: 250 of 1000 samples that were due, of any process, never came (25 %): the "
	     "kernel throttled the event (250): sample less often with -F");
	says(&(struct tally_losses){ .due = 1000, .due_late = 500 },
	     "WARNING: 500 of 1000 samples that were due, of any process, never came (50 %): the "
	     "CPUs took no interrupt in time (500): sample less often with -F");
}

static void the_longest_line_has_room(void **state)
{
	const struct tally_losses most = { .due = UINT64_MAX,
					   .due_throttled = UINT64_MAX / 4,
					   .due_stolen = UINT64_MAX / 4,
					   .due_late = UINT64_MAX / 4 };
	char line[WARNINGS_LINE_SIZE];

	(void)state;
	assert_true(warnings_line(NULL, &most, 0, 0, line));
	assert_true(strlen(line) + 1 < WARNINGS_LINE_SIZE);
	assert_string_equal(line + strlen(line) - strlen("with -F"), "with -F");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_never_came_has_its_causes),
		cmocka_unit_test(the_longest_line_has_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
