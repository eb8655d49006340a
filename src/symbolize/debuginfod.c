/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolize/debuginfod.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define PROGRAM	     "debuginfod-find"
#define MAX_ID	     64 /* bytes of a build-id */
#define LONG_WAIT_NS (10 * NS_PER_SECOND)

extern char **environ;

struct debuginfod {
	bool unreachable; /* a fetch failed after a long wait */
};

int debuginfod_new(struct debuginfod **ret_debuginfod)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct debuginfod *debuginfod;

	if (!urls || !*urls)
		return -ENOENT;
	debuginfod = calloc(1, sizeof(*debuginfod));
	if (!debuginfod)
		return -ENOMEM;
	*ret_debuginfod = debuginfod;
	return 0;
}

void debuginfod_free(struct debuginfod *debuginfod)
{
	free(debuginfod);
}

/* Starts the program with its output into `out`; its error messages are dropped. */
static int start(const char *id, int out, pid_t *ret_pid)
{
	char *const argv[] = { PROGRAM, "debuginfo", (char *)id, NULL };
	posix_spawn_file_actions_t actions;
	int code = posix_spawn_file_actions_init(&actions);

	if (code)
		return -code;
	code = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (!code)
		code = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	if (!code && !getenv("DEBUGINFOD_PROGRESS"))
		code = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
							O_WRONLY, 0);
	if (!code)
		code = posix_spawnp(ret_pid, PROGRAM, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return -code;
}

/* Reads the path that the program prints. */
static int find(const char *id, char *path, size_t size)
{
	own(own_fd) int in = -1;
	int ends[2], status = 0, r;
	size_t used = 0;
	ssize_t n = 0;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	in = ends[0];
	r = start(id, ends[1], &pid);
	close(ends[1]);
	if (r < 0)
		return r;
	while (used < size && (n = read(in, path + used, size - used)) > 0)
		used += (size_t)n;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (n < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0 || used < 2 || used == size)
		return -ENOENT;
	path[used - 1] = '\0';
	return 0;
}

int debuginfod_open(struct debuginfod *debuginfod, const uint8_t *build_id, uint32_t size)
{
	char id[2 * MAX_ID + 1], path[PATH_MAX];
	uint64_t began;
	int r;

	if (debuginfod->unreachable || size > MAX_ID)
		return -ENOENT;
	for (uint32_t i = 0; i < size; i++)
		snprintf(id + 2 * i, 3, "%02x", build_id[i]);
	began = monotonic_ns();
	r = find(id, path, sizeof(path));
	if (r < 0) {
		debuginfod->unreachable = monotonic_ns() - began >= LONG_WAIT_NS;
		return r;
	}
	r = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return r < 0 ? -errno : r;
}
