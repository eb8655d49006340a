// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/memory.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"

/*
 * Where the hierarchies of cgroups are mounted, by convention, and the files with their limits, and
 * with the number of processes killed.
 */
struct hierarchy {
	const char *mount, *limit, *kills;
};

static const struct hierarchy v1 = { "/sys/fs/cgroup/memory", "memory.limit_in_bytes",
				     "memory.oom_control" };
static const struct hierarchy v2 = { "/sys/fs/cgroup", "memory.max", "memory.events" };

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

/*
 * The hierarchy and the path in a line of /proc/PID/cgroup: NUMBER:CONTROLLERS:PATH. NULL: the line
 * is not about memory.
 */
static const struct hierarchy *hierarchy_in(char *line, char **ret_path)
{
	char *controllers = strchr(line, ':');
	char *path = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!path)
		return NULL;
	*path++ = '\0';
	controllers++;
	path[strcspn(path, "\n")] = '\0';
	*ret_path = path;
	if (*controllers == '\0')
		return &v2;
	return has_memory(controllers) ? &v1 : NULL;
}

static uint64_t kills_in(const struct hierarchy *hierarchy, const char *path)
{
	unsigned long long kills = 0;
	char name[PATH_MAX], line[128];
	own(own_file) FILE *file = NULL;

	snprintf(name, sizeof(name), "%s%s/%s", hierarchy->mount, path, hierarchy->kills);
	file = fopen(name, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "oom_kill %llu", &kills) == 1)
			break;
	return kills;
}

uint64_t memory_default(void)
{
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	own(own_file) FILE *file = fopen("/proc/self/cgroup", "re");
	own(own_free) char *line = NULL;
	size_t capacity = 0;
	char *path;

	while (file && getline(&line, &capacity, file) > 0) {
		const struct hierarchy *hierarchy = hierarchy_in(line, &path);
		uint64_t limit = hierarchy ? lowest_limit(hierarchy, path) : UINT64_MAX;

		memory = limit < memory ? limit : memory;
	}
	memory /= 8;
	return memory < MEMORY_DEFAULT_MOST ? memory : MEMORY_DEFAULT_MOST;
}

uint64_t memory_kills(void)
{
	own(own_file) FILE *file = fopen("/proc/self/cgroup", "re");
	own(own_free) char *line = NULL;
	uint64_t kills = 0;
	size_t capacity = 0;
	char *path;

	while (file && getline(&line, &capacity, file) > 0) {
		const struct hierarchy *hierarchy = hierarchy_in(line, &path);

		kills += hierarchy ? kills_in(hierarchy, path) : 0;
	}
	return kills;
}
