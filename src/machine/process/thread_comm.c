// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/thread_comm.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/own.h"

const char *comm_read(uint32_t tid, char ret_comm[COMM_SIZE])
{
	char path[64];
	own(own_fd) int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/comm", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, ret_comm, COMM_SIZE);
	ret_comm[n > 0 ? n - 1 : 0] = '\0'; /* in place of the line's end */
	return ret_comm;
}
