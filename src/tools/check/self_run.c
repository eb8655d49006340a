// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/self_run.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own.h"

#define OUTPUT_MAX (8u << 20)
#define LIMIT_NS   (60 * NS_PER_SECOND)
#define LOOK_US	   5000

static char *take(int fd)
{
	off_t end = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	size_t size = end < 0 ? 0 : end > OUTPUT_MAX ? OUTPUT_MAX : (size_t)end, used = 0;
	char *text = malloc(size + 1);

	while (text && used < size) {
		ssize_t n = pread(fd, text + used, size - used, (off_t)used);

		if (n <= 0)
			break;
		used += (size_t)n;
	}
	if (text)
		text[used] = '\0';
	return text;
}

static void run_in_child(const char *const *arguments, int out, int said)
{
	int nothing = memfd_create("in", MFD_CLOEXEC); /* there may be no /dev */

	if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(out, 1) < 0 || dup2(said, 2) < 0)
		_exit(127);
	execv("/proc/self/exe", (char *const *)arguments);
	_exit(127);
}

static int wait_for(pid_t pid)
{
	uint64_t until = monotonic_ns() + LIMIT_NS;
	int status;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (monotonic_ns() >= until) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			return -1;
		}
		usleep(LOOK_US);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void self_run(const char *const *arguments, struct self_run *ret_run)
{
	own(own_fd) int out = memfd_create("out", MFD_CLOEXEC);
	own(own_fd) int said = memfd_create("said", MFD_CLOEXEC);
	pid_t pid = out < 0 || said < 0 ? -1 : fork();

	if (pid == 0)
		run_in_child(arguments, out, said);
	ret_run->status = pid < 0 ? -1 : wait_for(pid);
	ret_run->out = take(out);
	ret_run->said = take(said);
}

void self_run_clear(struct self_run *run)
{
	free(run->out);
	free(run->said);
	*run = (struct self_run){ 0 };
}
