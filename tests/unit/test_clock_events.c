// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trigger/clock_events.h"

static void assert_event(const char *name, uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = { 0 };

	assert_int_equal(clock_event_by_name(name, &attr, NULL), 0);
	assert_int_equal(attr.type, type);
	assert_int_equal(attr.config, config);
}

/* The numbers are those of `perf stat -vv -e NAME`. */
static void events_go_by_the_names_of_perf(void **state)
{
	static const struct {
		const char *name;
		uint32_t type;
		uint64_t config;
	} plain[] = {
		{ "cpu-clock", 1, 0 },
		{ "task-clock", 1, 1 },
		{ "page-faults", 1, 2 },
		{ "faults", 1, 2 },
		{ "context-switches", 1, 3 },
		{ "cs", 1, 3 },
		{ "cpu-migrations", 1, 4 },
		{ "migrations", 1, 4 },
		{ "minor-faults", 1, 5 },
		{ "major-faults", 1, 6 },
		{ "alignment-faults", 1, 7 },
		{ "emulation-faults", 1, 8 },
		{ "cycles", 0, 0 },
		{ "cpu-cycles", 0, 0 },
		{ "instructions", 0, 1 },
		{ "cache-references", 0, 2 },
		{ "cache-misses", 0, 3 },
		{ "branches", 0, 4 },
		{ "branch-instructions", 0, 4 },
		{ "branch-misses", 0, 5 },
		{ "bus-cycles", 0, 6 },
		{ "stalled-cycles-frontend", 0, 7 },
		{ "stalled-cycles-backend", 0, 8 },
		{ "ref-cycles", 0, 9 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		assert_event(plain[i].name, plain[i].type, plain[i].config);
	assert_event("L1-dcache-loads", 3, 0);
	assert_event("L1-dcache-load-misses", 3, 0x10000);
	assert_event("LLC-stores", 3, 0x102);
	assert_event("dTLB-load-misses", 3, 0x10003);
	assert_event("r1a8", 4, 0x1a8);
	assert_event("rFFFFFFFFFFFFFFFF", 4, UINT64_MAX);
}

static void modifiers_exclude_the_other_side(void **state)
{
	struct perf_event_attr attr = { 0 };

	(void)state;
	assert_int_equal(clock_event_by_name("cycles:u", &attr, NULL), 0);
	assert_true(attr.exclude_kernel && !attr.exclude_user);
	memset(&attr, 0, sizeof(attr));
	assert_int_equal(clock_event_by_name("cpu-clock:k", &attr, NULL), 0);
	assert_true(attr.exclude_user && !attr.exclude_kernel);
	assert_int_equal(clock_event_by_name("cycles:ppp", &attr, NULL), -EINVAL);
}

static void others_are_refused_by_name(void **state)
{
	static const char *const names[] = { "",      "cycle", "cyclesx", "L1-dcache",
					     "r",     "rxyz",  "-loads",  "r11111111111111111",
					     "CYCLES" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct perf_event_attr attr = { 0 };
		struct error err = { 0 };

		assert_int_equal(clock_event_by_name(names[i], &attr, &err), -ENOENT);
		assert_non_null(strstr(err.text, names[i]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_go_by_the_names_of_perf),
		cmocka_unit_test(modifiers_exclude_the_other_side),
		cmocka_unit_test(others_are_refused_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
