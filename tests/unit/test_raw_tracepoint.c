// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "trigger/raw_tracepoint.h"

static FILE *text_of(const char *text)
{
	FILE *file = fmemopen((void *)text, strlen(text), "r");

	assert_non_null(file);
	return file;
}

static bool serve(const char *dynamic, const struct event *events, uint32_t n)
{
	FILE *file = dynamic ? text_of(dynamic) : NULL;
	bool served = raw_tracepoints_serve(events, n, file);

	if (file)
		fclose(file);
	return served;
}

static const struct event some[] = {
	{ .name = "mine:sched_switch" },
	{ .name = "raw_syscalls:sys_enter" },
	{ .name = "sched:sched_switch" },
};

static void of_a_category(void **state)
{
	const struct event call[] = { { .name = "raw_syscalls:sys_enter" },
				      { .name = "syscalls:sys_enter_read" } };
	const struct event lock[] = { { .name = "lock:contention_begin" } };
	const struct event other[] = { { .name = "filelock:locks_get_lock_context" } };

	(void)state;
	assert_true(serve(NULL, some, 3));
	assert_true(serve(NULL, call, 1));
	assert_false(serve(NULL, call, 2));
	assert_false(serve(NULL, lock, 1));
	assert_true(serve(NULL, other, 1));
}

static void not_made_by_somebody(void **state)
{
	(void)state;
	assert_true(serve("p:mine/sched_wakeup /bin/ls:0x1000\n", some, 3));
	assert_true(serve("p:mine/sched_switches /bin/ls:0x1000\n", some, 3));
	assert_false(serve("p:mine/sched_switch /bin/ls:0x1000\n", some, 3));
	assert_true(serve("p:mine/sched_switch /bin/ls:0x1000\n", some + 1, 2));
	assert_false(serve("r:other/x c:0\nr16:mine/sched_switch vfs_read arg=$retval\n", some, 3));
	assert_false(serve("s:mine/sched_switch\tu64 lat; pid_t pid;\n", some, 3));
	assert_false(serve("e:mine/sched_switch sched.sched_switch a=$b", some, 3));
	assert_true(serve("no such line\n:\np:\np:mine\n", some, 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_a_category),
		cmocka_unit_test(not_made_by_somebody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
