// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/module_lines.h"

#include <string.h>

#include "base/lines.h"

#define MAX_BYTES	(64u << 20)
#define MAX_MODULE_SIZE (1u << 30)

struct reader {
	int (*each)(void *context, const struct module_line *line);
	void *context;
};

static int read_line(void *context, char *text, size_t size)
{
	const struct reader *reader = context;
	const char *at, *state = NULL, *end = text + size;
	char *name_end = memchr(text, ' ', size);
	struct module_line line = { .name = text };
	uint64_t bytes = 0;
	uint32_t spaces = 0;

	if (!name_end || name_end == text)
		return 0;
	for (at = name_end + 1; at < end && *at >= '0' && *at <= '9' && bytes < MAX_MODULE_SIZE;
	     at++)
		bytes = bytes * 10 + (uint64_t)(*at - '0');
	/* Over the users, what it is used by, and the state. */
	for (; at < end && spaces < 4; at++) {
		spaces += *at == ' ';
		if (spaces == 3 && *at == ' ')
			state = at + 1;
	}
	if (!state || end - at < 3 || at[0] != '0' || at[1] != 'x')
		return 0;
	at += 2;
	if (!lines_hex(&at, end, &line.start) || !line.start)
		return 0;
	*name_end = '\0';
	line.end = line.start + bytes;
	line.live = strncmp(state, "Live ", strlen("Live ")) == 0;
	return reader->each(reader->context, &line);
}

int module_lines_read(int fd, int (*each)(void *context, const struct module_line *line),
		      void *context)
{
	struct reader reader = { .each = each, .context = context };

	return lines_read(fd, MAX_BYTES, read_line, &reader);
}
