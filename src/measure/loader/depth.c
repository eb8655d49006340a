// SPDX-License-Identifier: GPL-2.0-or-later
#include "loader/depth.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"

#define MAX_STACK     "/proc/sys/kernel/perf_event_max_stack"
#define BUSY_TRIES    50
#define BUSY_PAUSE_MS 10

static int write_once(uint32_t limit)
{
	own(own_fd) int fd = open(MAX_STACK, O_WRONLY | O_CLOEXEC);
	char text[16];
	int n = snprintf(text, sizeof(text), "%u\n", limit);

	if (fd < 0 || write(fd, text, (size_t)n) != n)
		return -errno;
	return 0;
}

/*
 * The kernel refuses with -EBUSY while call chain buffers exist. It frees those some time after the
 * last user is closed, so the buffers of a run that has just ended may be in the way: tried again.
 */
static int write_limit(uint32_t limit)
{
	int r = write_once(limit);

	for (int i = 0; r == -EBUSY && i < BUSY_TRIES; i++) {
		poll(NULL, 0, BUSY_PAUSE_MS);
		r = write_once(limit);
	}
	return r;
}

int depth_raise(uint32_t depth, uint32_t *ret_before, uint32_t *ret_limit, struct error *err)
{
	own(own_file) FILE *file = fopen(MAX_STACK, "re");
	unsigned int limit;
	int r;

	if (!file || fscanf(file, "%u", &limit) != 1)
		return error_set(err, -EIO, "cannot read %s", MAX_STACK);
	if (depth <= limit) {
		*ret_before = 0;
		*ret_limit = limit;
		return 0;
	}
	r = write_limit(depth);
	if (r == -EBUSY)
		return error_set(err, r,
				 "--max-depth %u needs sysctl kernel.perf_event_max_stack raised "
				 "from %u, which the kernel refuses while another profiler walks "
				 "stacks: stop that first",
				 depth, limit);
	if (r < 0)
		return error_privilege(err, r,
				       "--max-depth %u needs sysctl kernel.perf_event_max_stack=%u "
				       "(it is %u), and it cannot be raised from here: %s",
				       depth, depth, limit, strerror(-r));
	*ret_before = limit;
	*ret_limit = depth;
	return 0;
}

int depth_restore(uint32_t before)
{
	return before ? write_limit(before) : 0;
}
