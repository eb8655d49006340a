// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hangs [calm]: a server that hangs. Prints `ready PID` when its threads are, or are about to be,
 * where they stay: two that each have a lock that the other one waits for, one that has a lock
 * twice, one that runs, one that reads from an empty pipe, one whose vfork()ed child sleeps, so
 * that it cannot be interrupted (not if it is calm: no debugger can attach to that), and main,
 * which waits for the end of one of them.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t twice = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t ready;
static int nothing[2];
volatile uint64_t sink;

static void *take_one_then_other(void *unused)
{
	prctl(PR_SET_NAME, "transfer-1");
	pthread_mutex_lock(&one);
	pthread_barrier_wait(&ready);
	pthread_mutex_lock(&other);
	return unused;
}

static void *take_other_then_one(void *unused)
{
	prctl(PR_SET_NAME, "transfer-2");
	pthread_mutex_lock(&other);
	pthread_barrier_wait(&ready);
	pthread_mutex_lock(&one);
	return unused;
}

static void *take_twice(void *unused)
{
	prctl(PR_SET_NAME, "again");
	pthread_mutex_lock(&twice);
	pthread_barrier_wait(&ready);
	pthread_mutex_lock(&twice);
	return unused;
}

static void *run(void *unused)
{
	prctl(PR_SET_NAME, "runner");
	pthread_barrier_wait(&ready);
	for (;;)
		sink++;
	return unused;
}

static void *read_nothing(void *unused)
{
	char byte;

	prctl(PR_SET_NAME, "reader");
	pthread_barrier_wait(&ready);
	(void)!read(nothing[0], &byte, 1);
	return unused;
}

static void *wait_for_child(void *unused)
{
	prctl(PR_SET_NAME, "parent");
	pthread_barrier_wait(&ready);
	if (vfork() == 0) {
		prctl(PR_SET_PDEATHSIG, 9);
		for (;;)
			pause();
	}
	return unused;
}

int main(int argc, char **argv)
{
	void *(*const starts[])(void *) = { take_one_then_other, take_other_then_one,
					    take_twice,		 run,
					    read_nothing,	 wait_for_child };
	const unsigned int n = sizeof(starts) / sizeof(starts[0]) - (argc > 1);
	pthread_t threads[sizeof(starts) / sizeof(starts[0])];

	(void)argv;
	pthread_barrier_init(&ready, NULL, n + 1);
	if (pipe(nothing) < 0)
		return 1;
	for (unsigned int i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, starts[i], NULL))
			return 1;
	pthread_barrier_wait(&ready);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	pthread_join(threads[0], NULL);
	return 0;
}
