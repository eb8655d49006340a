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
#define LONG_WAIT_NS (4 * NS_PER_SECOND)

/*
 * The server may be slow, and a report waits for it: unless the user says otherwise, the program
 * gives a server up that sends less than 100 KB in so many seconds, and a file that takes longer.
 */
#define TIMEOUT	 "DEBUGINFOD_TIMEOUT=5"
#define MAX_TIME "DEBUGINFOD_MAXTIME=60"

extern char **environ;

struct debuginfod {
	bool unreachable;   /* a fetch failed after a long wait */
	char **environment; /* of the program: the strings are ours and constants */
};

/* Ours, and limits where it has none. */
static char **make_environment(void)
{
	char **environment;
	size_t n = 0;

	while (environ[n])
		n++;
	environment = calloc(n + 3, sizeof(*environment));
	if (!environment)
		return NULL;
	memcpy(environment, environ, n * sizeof(*environment));
	if (!getenv("DEBUGINFOD_TIMEOUT"))
		environment[n++] = (char *)TIMEOUT;
	if (!getenv("DEBUGINFOD_MAXTIME"))
		environment[n++] = (char *)MAX_TIME;
	return environment;
}

int debuginfod_new(struct debuginfod **ret_debuginfod)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct debuginfod *debuginfod;

	if (!urls || !*urls)
		return -ENOENT;
	debuginfod = calloc(1, sizeof(*debuginfod));
	if (!debuginfod)
		return -ENOMEM;
	debuginfod->environment = make_environment();
	if (!debuginfod->environment) {
		free(debuginfod);
		return -ENOMEM;
	}
	*ret_debuginfod = debuginfod;
	return 0;
}

void debuginfod_free(struct debuginfod *debuginfod)
{
	if (!debuginfod)
		return;
	free(debuginfod->environment);
	free(debuginfod);
}

/* Starts the program with its output into `out`; its error messages are dropped. */
static int start(const struct debuginfod *debuginfod, const char *id, int out, pid_t *ret_pid)
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
		code = posix_spawnp(ret_pid, PROGRAM, &actions, NULL, argv,
				    debuginfod->environment);
	posix_spawn_file_actions_destroy(&actions);
	return -code;
}

/* Reads the path that the program prints. */
static int find(const struct debuginfod *debuginfod, const char *id, char *path, size_t size)
{
	own(own_fd) int in = -1;
	int ends[2], status = 0, r;
	size_t used = 0;
	ssize_t n = 0;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	in = ends[0];
	r = start(debuginfod, id, ends[1], &pid);
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
	r = find(debuginfod, id, path, sizeof(path));
	if (r < 0) {
		debuginfod->unreachable = monotonic_ns() - began >= LONG_WAIT_NS;
		return r;
	}
	r = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return r < 0 ? -errno : r;
}
