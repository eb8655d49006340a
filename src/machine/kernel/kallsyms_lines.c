// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/kallsyms_lines.h"

#include <string.h>

#include "base/lines.h"

/* x86 lists a few per-CPU symbols at 0 first; if so many have no address, none has. */
#define LINES_LOOKED_AT 64

struct reader {
	int (*each)(void *context, const struct kallsyms_line *line);
	void *context;
};

static int read_line(void *context, char *text, size_t size)
{
	const struct reader *reader = context;
	const char *at = text, *end = text + size;
	struct kallsyms_line line = { 0 };
	char *name, *tab;

	if (!lines_hex(&at, end, &line.address) || end - at < 4 || at[0] != ' ' || at[2] != ' ')
		return 0;
	line.type = at[1];
	name = text + (at + 3 - text);
	tab = memchr(name, '\t', (size_t)(end - name));
	line.name = name;
	line.name_size = (size_t)((tab ? tab : end) - name);
	if (line.name_size == 0 || !*name)
		return 0;
	if (tab) {
		*tab = '\0';
		if (end - tab > 3 && tab[1] == '[') {
			line.module = tab + 1;
			line.module_size = (size_t)(end - tab - 1);
		}
	}
	return reader->each(reader->context, &line);
}

int kallsyms_lines_read(int fd, int (*each)(void *context, const struct kallsyms_line *line),
			void *context)
{
	struct reader reader = { .each = each, .context = context };

	return lines_read(fd, UINT64_MAX, read_line, &reader);
}

struct look {
	uint32_t n;
	bool found;
};

static int look_at(void *context, const struct kallsyms_line *line)
{
	struct look *look = context;

	look->found = line->address != 0;
	return look->found || ++look->n == LINES_LOOKED_AT;
}

bool kallsyms_lines_show_addresses(int fd)
{
	struct look look = { 0 };

	kallsyms_lines_read(fd, look_at, &look);
	return look.found;
}
