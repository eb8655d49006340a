// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs a command and says what it took. A small program for it, as what a shell or an interpreter
 * starts inherits the peak memory of its parent.
 *
 *	timed RESULT COMMAND [ARGUMENT ...]
 *
 * RESULT becomes a line of JSON: ms from just before exec to the first byte on standard output
 * (-1 without one) and to the end; ms of CPU time and the peak RSS in KiB, those of the command
 * and of all that it waited for; its exit code. What it prints goes to our standard output.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static double ms(const struct timeval *time)
{
	return (double)time->tv_sec * 1e3 + (double)time->tv_usec / 1e3;
}

static void start(char **command, int out, volatile double *started)
{
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(out, 1);
	*started = now_ms();
	execvp(command[0], command);
	perror(command[0]);
	_exit(127);
}

/* Passes on what comes; returns when the first of it came, or -1. */
static double pass_on(int from)
{
	static char bytes[65536];
	double first = -1;
	ssize_t n;

	while ((n = read(from, bytes, sizeof(bytes))) > 0 || (n < 0 && errno == EINTR)) {
		if (n > 0 && first < 0)
			first = now_ms();
		for (ssize_t done = 0, r; done < n; done += r) {
			r = write(1, bytes + done, (size_t)(n - done));
			if (r <= 0)
				break;
		}
	}
	return first;
}

int main(int argc, char **argv)
{
	volatile double *started;
	double first, ended;
	struct rusage usage;
	int pipes[2], status;
	FILE *result;
	pid_t pid;

	if (argc < 3) {
		fprintf(stderr, "usage: timed RESULT COMMAND [ARGUMENT ...]\n");
		return 2;
	}
	started = mmap(NULL, sizeof(*started), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	result = fopen(argv[1], "we");
	if (started == MAP_FAILED || !result || pipe(pipes) < 0) {
		perror(argv[1]);
		return 1;
	}
	/* Nothing is left running when the benchmark is killed. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The interrupt that ends the command is sent to the whole group. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	pid = fork();
	if (pid == 0)
		start(argv + 2, pipes[1], started);
	if (pid < 0) {
		perror("fork");
		return 1;
	}
	close(pipes[1]);
	first = pass_on(pipes[0]);
	while (wait4(pid, &status, 0, &usage) < 0 && errno == EINTR)
		;
	ended = now_ms();
	fprintf(result,
		"{\"first\": %.3f, \"wall\": %.3f, \"user\": %.3f, \"system\": %.3f, "
		"\"rss\": %ld, \"status\": %d}\n",
		first < 0 ? -1 : first - *started, ended - *started, ms(&usage.ru_utime),
		ms(&usage.ru_stime), usage.ru_maxrss,
		WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return fclose(result) == 0 ? 0 : 1;
}
