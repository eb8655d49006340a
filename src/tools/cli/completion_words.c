// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/completion_words.h"

const char *completion_says(const struct option_row *row, char ret_text[COMPLETION_SAYS_SIZE])
{
	size_t n = 0, space = 0;

	for (const char *at = row->help; *at && n + 1 < COMPLETION_SAYS_SIZE; at++) {
		if (strchr(";(:", *at))
			break;
		if (*at == ' ')
			space = n;
		if (!strchr("'`\"[]\\$", *at))
			ret_text[n++] = *at;
	}
	if (n + 1 == COMPLETION_SAYS_SIZE && space)
		n = space;
	while (n && ret_text[n - 1] == ' ')
		n--;
	ret_text[n] = '\0';
	return ret_text;
}

const struct option_row *completion_positional(const struct command_line *line)
{
	for (size_t i = 0; i < option_count(line); i++)
		if (option_at(line, i)->positional && !option_at(line, i)->hidden)
			return option_at(line, i);
	return NULL;
}
