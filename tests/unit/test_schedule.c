// SPDX-License-Identifier: GPL-2.0-or-later
/* When the caller of a session has to act. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "session/schedule.h"

#define S     NS_PER_SECOND
#define START (1000 * S)

/* What is due at START + `ns`; -1: nothing. */
static int due(struct schedule *schedule, uint64_t ns)
{
	enum session_event event;

	return schedule_is_due(schedule, START + ns, false, false, &event) ? (int)event : -1;
}

static void nothing_is_due_without_a_plan_for_it(void **state)
{
	const struct plan plan = { 0 };
	struct schedule schedule = schedule_begin(&plan, START);

	(void)state;
	assert_int_equal(due(&schedule, 0), -1);
	assert_int_equal(due(&schedule, 1000000 * S), -1);
	assert_int_equal(schedule_end(&schedule), UINT64_MAX);
	assert_int_equal(schedule_next(&schedule, START + 7), START + 7);
}

static void the_duration_is_the_end(void **state)
{
	const struct plan plan = { .duration = 2.5 };
	struct schedule schedule = schedule_begin(&plan, START);

	(void)state;
	assert_int_equal(schedule_end(&schedule), START + 5 * S / 2);
	assert_int_equal(schedule_next(&schedule, START + S), START + S);
	assert_int_equal(schedule_next(&schedule, START + 9 * S), START + 5 * S / 2);
}

static void the_end_can_be_put_off_until_a_limit(void **state)
{
	const struct plan plan = { .duration = 2 };
	struct schedule schedule = schedule_begin(&plan, START);

	(void)state;
	schedule_put_off(&schedule, START, S, START + 10 * S);
	assert_int_equal(schedule_end(&schedule), START + 2 * S); /* no end comes earlier by it */
	schedule_put_off(&schedule, START + 2 * S, S, START + 10 * S);
	assert_int_equal(schedule_end(&schedule), START + 3 * S);
	schedule_put_off(&schedule, START + 3 * S, 20 * S, START + 10 * S);
	assert_int_equal(schedule_end(&schedule), START + 10 * S);
	schedule_put_off(&schedule, START + 11 * S, S, START + 10 * S);
	assert_int_equal(schedule_end(&schedule), START + 10 * S);
	assert_int_equal(schedule_next(&schedule, START + 99 * S), START + 10 * S);
}

/* Intervals do not drift: one that is reported late does not make the next one late. */
static void intervals_follow_each_other(void **state)
{
	const struct plan plan = { .interval = 10 };
	struct schedule schedule = schedule_begin(&plan, START);

	(void)state;
	assert_int_equal(schedule_next(&schedule, UINT64_MAX), START + 10 * S);
	assert_int_equal(due(&schedule, 10 * S - 1), -1);
	assert_int_equal(due(&schedule, 14 * S), SESSION_INTERVAL);
	assert_int_equal(schedule_next(&schedule, UINT64_MAX), START + 20 * S);
	/* Each has its report, even if it is late by more than one. */
	assert_int_equal(due(&schedule, 31 * S), SESSION_INTERVAL);
	assert_int_equal(due(&schedule, 31 * S), SESSION_INTERVAL);
	assert_int_equal(due(&schedule, 31 * S), -1);
	assert_int_equal(schedule_next(&schedule, UINT64_MAX), START + 40 * S);
}

static void missed_refreshes_and_slices_are_skipped(void **state)
{
	const struct plan plan = { .tick = 1, .slice = 0.1 };
	struct schedule schedule = schedule_begin(&plan, START);

	(void)state;
	assert_int_equal(due(&schedule, S / 10), SESSION_SLICE);
	assert_int_equal(due(&schedule, S / 10), -1);
	assert_int_equal(due(&schedule, 35 * S / 10), SESSION_TICK);
	assert_int_equal(due(&schedule, 35 * S / 10), SESSION_SLICE);
	assert_int_equal(due(&schedule, 35 * S / 10), -1);
	assert_int_equal(schedule_next(&schedule, UINT64_MAX), START + 36 * S / 10);
	assert_int_equal(due(&schedule, 4 * S - 1), SESSION_SLICE);
	assert_int_equal(due(&schedule, 4 * S), SESSION_TICK);
}

static void the_report_of_an_interval_is_a_refresh(void **state)
{
	const struct plan plan = { .interval = 2, .tick = 1 };
	struct schedule schedule = schedule_begin(&plan, START);

	(void)state;
	assert_int_equal(due(&schedule, S), SESSION_TICK);
	assert_int_equal(due(&schedule, 2 * S), SESSION_INTERVAL);
	assert_int_equal(due(&schedule, 2 * S), -1);
	assert_int_equal(due(&schedule, 3 * S), SESSION_TICK);
}

static void slices_are_long_while_walks_wait(void **state)
{
	const struct plan plan = { .slice = 0.1 };
	struct schedule schedule = schedule_begin(&plan, START);
	enum session_event event = SESSION_ENDED;

	(void)state;
	assert_false(schedule_is_due(&schedule, START + S / 10, false, true, &event));
	assert_int_equal(event, SESSION_ENDED);
	/* The time of that slice is over; the next one is due as ever. */
	assert_int_equal(due(&schedule, S / 10), -1);
	assert_int_equal(due(&schedule, S / 5), SESSION_SLICE);
}

static void a_reload_begins_an_interval(void **state)
{
	const struct plan plan = { .interval = 10, .tick = 1 };
	struct schedule schedule = schedule_begin(&plan, START);
	enum session_event event = SESSION_ENDED;

	(void)state;
	assert_true(schedule_is_due(&schedule, START + 7 * S, true, false, &event));
	assert_int_equal(event, SESSION_RELOAD);
	assert_int_equal(due(&schedule, 7 * S), SESSION_TICK);
	assert_int_equal(due(&schedule, 17 * S - 1), SESSION_TICK);
	assert_int_equal(due(&schedule, 17 * S), SESSION_INTERVAL);
}

static void the_trigger_ticks_each_second(void **state)
{
	const struct plan plan = { 0 };
	struct schedule schedule = schedule_begin(&plan, START);

	(void)state;
	assert_false(schedule_tick_is_due(&schedule, START + S - 1));
	assert_true(schedule_tick_is_due(&schedule, START + S));
	assert_false(schedule_tick_is_due(&schedule, START + 2 * S - 1));
	assert_true(schedule_look_is_due(&schedule, START));
	assert_false(schedule_look_is_due(&schedule, START + S / 10 - 1));
	assert_true(schedule_look_is_due(&schedule, START + S / 10));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_due_without_a_plan_for_it),
		cmocka_unit_test(the_duration_is_the_end),
		cmocka_unit_test(the_end_can_be_put_off_until_a_limit),
		cmocka_unit_test(intervals_follow_each_other),
		cmocka_unit_test(missed_refreshes_and_slices_are_skipped),
		cmocka_unit_test(the_report_of_an_interval_is_a_refresh),
		cmocka_unit_test(slices_are_long_while_walks_wait),
		cmocka_unit_test(a_reload_begins_an_interval),
		cmocka_unit_test(the_trigger_ticks_each_second),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
