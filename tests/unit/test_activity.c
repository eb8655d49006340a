// SPDX-License-Identifier: GPL-2.0-or-later
/* The thread that reads an event counter every 20 ms. */
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "live/activity.h"

/* How far the clock that the thread reads is ahead of the one by which it sleeps. */
static _Atomic long seconds_ahead;

/* In place of libc's: a machine that has just started has no hours to be late by. */
int clock_gettime(clockid_t clock, struct timespec *ret_now)
{
	long r = syscall(SYS_clock_gettime, clock, ret_now);

	ret_now->tv_sec += seconds_ahead;
	return (int)r;
}

struct counter {
	uint64_t events, step, more; /* the next step is `more` longer */
	long seconds_late;	     /* the thread has its time so much later */
	sem_t read;
};

static uint64_t events(void *context)
{
	struct counter *counter = context;

	counter->events += counter->step;
	counter->step += counter->more;
	seconds_ahead = counter->seconds_late;
	sem_post(&counter->read);
	return counter->events;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Waits until the counter was read `n` times. All reads but the last are in the bins then. */
static void await_reads(struct counter *counter, int n)
{
	for (int i = 0; i < n; i++)
		assert_int_equal(sem_wait(&counter->read), 0);
}

static uint64_t sum(const uint32_t *bins, uint32_t n)
{
	uint64_t all = 0;

	for (uint32_t i = 0; i < n; i++)
		all += bins[i];
	return all;
}

static void bins_add_up_to_the_events(void **state)
{
	static struct counter counter = { .step = 1000, .more = 1000 };
	struct activity *activity = NULL;
	uint32_t bins[512], again, n;
	uint64_t first = 77, all = 0;

	(void)state;
	sem_init(&counter.read, 0, 0);
	assert_int_equal(activity_start(events, &counter, now_ns(), &activity), 0);
	assert_int_equal(activity_read(activity, 0, bins, 0, &first), 0);
	assert_int_equal(first, 0);
	await_reads(&counter, 4);
	n = activity_read(activity, 0, bins, 512, &first);
	assert_int_equal(first, 0);
	assert_true(n >= 3);
	/* The reads count 1000, 2000, 3000 ... events, however late they are. */
	for (uint64_t step = 1000; all < sum(bins, n); step += 1000)
		all += step;
	assert_int_equal(sum(bins, n), all);
	assert_true(all >= 6000);
	/* Reads can begin at any bin. */
	assert_int_equal(activity_read(activity, n - 1, &again, 1, &first), 1);
	assert_int_equal(first, n - 1);
	assert_int_equal(again, bins[n - 1]);
	assert_int_equal(activity_read(activity, 1 << 20, bins, 512, &first), 0);
	activity_stop(activity);
	activity_stop(NULL);
}

/* If the thread is late by more bins than are kept, all events are spread over the kept ones. */
static void events_of_a_late_thread_are_spread(void **state)
{
	enum { bins_late = ACTIVITY_BINS + 1000 };
	static struct counter counter = {
		.step = ACTIVITY_BINS * 3ull,
		.seconds_late = bins_late * ACTIVITY_BIN_MS / 1000,
	};
	struct activity *activity = NULL;
	uint32_t bins[512], n;
	uint64_t first;

	(void)state;
	sem_init(&counter.read, 0, 0);
	assert_int_equal(activity_start(events, &counter, now_ns(), &activity), 0);
	await_reads(&counter, 1);
	do {
		n = activity_read(activity, 0, bins, 512, &first);
	} while (n == 0);
	assert_int_equal(n, 512);
	assert_true(first >= 1000);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(bins[i], 3);
	activity_stop(activity);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bins_add_up_to_the_events),
		cmocka_unit_test(events_of_a_late_thread_are_spread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
