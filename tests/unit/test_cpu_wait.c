// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/cpu_wait.h"

#define N_CHILDREN 3

static void spin(uint64_t ns)
{
	uint64_t end = monotonic_ns() + ns;

	while (monotonic_ns() < end)
		;
}

/* Three children on one CPU wait two thirds of the time each; this process, that sleeps, does not.
 */
static void test_children_wait(void **state)
{
	struct timespec second = { .tv_sec = 1 };
	pid_t children[N_CHILDREN];
	uint64_t before, after;
	cpu_set_t one;

	(void)state;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one); /* of the children, too, from their start on */
	for (int i = 0; i < N_CHILDREN; i++) {
		children[i] = fork();
		if (children[i] == 0) {
			spin(60 * NS_PER_SECOND);
			_exit(0);
		}
	}
	spin(100 * NS_PER_MS);
	before = cpu_wait_ns();
	nanosleep(&second, NULL);
	after = cpu_wait_ns();
	for (int i = 0; i < N_CHILDREN; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
	assert_true(after - before > 1500 * NS_PER_MS);
	/* Children that have ended do not count. */
	assert_true(cpu_wait_ns() < after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_children_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
