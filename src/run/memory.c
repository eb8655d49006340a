// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/memory.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"

/* Where the hierarchies of cgroups are mounted, by convention, and the files with their limits. */
struct hierarchy {
	const char *mount, *limit;
};

static const struct hierarchy v1 = { "/sys/fs/cgroup/memory", "memory.limit_in_bytes" };
static const struct hierarchy v2 = { "/sys/fs/cgroup", "memory.max" };

/* The number in a file; UINT64_MAX if there is none. */
static uint64_t number_in(const char *path)
{
	own(own_file) FILE *file = fopen(path, "re");
	unsigned long long number;

	return file && fscanf(file, "%llu", &number) == 1 ? number : UINT64_MAX;
}

/* The lowest limit of a cgroup and those that it is in. Shortens `path`. */
static uint64_t lowest_limit(const struct hierarchy *hierarchy, char *path)
{
	uint64_t lowest = UINT64_MAX;

	for (;;) {
		char name[PATH_MAX];
		char *slash = strrchr(path, '/');
		uint64_t limit;

		snprintf(name, sizeof(name), "%s%s/%s", hierarchy->mount, path, hierarchy->limit);
		limit = number_in(name);
		if (limit < lowest)
			lowest = limit;
		if (!slash)
			return lowest;
		*slash = '\0';
	}
}

/* Whether a list of controllers, separated by commas, has that of memory. */
static bool has_memory(char *controllers)
{
	char *rest;

	for (char *each = strtok_r(controllers, ",", &rest); each;
	     each = strtok_r(NULL, ",", &rest))
		if (strcmp(each, "memory") == 0)
			return true;
	return false;
}

/* The limit in a line of /proc/PID/cgroup: NUMBER:CONTROLLERS:PATH. */
static uint64_t limit_in(char *line)
{
	char *controllers = strchr(line, ':');
	char *path = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!path)
		return UINT64_MAX;
	*path++ = '\0';
	controllers++;
	path[strcspn(path, "\n")] = '\0';
	if (*controllers == '\0')
		return lowest_limit(&v2, path);
	return has_memory(controllers) ? lowest_limit(&v1, path) : UINT64_MAX;
}

uint64_t memory_default(void)
{
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	own(own_file) FILE *file = fopen("/proc/self/cgroup", "re");
	own(own_free) char *line = NULL;
	size_t room = 0;

	while (file && getline(&line, &room, file) > 0) {
		uint64_t limit = limit_in(line);

		memory = limit < memory ? limit : memory;
	}
	memory /= 8;
	return memory < MEMORY_DEFAULT_MOST ? memory : MEMORY_DEFAULT_MOST;
}
