// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The programs that the benchmarks measure. Built with frame pointers and without inlining.
 *
 *	workload deep|syscalls|mixed		keeps every CPU busy until it is killed
 *	workload getppid|getpgrp|switches|calls N [D]	does it N times, D calls deep, and prints
 *							the ns that each took
 *	workload blocks N [D]	allocates and frees, but for one in a thousand
 *	workload small N [D]	getpgrp, below D of 100 functions of some 50 bytes each
 */
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEEP 60

static volatile uint64_t sink;

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- until killed ---- */

static void spin(uint32_t rounds)
{
	for (uint32_t i = 0; i < rounds; i++)
		sink += i;
}

/* Called on the way down and up, so that no two frames of a stack need be the same. */
static void recurse(uint32_t depth, void (*leaf)(void))
{
	if (depth == 0)
		leaf();
	else
		recurse(depth - 1, leaf);
	sink++;
}

static void spin_long(void)
{
	spin(1u << 24);
}

static void deep(void)
{
	recurse(DEEP, spin_long);
}

static void ask_kernel(void)
{
	int fds[2];
	char bytes[512] = { 0 };

	if (pipe(fds) < 0)
		return;
	for (int i = 0; i < 1000; i++) {
		if (write(fds[1], bytes, sizeof(bytes)) < 0 ||
		    read(fds[0], bytes, sizeof(bytes)) < 0)
			break;
		syscall(SYS_getppid);
	}
	close(fds[0]);
	close(fds[1]);
}

static void syscalls(void)
{
	recurse(8, ask_kernel);
}

static void touch_memory(void)
{
	size_t size = 1u << 20;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return;
	for (size_t i = 0; i < size; i += 4096)
		memory[i] = 1;
	munmap(memory, size);
}

static void spin_short(void)
{
	spin(200000);
}

static void mixed(void)
{
	for (uint32_t depth = 2; depth < 40; depth += 3) {
		recurse(depth, spin_short);
		recurse(depth, touch_memory);
		if (depth % 4 == 0)
			recurse(depth, ask_kernel);
		sched_yield();
	}
}

static int keep_busy(void (*work)(void), int processes)
{
	pid_t parent = getpid();

	for (int i = 0; i < processes; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (pid > 0)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (getppid() == parent)
			work();
		_exit(0);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

/* ---- a number of times ---- */

/* Exported, so that tools find it by name. */
uint64_t measured_call(uint64_t value);

__attribute__((noinline)) uint64_t measured_call(uint64_t value)
{
	__asm__ volatile("" : "+r"(value));
	return value + 1;
}

static void call(uint64_t n)
{
	uint64_t value = 0;

	for (uint64_t i = 0; i < n; i++)
		value = measured_call(value);
	sink = value;
}

static void ask_parent(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		syscall(SYS_getppid);
}

/* A system call that hardly any other program makes. */
static void ask_group(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		syscall(SYS_getpgrp);
}

/* Two processes on one CPU that wait for each other: each message is one switch. */
static void take_turns(uint64_t n)
{
	int there[2], back[2];
	cpu_set_t one;
	char byte = 0;
	pid_t pid;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof(one), &one);
	if (pipe(there) < 0 || pipe(back) < 0)
		exit(1);
	pid = fork();
	if (pid < 0)
		exit(1);
	if (pid == 0) {
		close(there[1]);
		while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
			;
		_exit(0);
	}
	for (uint64_t i = 0; i < n / 2; i++)
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			exit(1);
	close(there[1]);
	waitpid(pid, NULL, 0);
}

static void *volatile kept;

static void allocate(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		void *block = malloc(100);

		if (i % 1000 == 999)
			kept = block;
		else
			free(block);
	}
}

static void repeat_deep(uint32_t depth, void (*work)(uint64_t), uint64_t n)
{
	if (depth == 0)
		work(n);
	else
		repeat_deep(depth - 1, work, n);
	sink++;
}

