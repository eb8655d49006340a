// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sc_values N: N times, a number of bytes is given, with different values on each turn,
 * along two ways, and fires the probe sc_values:given. It prints what the values add up to:
 *
 *   given EVENTS SUM       all
 *   large EVENTS SUM       of those, where SIZE > 1000
 *   named EVENTS           where PATH is "/etc/large"
 *   failed EVENTS          where CODE is below 0
 *
 * All CPUs do that, each with a thread of its own.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sdt.h>
#include <unistd.h>

#define MAX_THREADS 64

struct sums {
	uint64_t given, given_sum, large, large_sum, named, failed;
};

static unsigned long turns;

static const char *const paths[] = { "/etc/small", "/etc/large" };

__attribute__((noipa)) long sc_give(uint64_t size, int code, const char *path)
{
	DTRACE_PROBE3(sc_values, given, size, code, path);
	return code < 0 ? code : (long)size;
}

__attribute__((noipa)) long sc_small(uint64_t i)
{
	long given = sc_give(i % 900, i % 10 ? 0 : -5, paths[0]);

	return given + 1;
}

__attribute__((noipa)) long sc_large(uint64_t i)
{
	long given = sc_give(1000 + i, 7, paths[1]);

	return given + 1;
}

static void *give_all(void *context)
{
	struct sums *sums = context;

	for (uint64_t i = 0; i < turns; i++) {
		long small = sc_small(i), large = sc_large(i);

		sums->given += 2;
		sums->given_sum += i % 900 + 1000 + i;
		sums->large += 1000 + i > 1000;
		sums->large_sum += 1000 + i > 1000 ? 1000 + i : 0;
		sums->named++;
		sums->failed += small < 0;
		if (large < 0)
			abort();
	}
	return NULL;
}

static void on_cpu(pthread_t thread, long cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	pthread_setaffinity_np(thread, sizeof(set), &set);
}

int main(int argc, char **argv)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	struct sums each[MAX_THREADS] = { 0 }, all = { 0 };
	pthread_t threads[MAX_THREADS];

	if (argc != 2)
		return 2;
	/* The kernel reads strings in memory that is there: that of these is from now on. */
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (!*(const volatile char *)paths[i])
			return 1;
	turns = strtoul(argv[1], NULL, 10);
	n = n > MAX_THREADS ? MAX_THREADS : n;
	for (long i = 0; i < n; i++) {
		if (pthread_create(&threads[i], NULL, give_all, &each[i]) != 0)
			return 1;
		on_cpu(threads[i], i);
	}
	for (long i = 0; i < n; i++) {
		pthread_join(threads[i], NULL);
		all.given += each[i].given;
		all.given_sum += each[i].given_sum;
		all.large += each[i].large;
		all.large_sum += each[i].large_sum;
		all.named += each[i].named;
		all.failed += each[i].failed;
	}
	printf("given %lu %lu\nlarge %lu %lu\nnamed %lu\nfailed %lu\n", all.given, all.given_sum,
	       all.large, all.large_sum, all.named, all.failed);
	return 0;
}
