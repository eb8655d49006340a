// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own.h"

#define INPUT 3 /* the descriptor of a program's input */

static int start(const struct program *program, int input, int out, pid_t *ret_pid)
{
	static const char *const plain[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C",
					     NULL };
	const char *const *environment = program->environment ? program->environment : plain;
	posix_spawn_file_actions_t actions;
	int code = posix_spawn_file_actions_init(&actions);

	if (code)
		return -code;
	code = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (!code)
		code = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	if (!code && input >= 0)
		code = posix_spawn_file_actions_adddup2(&actions, input, INPUT);
	if (!code && !program->messages)
		code = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
							O_WRONLY, 0);
	if (!code)
		code = posix_spawnp(ret_pid, program->argv[0], &actions, NULL,
				    (char *const *)program->argv, (char *const *)environment);
	posix_spawn_file_actions_destroy(&actions);
	/* Our own may be higher, for what is measured. */
	if (!code && getpriority(PRIO_PROCESS, 0) < 0)
		setpriority(PRIO_PROCESS, (id_t)*ret_pid, 0);
	return -code;
}

/* Reads until the other end is closed. 0, -ETIMEDOUT or another negative errno. */
static int read_all(int in, uint64_t deadline, char *text, size_t size)
{
	char dropped[4096];
	size_t used = 0;

	text[0] = '\0';
	for (;;) {
		bool full = used == size - 1;
		uint64_t now = monotonic_ns();
		struct pollfd ready = { .fd = in, .events = POLLIN };
		ssize_t n;

		if (now >= deadline)
			return -ETIMEDOUT;
		if (poll(&ready, 1, (int)((deadline - now) / NS_PER_MS) + 1) <= 0)
			continue;
		n = read(in, full ? dropped : text + used,
			 full ? sizeof(dropped) : size - 1 - used);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		used += full ? 0 : (size_t)n;
		text[used] = '\0';
	}
}

int program_start(const struct program *program, int input, int *ret_out, pid_t *ret_pid)
{
	int ends[2], r;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	r = start(program, input, ends[1], ret_pid);
	close(ends[1]);
	if (r < 0)
		close(ends[0]);
	else
		*ret_out = ends[0];
	return r;
}

int program_end(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -ENOENT;
}

int program_output(const struct program *program, char *ret_text, size_t size)
{
	own(own_fd) int in = -1;
	pid_t pid;
	int r = program_start(program, -1, &in, &pid), ended;

	if (r < 0)
		return r;
	r = read_all(in, monotonic_ns() + program->limit_ns, ret_text, size);
	if (r < 0)
		kill(pid, SIGKILL);
	ended = program_end(pid);
	return r < 0 ? r : ended;
}
