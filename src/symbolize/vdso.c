/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolize/vdso.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/lines.h"
#include "base/own.h"

struct range {
	uint64_t start, end;
};

static int read_mapping(void *context, char *line, size_t size)
{
	struct range *range = context;
	const char *at = line, *end = line + size;

	if (size < strlen(VDSO_MODULE) || strcmp(end - strlen(VDSO_MODULE), VDSO_MODULE) != 0)
		return 0;
	if (lines_hex(&at, end, &range->start) && *at == '-') {
		at++;
		if (!lines_hex(&at, end, &range->end))
			range->end = 0;
	}
	return 0;
}

int vdso_find(const void **ret_bytes, size_t *ret_size)
{
	uintptr_t header = getauxval(AT_SYSINFO_EHDR);
	struct range range = { 0 };
	own(own_fd) int fd = -1;

	if (!header)
		return -ENOENT;
	fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* The auxiliary vector has its start; only the mapping has its end. */
	if (lines_read(fd, UINT64_MAX, read_mapping, &range) || range.start != header ||
	    range.end <= range.start)
		return -ENOENT;
	*ret_bytes = (const void *)header;
	*ret_size = (size_t)(range.end - range.start);
	return 0;
}
