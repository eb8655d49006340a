// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * forks N US [PROGRAM]: N processes, four at a time, each burning about US microseconds of CPU
 * time in `child_work`; with PROGRAM they execute PROGRAM instead, with US as its only argument.
 */
#include <string.h>
#include <sys/wait.h>

#include "burn.h"

static __attribute__((noinline)) void child_work(uint64_t ns)
{
	uint64_t end = cpu_ns() + ns;

	do {
		for (volatile uint32_t i = 0; i < 2000; i++)
			;
	} while (cpu_ns() < end);
}

static __attribute__((noinline)) void fork_all(int n, const char *us, const char *program)
{
	for (int i = 0; i < n + 4; i++) {
		pid_t pid;

		if (i >= 4 && wait(NULL) < 0)
			exit(1);
		if (i >= n)
			continue;
		pid = fork();
		if (pid < 0)
			exit(1);
		if (pid > 0)
			continue;
		if (program)
			execl(program, program, "0", us, (char *)NULL);
		child_work(strtoull(us, NULL, 10) * 1000);
		_exit(0);
	}
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0;

	if (argc <= 2)
		return 1;
	if (n)
		say_ready();
	if (n)
		fork_all(n, argv[2], argc > 3 ? argv[3] : NULL);
	else
		child_work(strtoull(argv[2], NULL, 10) * 1000);
	return 0;
}
