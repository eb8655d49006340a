// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/cpu_wait.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/own.h"

#define MAX_TASKS 256

#define TEXT_SIZE 4096

static bool read_text(int directory, const char *path, char text[static TEXT_SIZE])
{
	own(own_fd) int fd = openat(directory, path, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? -1 : read(fd, text, TEXT_SIZE - 1);

	text[size < 0 ? 0 : size] = '\0';
	return size > 0;
}

/* The second number of a schedstat file. */
static uint64_t waited(int directory, const char *path)
{
	char text[TEXT_SIZE];
	uint64_t ran, waited_ns;

	return read_text(directory, path, text) &&
			       sscanf(text, "%" SCNu64 " %" SCNu64, &ran, &waited_ns) == 2
		       ? waited_ns
		       : 0;
}

/* The nanoseconds that the children of a thread waited; `n_left` loses one for each of them. */
static uint64_t children_waited(int directory, const char *list, int *n_left)
{
	char pids[TEXT_SIZE], path[64], *next = pids;
	uint64_t sum = 0;

	if (!read_text(directory, list, pids))
		return 0;
	for (char *end; *n_left > 0; next = end, (*n_left)--) {
		long pid = strtol(next, &end, 10);

		if (end == next || pid <= 0)
			break;
		snprintf(path, sizeof(path), "/proc/%ld/schedstat", pid);
		sum += waited(AT_FDCWD, path);
	}
	return sum;
}

uint64_t cpu_wait_ns(void)
{
	own(own_directory) DIR *tasks = opendir("/proc/self/task");
	const struct dirent *task;
	int n_left = MAX_TASKS;
	uint64_t sum = 0;

	while (tasks && n_left-- > 0 && (task = readdir(tasks))) {
		char path[300];

		if (task->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/schedstat", task->d_name);
		sum += waited(dirfd(tasks), path);
		snprintf(path, sizeof(path), "%s/children", task->d_name);
		sum += children_waited(dirfd(tasks), path, &n_left);
	}
	return sum;
}
