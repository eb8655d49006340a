// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/option_name.h"

#include <string.h>

const char *option_name(const struct option_row *row, char buffer[static OPTION_NAME_SIZE])
{
	if (row->positional)
		snprintf(buffer, OPTION_NAME_SIZE, "%s", row->name);
	else if (row->letter)
		snprintf(buffer, OPTION_NAME_SIZE, "-%c/--%s", row->letter, row->name);
	else
		snprintf(buffer, OPTION_NAME_SIZE, "--%s", row->name);
	return buffer;
}

const char *option_invocation(const struct option_row *row, char buffer[static OPTION_NAME_SIZE])
{
	const char *space = row->metavar ? " " : "", *metavar = row->metavar ? row->metavar : "";

	if (row->kind == OPTION_STRING_OR_NOT)
		snprintf(buffer, OPTION_NAME_SIZE, "--%s[=%s]", row->name, metavar);
	else if (row->positional)
		snprintf(buffer, OPTION_NAME_SIZE, "%s", row->name);
	else if (row->letter)
		snprintf(buffer, OPTION_NAME_SIZE, "-%c%s%s, --%s%s%s", row->letter, space, metavar,
			 row->name, space, metavar);
	else
		snprintf(buffer, OPTION_NAME_SIZE, "--%s%s%s", row->name, space, metavar);
	return buffer;
}

static bool same_tag(const struct option_row *one, const struct option_row *other)
{
	return one->exclusive && other->exclusive && !strcmp(one->exclusive, other->exclusive);
}

size_t option_group(const struct command_line *line, size_t first)
{
	const struct option_row *row = option_at(line, first);
	size_t n_run = 1, n_all = 0;

	for (size_t i = 0; i < option_count(line); i++)
		n_all += same_tag(row, option_at(line, i));
	while (first + n_run < option_count(line) && same_tag(row, option_at(line, first + n_run)))
		n_run++;
	/* A group with members elsewhere too cannot be shown by brackets. */
	return n_run == n_all ? n_run : 1;
}