/* A hundred small functions, each of which calls the one behind it. */
typedef void descend(uint32_t depth, void (*work)(uint64_t), uint64_t n);
static descend small_100;

#define SMALL(number, next)                                                                        \
	static descend small_##next;                                                               \
	static void small_##number(uint32_t depth, void (*work)(uint64_t), uint64_t n)             \
	{                                                                                          \
		if (depth == 0)                                                                    \
			work(n);                                                                   \
		else                                                                               \
			small_##next(depth - 1, work, n);                                          \
		sink++;                                                                            \
	}
#define TEN_SMALL(tens, next)                                                                      \
	SMALL(tens##0, tens##1)                                                                    \
	SMALL(tens##1, tens##2)                                                                    \
	SMALL(tens##2, tens##3)                                                                    \
	SMALL(tens##3, tens##4)                                                                    \
	SMALL(tens##4, tens##5)                                                                    \
	SMALL(tens##5, tens##6)                                                                    \
	SMALL(tens##6, tens##7)                                                                    \
	SMALL(tens##7, tens##8)                                                                    \
	SMALL(tens##8, tens##9)                                                                    \
	SMALL(tens##9, next##0)

TEN_SMALL(0, 1)
TEN_SMALL(1, 2)
TEN_SMALL(2, 3)
TEN_SMALL(3, 4)
TEN_SMALL(4, 5)
TEN_SMALL(5, 6)
TEN_SMALL(6, 7)
TEN_SMALL(7, 8)
TEN_SMALL(8, 9)
TEN_SMALL(9, 10)

static void small_100(uint32_t depth, void (*work)(uint64_t), uint64_t n)
{
	(void)depth;
	work(n);
	sink++;
}

/* From the first few a tracer learns which process this is. */
#define FIRST_FEW      1000
#define SETTLE_TIME_NS 300000000

static int repeat(descend *down, void (*work)(uint64_t), uint64_t n, uint32_t depth,
		  clockid_t clock)
{
	uint64_t start, end;

	down(depth, work, FIRST_FEW);
	nanosleep(&(struct timespec){ .tv_nsec = SETTLE_TIME_NS }, NULL);
	start = now_ns(clock);
	down(depth, work, n - FIRST_FEW);
	end = now_ns(clock);
	printf("%.2f\n", (double)(end - start) / (double)(n - FIRST_FEW));
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*work)(void);
		int per_cpu;
	} busy[] = { { "deep", deep, 1 }, { "syscalls", syscalls, 1 }, { "mixed", mixed, 2 } };
	static const struct {
		const char *name;
		void (*work)(uint64_t);
		descend *down;
		clockid_t clock;
	} counted[] = { { "getppid", ask_parent, repeat_deep, CLOCK_MONOTONIC },
			{ "getpgrp", ask_group, repeat_deep, CLOCK_MONOTONIC },
			{ "switches", take_turns, repeat_deep, CLOCK_MONOTONIC },
			{ "calls", call, repeat_deep, CLOCK_MONOTONIC },
			/* Its own time: all of it is of this thread, also on a busy machine. */
			{ "blocks", allocate, repeat_deep, CLOCK_THREAD_CPUTIME_ID },
			{ "small", ask_group, small_00, CLOCK_MONOTONIC } };
	int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);

	for (size_t i = 0; argc == 2 && i < sizeof(busy) / sizeof(busy[0]); i++)
		if (strcmp(argv[1], busy[i].name) == 0)
			return keep_busy(busy[i].work, cpus * busy[i].per_cpu);
	for (size_t i = 0; argc >= 3 && argc <= 4 && i < sizeof(counted) / sizeof(counted[0]); i++)
		if (strcmp(argv[1], counted[i].name) == 0)
			return repeat(counted[i].down, counted[i].work, strtoull(argv[2], NULL, 10),
				      argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0,
				      counted[i].clock);
	fprintf(stderr, "usage: workload deep|syscalls|mixed, or "
			"getppid|getpgrp|switches|calls|blocks|small N [D]\n");
	return 2;
}
