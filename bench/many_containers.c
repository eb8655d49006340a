// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * many_containers EACH BURN_US < LIST_OF_CGROUPS: processes in many cgroups.
 *
 * Has EACH processes in every cgroup of the list, one of which is busy for BURN_US microseconds of
 * each second; the others sleep. Prints "ready" when all are there, and ends when stdin's last line
 * was read and a signal comes.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

__attribute__((noinline)) static void burn(uint64_t ns)
{
	for (uint64_t until = now() + ns; now() < until;)
		;
}

/* `first`: when it is busy, of each second. */
static _Noreturn void live(uint64_t burn_ns, uint64_t first)
{
	struct timespec rest = { 0, (long)first };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (burn_ns) {
		nanosleep(&rest, NULL);
		burn(burn_ns);
		rest.tv_nsec = 1000000000 - (long)burn_ns;
	}
	for (;;)
		pause();
}

/* Moves this process. */
static int enter(char *cgroup)
{
	char path[4096];
	int fd, r;

	cgroup[strcspn(cgroup, "\n")] = '\0';
	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	fd = open(path, O_WRONLY);
	r = fd < 0 || write(fd, "0", 1) != 1 ? -1 : 0;
	close(fd);
	return r;
}

int main(int argc, char **argv)
{
	int each = argc == 3 ? atoi(argv[1]) : 0, number = 0;
	uint64_t burn_ns = argc == 3 ? (uint64_t)atoi(argv[2]) * 1000 : 0;
	char line[2048];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (; each && fgets(line, sizeof(line), stdin); number++) {
		if (enter(line) < 0)
			return 1;
		for (int i = 0; i < each; i++) {
			pid_t child = fork();

			if (child < 0)
				return 1;
			if (child == 0)
				live(i ? 0 : burn_ns, (uint64_t)number * 5000000 % 900000000);
		}
	}
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
