/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolize/debuginfod.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/program.h"

#define PROGRAM	     "debuginfod-find"
#define MAX_ID	     64 /* bytes of a build-id */
#define LONG_WAIT_NS (4 * NS_PER_SECOND)

/*
 * The server may be slow, and a report waits for it: unless the user says otherwise, the program
 * gives a server up that sends less than 100 KB in so many seconds, and a file that takes longer.
 */
#define TIMEOUT	 "DEBUGINFOD_TIMEOUT=5"
#define MAX_TIME "DEBUGINFOD_MAXTIME=60"

/* Whatever the user says. */
#define MAX_TIME_NS (600 * NS_PER_SECOND)

extern char **environ;

struct debuginfod {
	bool unreachable;	  /* a fetch failed after a long wait */
	const char **environment; /* of the program: the strings are ours and constants */
};

/* Ours, and limits where it has none. */
static const char **make_environment(void)
{
	const char **environment;
	size_t n = 0;

	while (environ[n])
		n++;
	environment = calloc(n + 3, sizeof(*environment));
	if (!environment)
		return NULL;
	memcpy(environment, environ, n * sizeof(*environment));
	if (!getenv("DEBUGINFOD_TIMEOUT"))
		environment[n++] = TIMEOUT;
	if (!getenv("DEBUGINFOD_MAXTIME"))
		environment[n++] = MAX_TIME;
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

/* Asks for the path of the file. */
static int find(const struct debuginfod *debuginfod, const char *id, char *path, size_t size)
{
	const char *const argv[] = { PROGRAM, "debuginfo", id, NULL };
	const struct program program = { .argv = argv,
					 .environment = debuginfod->environment,
					 .limit_ns = MAX_TIME_NS,
					 .messages = getenv("DEBUGINFOD_PROGRESS") };
	int r = program_output(&program, path, size);
	size_t used = r < 0 ? 0 : strlen(path);

	if (r < 0)
		return r;
	if (used < 2 || path[used - 1] != '\n')
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
