// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sc_calls WHEN WHAT HOW_MUCH [THREADS]: makes the calls WHAT and prints how many turns it made.
 *
 * WHEN: `now`: once, then exits. `wait`: prints `ready PID`, then once for each SIGUSR1.
 * HOW_MUCH: the turns of each thread; or a time, if it ends with `ms`.
 * THREADS: 0 (default): main makes the calls. Thread i is named caller-i and stays on CPU i modulo
 * the number of CPUs; it prints `caller-i TID` first. `done N`: all threads made N turns.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAX_THREADS 1024

static volatile unsigned long sink;

/* ---- the functions to probe; their callers have frame pointers */

__attribute__((noipa)) void sc_counted(void)
{
	sink++;
}

extern void sc_alias(void) __attribute__((alias("sc_counted")));

__attribute__((noipa)) void sc_middle(void)
{
	sc_counted();
}

__attribute__((noipa)) void sc_outer(void)
{
	sc_middle();
}

__attribute__((noipa)) void sc_glob_one(void)
{
	sink++;
}

__attribute__((noipa)) void sc_glob_two(void)
{
	sink++;
}

__attribute__((noipa)) void sc_glob_three(void)
{
	sink++;
}

__attribute__((noipa)) void sc_globs(void)
{
	sc_glob_one();
	sc_glob_two();
	sc_glob_three();
}

/* No other program calls this one. */
__attribute__((noipa)) void sc_a64l(void)
{
	sink += (unsigned long)a64l("z");
}

__attribute__((noipa)) void sc_malloc(void)
{
	void *volatile memory = malloc(100);

	free(memory);
}

__attribute__((noipa)) void sc_getpgid(void)
{
	sink += (unsigned long)syscall(SYS_getpgid, 0);
}

static int zeros;

__attribute__((noipa)) void sc_pread(void)
{
	char buffer[64];

	if (pread(zeros, buffer, sizeof(buffer), 0) < 0)
		exit(1);
}

static void (*library_call)(void);

__attribute__((noipa)) void sc_library(void)
{
	library_call();
}

static const struct {
	const char *name;
	void (*call)(void);
} kinds[] = {
	{ "function", sc_outer }, { "alias", sc_alias },     { "globs", sc_globs },
	{ "a64l", sc_a64l },	  { "malloc", sc_malloc },   { "getpgid", sc_getpgid },
	{ "pread", sc_pread },	  { "library", sc_library },
};

/* ---- the turns */

static void (*call)(void);
static unsigned long n_turns, n_ms;
static int n_threads;
static unsigned long done[MAX_THREADS];
static pthread_barrier_t begins, ends;

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void turns(int i)
{
	double end = now_ms() + (double)n_ms;
	unsigned long n = 0;

	if (n_ms)
		for (; now_ms() < end; n++)
			call();
	else
		for (; n < n_turns; n++)
			call();
	done[i] = n;
}

static void *thread(void *argument)
{
	int i = (int)(long)argument;
	char name[16];
	cpu_set_t cpus;

	snprintf(name, sizeof(name), "caller-%d", i);
	pthread_setname_np(pthread_self(), name);
	CPU_ZERO(&cpus);
	CPU_SET((size_t)i % (size_t)sysconf(_SC_NPROCESSORS_ONLN), &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	printf("%s %ld\n", name, syscall(SYS_gettid));
	fflush(stdout);
	pthread_barrier_wait(&ends);
	for (;;) {
		pthread_barrier_wait(&begins);
		turns(i);
		pthread_barrier_wait(&ends);
	}
	return NULL;
}

static void once(void)
{
	unsigned long sum = 0;

	if (n_threads) {
		pthread_barrier_wait(&begins);
		pthread_barrier_wait(&ends);
	} else {
		turns(0);
	}
	for (int i = 0; i < MAX_THREADS; i++)
		sum += done[i];
	printf("done %lu\n", sum);
	fflush(stdout);
}

static void open_library(void)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 32);
	void *handle;

	if (n < 0)
		exit(1);
	path[n] = '\0';
	strcpy(strrchr(path, '/') + 1, "libsc_target.so");
	handle = dlopen(path, RTLD_NOW);
	if (handle)
		*(void **)&library_call = dlsym(handle, "sc_library_call");
	if (!library_call) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
}

int main(int argc, char **argv)
{
	bool wait = argc > 1 && strcmp(argv[1], "wait") == 0;
	pthread_t id;
	sigset_t set;
	char *unit;
	int signal;

	for (size_t i = 0; argc > 2 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(argv[2], kinds[i].name) == 0)
			call = kinds[i].call;
	if (!call || argc < 4)
		return 2;
	n_turns = strtoul(argv[3], &unit, 10);
	n_ms = strcmp(unit, "ms") == 0 ? n_turns : 0;
	n_threads = argc > 4 ? atoi(argv[4]) : 0;
	if (n_threads < 0 || n_threads > MAX_THREADS)
		return 2;
	if (call == sc_library)
		open_library();
	zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	pthread_barrier_init(&begins, NULL, (unsigned int)n_threads + 1);
	pthread_barrier_init(&ends, NULL, (unsigned int)n_threads + 1);
	for (int i = 0; i < n_threads; i++)
		if (pthread_create(&id, NULL, thread, (void *)(long)i))
			return 1;
	if (n_threads)
		pthread_barrier_wait(&ends);
	if (!wait) {
		once();
		return 0;
	}
	printf("ready %d\n", getpid());
	fflush(stdout);
	while (sigwait(&set, &signal) == 0)
		once();
	return 1;
}
