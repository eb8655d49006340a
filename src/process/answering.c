// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/answering.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/own.h"

#define MOST	  64	/* file systems that are remembered; the oldest makes room */
#define PATIENCE  1000	/* ms: a server that is only slow answers within it */
#define HOLDS_MS  2000	/* that it answers */
#define ASK_AGAIN 30000 /* ... and that it does not */
#define ASKED_FD  0
#define ENDED_FD  1

struct verdict {
	dev_t device;
	uint64_t until_ms;
	pid_t left; /* the child that did not come back; 0: none */
	bool answers;
};

struct answering {
	struct verdict verdicts[MOST];
	uint32_t n;
};

int answering_new(struct answering **ret_answering)
{
	*ret_answering = calloc(1, sizeof(**ret_answering));
	return *ret_answering ? 0 : -ENOMEM;
}

/* Whether a child that was left behind has ended since. */
static bool is_gone(const struct verdict *verdict)
{
	return !verdict->left || waitpid(verdict->left, NULL, WNOHANG) != 0;
}

void answering_free(struct answering *answering)
{
	for (uint32_t i = 0; answering && i < answering->n; i++)
		is_gone(&answering->verdicts[i]);
	free(answering);
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* As the kernel remembers it: without asking anybody. */
static bool device_of(int path_fd, dev_t *ret_device)
{
	struct statx status;

	if (statx(path_fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &status) < 0)
		return false;
	*ret_device = ((dev_t)status.stx_dev_major << 32) | status.stx_dev_minor;
	return status.stx_dev_major == 0;
}

/*
 * System calls only: others may have held what libc needs. Nothing of ours stays open in it, for
 * what is open goes on measuring.
 */
static _Noreturn void ask(int path_fd, int writing)
{
	struct stat status;
	char byte;
	int path, fd;

	path = fcntl(path_fd, F_DUPFD, ENDED_FD + 1);
	writing = fcntl(writing, F_DUPFD, ENDED_FD + 1);
	if (path < 0 || writing < 0 || dup2(path, ASKED_FD) < 0 || dup2(writing, ENDED_FD) < 0)
		_exit(1);
	if (syscall(SYS_close_range, ENDED_FD + 1, ~0u, 0) < 0) {
		for (int each = ENDED_FD + 1; each < 4096; each++)
			close(each);
	}
	if (fstat(ASKED_FD, &status) < 0 || !S_ISREG(status.st_mode))
		_exit(0);
	fd = open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	_exit(fd >= 0 && pread(fd, &byte, 1, status.st_size / 2) < 0);
}

/* Its end of the pipe is closed when it has ended. */
static bool comes_back(int reading)
{
	uint64_t end = now_ms() + PATIENCE, now;

	while ((now = now_ms()) < end) {
		struct pollfd ended = { .fd = reading };
		int r = poll(&ended, 1, (int)(end - now));

		if (r > 0 || (r < 0 && errno != EINTR))
			return true;
	}
	return false;
}

static void find_out(struct verdict *verdict, int path_fd)
{
	own(own_fd) int reading = -1;
	pid_t child;
	int ends[2];

	verdict->answers = true;
	verdict->left = 0;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return;
	reading = ends[0];
	child = fork();
	if (child == 0)
		ask(path_fd, ends[1]);
	close(ends[1]);
	if (child < 0)
		return;
	verdict->answers = comes_back(reading);
	if (verdict->answers) {
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			;
		return;
	}
	kill(child, SIGKILL);
	verdict->left = child;
}

static struct verdict *verdict_of(struct answering *answering, dev_t device)
{
	struct verdict *oldest = &answering->verdicts[0];

	for (uint32_t i = 0; i < answering->n; i++) {
		struct verdict *verdict = &answering->verdicts[i];

		if (verdict->device == device)
			return verdict;
		if (is_gone(verdict) && verdict->until_ms < oldest->until_ms)
			oldest = verdict;
	}
	if (answering->n < MOST)
		oldest = &answering->verdicts[answering->n++];
	*oldest = (struct verdict){ .device = device };
	return oldest;
}

int answering_ask(struct answering *answering, int path_fd)
{
	struct verdict *verdict;
	dev_t device;

	if (!device_of(path_fd, &device))
		return 0;
	verdict = verdict_of(answering, device);
	if (now_ms() >= verdict->until_ms && is_gone(verdict)) {
		find_out(verdict, path_fd);
		verdict->until_ms = now_ms() + (verdict->answers ? HOLDS_MS : ASK_AGAIN);
	}
	return verdict->answers ? 0 : -ETIMEDOUT;
}
