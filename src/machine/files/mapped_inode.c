// SPDX-License-Identifier: GPL-2.0-or-later
#include "files/mapped_inode.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/own.h"
#include "files/maps.h"

#define BUFFER 16384u /* a line has PATH_MAX and some 100 bytes at most */

/* Looks for the mapping at an address in complete lines of maps. */
static bool find(const char *at, const char *end, uint64_t address, struct mapped_inode *ret_inode)
{
	struct maps_line line;

	while (maps_next(&at, end, &line)) {
		if (address < line.start || address >= line.end)
			continue;
		*ret_inode = (struct mapped_inode){ .device = line.device, .inode = line.inode };
		return true;
	}
	return false;
}

static int look_up(uint64_t address, struct mapped_inode *ret_inode)
{
	own(own_fd) int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	own(own_free) char *buffer = malloc(BUFFER);
	size_t filled = 0;

	if (fd < 0)
		return -errno;
	if (!buffer)
		return -ENOMEM;
	for (;;) {
		ssize_t n = read(fd, buffer + filled, BUFFER - filled);
		const char *last;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENOENT;
		filled += (size_t)n;
		last = memrchr(buffer, '\n', filled);
		if (!last)
			return -EPROTO;
		last++;
		if (find(buffer, last, address, ret_inode))
			return 0;
		filled -= (size_t)(last - buffer);
		memmove(buffer, last, filled);
	}
}

int mapped_inode_of(int fd, struct mapped_inode *ret_inode)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *at = mmap(NULL, page, PROT_READ, MAP_PRIVATE, fd, 0);
	int r;

	if (at == MAP_FAILED)
		return -errno;
	r = look_up((uint64_t)(uintptr_t)at, ret_inode);
	munmap(at, page);
	return r;
}
