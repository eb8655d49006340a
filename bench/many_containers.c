// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * many_containers EACH BURN_US < LIST_OF_CGROUPS: processes in many cgroups.
 *
 * Has EACH processes in every cgroup of the list, one of which is busy for BURN_US microseconds of
 * each second; the others sleep. Prints "ready" when all are there. On SIGTERM it ends them, and
 * when all have ended, itself.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_PROCESSES 65536

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

/* `first`: when it is busy, of each second. It ends with its parent, also if that has just ended.
 */
static _Noreturn void live(pid_t parent, uint64_t burn_ns, uint64_t first)
{
	struct timespec rest = { 0, (long)first };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
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

static void end_all(const pid_t *children, int n)
{
	for (int i = 0; i < n; i++)
		kill(children[i], SIGKILL);
	while (wait(NULL) > 0)
		;
}

int main(int argc, char **argv)
{
	static pid_t children[MAX_PROCESSES];
	int each = argc == 3 ? atoi(argv[1]) : 0, number = 0;
	uint64_t burn_ns = argc == 3 ? (uint64_t)atoi(argv[2]) * 1000 : 0;
	pid_t parent = getpid();
	int n = 0, signal_number;
	char line[2048];
	sigset_t end;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	sigprocmask(SIG_BLOCK, &end, NULL);
	for (; each && fgets(line, sizeof(line), stdin); number++) {
		if (enter(line) < 0)
			return 1;
		for (int i = 0; i < each && n < MAX_PROCESSES; i++) {
			pid_t child = fork();

			if (child < 0)
				return 1;
			if (child == 0)
				live(parent, i ? 0 : burn_ns,
				     (uint64_t)number * 5000000 % 900000000);
			children[n++] = child;
		}
	}
	puts("ready");
	fflush(stdout);
	sigwait(&end, &signal_number);
	end_all(children, n);
	return 0;
}
