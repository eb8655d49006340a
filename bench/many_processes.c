// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * many_processes PROCESSES MAPPINGS EXECS PROGRAM < LIST_OF_FILES: a load for the bookkeeping of
 * processes.
 *
 * Keeps PROCESSES alive, each with MAPPINGS executable mappings of different files of the list.
 * They sleep, except for a tenth of a millisecond every ten seconds. Besides, it executes PROGRAM
 * EXECS times a second. Prints "ready" when all processes run, and on SIGTERM, when all have ended,
 * how many times it executed PROGRAM per second.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_FILES 4096
#define BURN_NS	  100000
#define REST_NS	  10000000000u

static int files[MAX_FILES];
static volatile sig_atomic_t ended;

static void end(int unused)
{
	(void)unused;
	ended = 1;
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void sleep_ns(uint64_t ns)
{
	struct timespec time = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };

	nanosleep(&time, NULL);
}

__attribute__((noinline)) static void burn(void)
{
	for (uint64_t until = now() + BURN_NS; now() < until;)
		;
}

/* One of those that are there. */
static _Noreturn void live(pid_t parent, uint32_t number, uint32_t mappings, uint32_t n_files,
			   int ready)
{
	uint64_t random = number * 0x9e3779b97f4a7c15u + 1;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) /* which has just ended */
		_exit(1);
	for (uint32_t i = 0; i < mappings; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE,
			 files[(random >> 33) % n_files], 0) == MAP_FAILED)
			_exit(1);
		/* Mappings of one file that touch would become one. */
		mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	}
	if (write(ready, "", 1) != 1)
		_exit(1);
	close(ready);
	sleep_ns(random % REST_NS);
	for (;;) {
		burn();
		sleep_ns(REST_NS);
	}
}

static void execute(char *program)
{
	char *const argv[] = { program, NULL };
	pid_t child = vfork();

	if (child == 0) {
		execv(program, argv);
		_exit(1);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	uint32_t processes = argc > 1 ? (uint32_t)atoi(argv[1]) : 0, n_files = 0, there = 0;
	uint32_t mappings = argc > 2 ? (uint32_t)atoi(argv[2]) : 0;
	uint32_t rate = argc > 3 ? (uint32_t)atoi(argv[3]) : 0;
	uint64_t began, executed = 0;
	pid_t parent = getpid(), *children = calloc(processes + 1, sizeof(*children));
	char line[512], bytes[256];
	int ready[2];
	ssize_t n;

	while (n_files < MAX_FILES && fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		files[n_files] = open(line, O_RDONLY | O_CLOEXEC);
		n_files += files[n_files] >= 0;
	}
	if (argc != 5 || !children || (mappings && !n_files) || pipe(ready) < 0)
		return 2;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	for (uint32_t i = 0; i < processes; i++) {
		pid_t child = fork();

		if (child < 0)
			return 1;
		if (child == 0)
			live(parent, i, mappings, n_files, ready[1]);
		children[i] = child;
	}
	close(ready[1]);
	while ((n = read(ready[0], bytes, sizeof(bytes))) > 0)
		there += (uint32_t)n;
	if (there != processes)
		return 1;
	signal(SIGTERM, end);
	puts("ready");
	fflush(stdout);
	began = now();
	while (!ended && rate) {
		uint64_t due = began + executed * 1000000000u / rate, time = now();

		if (time < due) {
			sleep_ns(due - time);
			continue;
		}
		execute(argv[4]);
		executed++;
	}
	while (!ended)
		pause();
	executed = (uint64_t)((double)executed / ((double)(now() - began) / 1e9) + 0.5);
	for (uint32_t i = 0; i < processes; i++)
		kill(children[i], SIGKILL);
	while (wait(NULL) > 0)
		;
	printf("%" PRIu64 "\n", executed);
	return 0;
}
