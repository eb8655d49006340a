// SPDX-License-Identifier: GPL-2.0-or-later
#include "notify/state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own.h"

#define LINE_SIZE 64

static const char *const names[N_STATES] = {
	[STATE_STARTING] = "starting",
	[STATE_READY] = "ready",
	[STATE_ENDING] = "ending",
};

const char *state_name(enum measurement_state state)
{
	return names[state];
}

int state_file_open(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);

	return fd < 0 ? -errno : fd;
}

int state_file_write(int fd, enum measurement_state state)
{
	char line[LINE_SIZE];
	int n = snprintf(line, sizeof(line), "%-8s %20" PRIu64 "\n", names[state], monotonic_ns());
	ssize_t written = pwrite(fd, line, (size_t)n, 0);

	if (written < 0)
		return -errno;
	return written == n ? 0 : -ENOSPC;
}

int state_file_read(const char *path, enum measurement_state *ret_state, uint64_t *ret_age_ns)
{
	own(own_fd) int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char line[LINE_SIZE], name[9];
	uint64_t when, now = monotonic_ns();
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = pread(fd, line, sizeof(line) - 1, 0);
	if (n < 0)
		return -errno;
	line[n] = '\0';
	if (sscanf(line, "%8s %20" SCNu64, name, &when) != 2)
		return -EINVAL;
	for (int state = 0; state < N_STATES; state++) {
		if (strcmp(name, names[state]) != 0)
			continue;
		*ret_state = (enum measurement_state)state;
		/* Of a run before the machine was started anew: as old as can be. */
		*ret_age_ns = when > now ? UINT64_MAX : now - when;
		return 0;
	}
	return -EINVAL;
}
