// SPDX-License-Identifier: GPL-2.0-or-later
/* Processes with interpreters that sleep nearly all the time (interpreters/idle.h). */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "interpreters/idle.h"

static void test_set(void **state)
{
	struct idle_set set = { 0 };

	(void)state;
	assert_int_equal(idle_add(&set, 30, 1u << LANGUAGE_PERL), 0);
	assert_int_equal(idle_add(&set, 10, 1u << LANGUAGE_PYTHON), 0);
	assert_int_equal(idle_add(&set, 20, 1u << LANGUAGE_RUBY), 0);
	assert_int_equal(idle_languages(&set, 10), 1u << LANGUAGE_PYTHON);
	assert_int_equal(idle_languages(&set, 20), 1u << LANGUAGE_RUBY);
	assert_int_equal(idle_languages(&set, 30), 1u << LANGUAGE_PERL);
	assert_int_equal(idle_languages(&set, 9), 0);
	assert_int_equal(idle_languages(&set, 15), 0);
	assert_int_equal(idle_languages(&set, 31), 0);
	assert_int_equal(idle_take(&set, 15), 0);
	assert_int_equal(idle_take(&set, 20), 1u << LANGUAGE_RUBY);
	assert_int_equal(idle_take(&set, 20), 0);
	assert_int_equal(idle_take(&set, 10), 1u << LANGUAGE_PYTHON);
	assert_int_equal(idle_take(&set, 30), 1u << LANGUAGE_PERL);
	assert_int_equal(set.n, 0);
	idle_clear(&set);
}

static pid_t start(bool works)
{
	pid_t child = fork();

	assert_true(child >= 0);
	while (child == 0)
		if (!works)
			pause();
	return child;
}

static void test_process(void **state)
{
	pid_t sleeps = start(false), works = start(true), ended;
	const struct timespec moment = { .tv_nsec = 50000000 };
	bool was_idle = false;
	int young = 0;

	(void)state;
	assert_false(idle_process(sleeps));
	/* It is idle once it has slept for 5 s; seconds since boot are whole ones. */
	for (int i = 0; i < 400 && !was_idle; i++) {
		nanosleep(&moment, NULL);
		was_idle = idle_process(sleeps);
		young += !was_idle;
	}
	assert_true(was_idle);
	assert_in_range(young, 60, 400);
	assert_false(idle_process(works));
	kill(sleeps, SIGKILL);
	kill(works, SIGKILL);
	ended = sleeps;
	waitpid(sleeps, NULL, 0);
	waitpid(works, NULL, 0);
	assert_false(idle_process(ended));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
