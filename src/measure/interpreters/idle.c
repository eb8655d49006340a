// SPDX-License-Identifier: GPL-2.0-or-later
#include "interpreters/idle.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/own.h"
#include "base/partition.h"

/* A process is idle if it has used less than one of so many parts of its life. */
#define IDLE_PARTS 500

/* Its start, and the CPU time of all its threads, in ticks of user space. False: not known. */
static bool read_times(pid_t tgid, unsigned long long *ret_began, unsigned long long *ret_used)
{
	unsigned long long user, system;
	char path[32], text[1024];
	own(own_fd) int fd = -1;
	const char *behind_name;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)tgid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	behind_name = strrchr(text, ')'); /* a name may contain anything */
	if (!behind_name || sscanf(behind_name + 1,
				   " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d "
				   "%*d %*d %*d %*d %llu",
				   &user, &system, ret_began) != 3)
		return false;
	*ret_used = user + system;
	return true;
}

bool idle_process(pid_t tgid)
{
	unsigned long long began, used, now;
	long ticks = sysconf(_SC_CLK_TCK);
	struct timespec since_boot;

	if (ticks <= 0 || clock_gettime(CLOCK_BOOTTIME, &since_boot) < 0 ||
	    !read_times(tgid, &began, &used))
		return false;
	now = (unsigned long long)since_boot.tv_sec * (unsigned long long)ticks;
	/* The tick that is not full yet, too. */
	return now > began && (used + 1) < (now - began) / IDLE_PARTS;
}

/* The first one that is not below. */
static uint32_t place_of(const struct idle_set *set, pid_t tgid)
{
	return (uint32_t)partition_point(i, set->n, set->list[i].tgid < tgid);
}

uint32_t idle_languages(const struct idle_set *set, pid_t tgid)
{
	uint32_t at = place_of(set, tgid);

	return at < set->n && set->list[at].tgid == tgid ? set->list[at].languages : 0;
}

int idle_add(struct idle_set *set, pid_t tgid, uint32_t languages)
{
	uint32_t at = place_of(set, tgid);
	int r = grow(&set->list, &set->capacity, (size_t)set->n + 1);

	if (r < 0)
		return r;
	memmove(set->list + at + 1, set->list + at, (set->n - at) * sizeof(*set->list));
	set->list[at] = (struct idle_interpreter){ .tgid = tgid, .languages = languages };
	set->n++;
	return 0;
}

uint32_t idle_take(struct idle_set *set, pid_t tgid)
{
	uint32_t languages = idle_languages(set, tgid);
	uint32_t at = place_of(set, tgid);

	if (!languages)
		return 0;
	set->n--;
	memmove(set->list + at, set->list + at + 1, (set->n - at) * sizeof(*set->list));
	return languages;
}

void idle_clear(struct idle_set *set)
{
	free(set->list);
	*set = (struct idle_set){ 0 };
}
