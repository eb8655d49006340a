// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sc_times WHAT...: makes calls and measures them itself; for each WHAT it prints lines
 * `NAME CALLS INNER OUTER LARGEST_INNER LARGEST_OUTER`, of the outermost calls that return: ns of
 * what they do, and from before the call until after it. A call takes a time between these.
 *
 *   plain     30 calls from two callers, of which the second waits longer
 *   recursion 10 calls, each 5 deep
 *   threads   4 threads with 10 calls each, at the same time
 *   jump      5 calls that longjmp() leaves, and 5 that return after them
 *   exit      3 threads that end within a call
 *   tail      10 calls of a function that ends with a jump to another one
 *   sleep     10 sleeps of 50 ms, each a call of hrtimer_nanosleep() in the kernel
 *   fork      5 calls in which a child is forked, which returns as well
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

static uint64_t now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return (uint64_t)at.tv_sec * 1000000000 + (uint64_t)at.tv_nsec;
}

static _Thread_local uint64_t inner; /* ns that this thread has passed so far */

static void pass(unsigned us)
{
	uint64_t began = now(), at;

	do
		at = now();
	while (at < began + us * 1000ull);
	inner += at - began;
}

/* ---- what is measured */

__attribute__((noipa)) void st_work(unsigned us)
{
	pass(us);
}

__attribute__((noipa)) void st_recursive(unsigned us, int depth)
{
	pass(us);
	if (depth > 1)
		st_recursive(us, depth - 1);
	sink++;
}

__attribute__((noipa)) void st_last(unsigned us)
{
	pass(us);
}

__attribute__((noipa, optimize("O2"))) void st_tail(unsigned us)
{
	pass(us);
	st_last(us);
}

static jmp_buf back;

__attribute__((noipa)) void st_jump(int leave)
{
	pass(3000);
	if (leave)
		longjmp(back, 1);
}

__attribute__((noipa)) void st_exit(void)
{
	pass(2000);
	pthread_exit(NULL);
}

/* ---- who calls it */

struct measured {
	unsigned long calls;
	uint64_t inner, outer, largest_inner, largest_outer;
};

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void add(struct measured *measured, uint64_t of_inner, uint64_t of_outer)
{
	measured->calls++;
	measured->inner += of_inner;
	measured->outer += of_outer;
	measured->largest_inner = larger(measured->largest_inner, of_inner);
	measured->largest_outer = larger(measured->largest_outer, of_outer);
}

static void print(const char *name, const struct measured *measured)
{
	printf("%s %lu %lu %lu %lu %lu\n", name, measured->calls, measured->inner, measured->outer,
	       measured->largest_inner, measured->largest_outer);
	fflush(stdout);
}

#define MEASURE(measured, call)                                                                    \
	do {                                                                                       \
		uint64_t before = inner, began = now();                                            \
                                                                                                   \
		call;                                                                              \
		add(measured, inner - before, now() - began);                                      \
	} while (0)

__attribute__((noipa)) void st_caller_short(struct measured *measured)
{
	MEASURE(measured, st_work(2000));
}

__attribute__((noipa)) void st_caller_long(struct measured *measured)
{
	MEASURE(measured, st_work(8000));
}

static void plain(void)
{
	struct measured shorter = { 0 }, longer = { 0 };

	for (int i = 0; i < 20; i++)
		st_caller_short(&shorter);
	for (int i = 0; i < 10; i++)
		st_caller_long(&longer);
	print("st_caller_short", &shorter);
	print("st_caller_long", &longer);
}

static void recursion(void)
{
	struct measured measured = { 0 };

	for (int i = 0; i < 10; i++)
		MEASURE(&measured, st_recursive(1000, 5));
	print("st_recursive", &measured);
}

static void *thread(void *measured)
{
	for (int i = 0; i < 10; i++)
		MEASURE(measured, st_work(5000));
	return NULL;
}

static void *ending(void *unused)
{
	st_exit();
	return unused;
}

static void threads(int n, void *(*begin)(void *), const char *name)
{
	struct measured each[8] = { 0 }, sum = { 0 };
	pthread_t ids[8];

	for (int i = 0; i < n; i++)
		pthread_create(&ids[i], NULL, begin, &each[i]);
	for (int i = 0; i < n; i++) {
		pthread_join(ids[i], NULL);
		sum.calls += each[i].calls;
		sum.inner += each[i].inner;
		sum.outer += each[i].outer;
		sum.largest_inner = larger(sum.largest_inner, each[i].largest_inner);
		sum.largest_outer = larger(sum.largest_outer, each[i].largest_outer);
	}
	print(name, &sum);
}

static void jump(void)
{
	static struct measured measured;
	static int i;

	for (i = 0; i < 5; i++)
		if (!setjmp(back))
			st_jump(1);
	for (i = 0; i < 5; i++)
		MEASURE(&measured, st_jump(0));
	print("st_jump", &measured);
}

static void tail(void)
{
	struct measured measured = { 0 };

	for (int i = 0; i < 10; i++)
		MEASURE(&measured, st_tail(1000));
	print("st_tail", &measured);
}

static void sleep_often(void)
{
	const struct timespec time = { .tv_nsec = 50000000 };
	struct measured measured = { 0 };

	for (int i = 0; i < 10; i++) {
		MEASURE(&measured, nanosleep(&time, NULL));
		measured.inner += 50000000;
	}
	measured.largest_inner = 50000000;
	print("sleep_often", &measured);
}

__attribute__((noipa)) pid_t st_fork(void)
{
	pass(2000);
	return fork();
}

static void fork_often(void)
{
	struct measured measured = { 0 };
	pid_t child = 0;

	for (int i = 0; i < 5; i++) {
		MEASURE(&measured, child = st_fork());
		if (child == 0)
			_exit(0);
		waitpid(child, NULL, 0);
	}
	print("st_fork", &measured);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "plain"))
			plain();
		else if (!strcmp(argv[i], "recursion"))
			recursion();
		else if (!strcmp(argv[i], "threads"))
			threads(4, thread, "thread");
		else if (!strcmp(argv[i], "jump"))
			jump();
		else if (!strcmp(argv[i], "exit"))
			threads(3, ending, "ending");
		else if (!strcmp(argv[i], "tail"))
			tail();
		else if (!strcmp(argv[i], "sleep"))
			sleep_often();
		else if (!strcmp(argv[i], "fork"))
			fork_often();
		else
			return 2;
	}
	return 0;
}
