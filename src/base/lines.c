/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/lines.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"

#define BUFFER_SIZE (64u << 10)

bool lines_hex(const char **at, const char *end, uint64_t *ret_number)
{
	const char *p = *at;
	uint64_t number = 0;

	for (; p < end && p - *at < 16; p++) {
		int digit;

		if (*p >= '0' && *p <= '9')
			digit = *p - '0';
		else if (*p >= 'a' && *p <= 'f')
			digit = *p - 'a' + 10;
		else if (*p >= 'A' && *p <= 'F')
			digit = *p - 'A' + 10;
		else
			break;
		number = number << 4 | (uint64_t)digit;
	}
	if (p == *at)
		return false;
	*at = p;
	*ret_number = number;
	return true;
}

int lines_read(int fd, uint64_t limit, int (*each)(void *context, char *line, size_t size),
	       void *context)
{
	own(own_free) char *buffer = malloc(BUFFER_SIZE + 1);
	size_t used = 0;
	bool skip = false; /* until the end of a line that was too long */

	if (!buffer)
		return -ENOMEM;
	for (;;) {
		size_t capacity = BUFFER_SIZE - used,
		       want = capacity < limit ? capacity : (size_t)limit;
		ssize_t n = want ? read(fd, buffer + used, want) : 0;
		char *line = buffer, *end;
		int r;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		limit -= (uint64_t)n;
		used += (size_t)n;
		while ((end = memchr(line, '\n', used - (size_t)(line - buffer)))) {
			*end = '\0';
			r = skip ? 0 : each(context, line, (size_t)(end - line));
			if (r)
				return r;
			skip = false;
			line = end + 1;
		}
		used -= (size_t)(line - buffer);
		memmove(buffer, line, used);
		if (used >= LINES_MAX_SIZE) {
			buffer[LINES_MAX_SIZE] = '\0';
			r = skip ? 0 : each(context, buffer, LINES_MAX_SIZE);
			if (r)
				return r;
			skip = true;
			used = 0;
		}
	}
	if (used && !skip && limit) {
		buffer[used] = '\0';
		return each(context, buffer, used);
	}
	return 0;
}
