// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/option_match.h"

#include <string.h>

size_t option_count(const struct command_line *line)
{
	size_t n = 0;

	for (size_t i = 0; i < line->n_tables; i++)
		n += line->tables[i]->n;
	return n;
}

const struct option_row *option_at(const struct command_line *line, size_t number)
{
	size_t i = 0;

	for (; number >= line->tables[i]->n; i++)
		number -= line->tables[i]->n;
	return &line->tables[i]->rows[number];
}

size_t option_number(const struct command_line *line, const struct option_row *row)
{
	size_t number = 0;

	while (option_at(line, number) != row)
		number++;
	return number;
}

const struct option_row *option_by_letter(const struct command_line *line, char letter)
{
	for (size_t i = 0; i < option_count(line); i++) {
		const struct option_row *row = option_at(line, i);

		if (!row->positional && row->letter && row->letter == letter)
			return row;
	}
	return NULL;
}

const struct option_row *option_by_name(const struct command_line *line, const char *name,
					size_t length)
{
	for (size_t i = 0; i < option_count(line); i++) {
		const struct option_row *row = option_at(line, i);

		if (!row->positional && strlen(row->name) == length &&
		    !memcmp(row->name, name, length))
			return row;
	}
	return NULL;
}

/* How many options begin with the prefix, of all or of bcc's own only, and the first of them. */
static size_t count_prefix(const struct command_line *line, const char *prefix, size_t length,
			   bool only_bcc, const struct option_row **ret_first)
{
	size_t n = 0;

	for (size_t i = 0; i < option_count(line); i++) {
		const struct option_row *row = option_at(line, i);

		if (row->positional || row->hidden || (only_bcc && !row->bcc))
			continue;
		if (!strncmp(row->name, prefix, length) && !n++)
			*ret_first = row;
	}
	return n;
}

static int ambiguous(const struct command_line *line, const char *argument, size_t length,
		     struct error *err)
{
	char matches[1000] = "";
	size_t used = 0;

	for (size_t i = 0; i < option_count(line); i++) {
		const struct option_row *row = option_at(line, i);

		if (row->positional || row->hidden || strncmp(row->name, argument + 2, length) ||
		    used >= sizeof(matches))
			continue;
		used += (size_t)snprintf(matches + used, sizeof(matches) - used, "%s--%s",
					 used ? ", " : "", row->name);
	}
	return error_usage(err, "ambiguous option: %.300s could match %s", argument, matches);
}

static int match_long(const struct command_line *line, const char *argument,
		      struct option_match *match, struct error *err)
{
	const char *name = argument + 2, *equals = strchr(name, '=');
	size_t length = equals ? (size_t)(equals - name) : strlen(name);
	size_t n;

	match->is_long = true;
	match->row = option_by_name(line, name, length);
	if (!match->row) {
		/* The abbreviation of an option of bcc stays one, even if options of ours begin so,
		 * too. */
		n = count_prefix(line, name, length, true, &match->row);
		if (!n)
			n = count_prefix(line, name, length, false, &match->row);
		if (n > 1)
			return ambiguous(line, argument, length, err);
	}
	if (match->row && equals)
		match->attached = equals + 1;
	return 0;
}

static bool is_negative_number(const char *argument)
{
	const char *at = argument + 1;
	size_t before = strspn(at, "0123456789"), after;

	at += before;
	if (!*at)
		return before;
	if (*at != '.')
		return false;
	after = strspn(++at, "0123456789");
	return after && !at[after];
}

int option_match(const struct command_line *line, const char *argument,
		 struct option_match *ret_match, struct error *err)
{
	struct option_match match = { 0 };
	int r;

	if (argument[0] != '-' || !argument[1] || !strcmp(argument, "--"))
		return ARGUMENT_VALUE;
	if (argument[1] == '-') {
		r = match_long(line, argument, &match, err);
		if (r)
			return r;
	} else {
		match.row = option_by_letter(line, argument[1]);
		if (match.row && argument[2])
			match.attached = argument + 2 + (argument[2] == '=');
		if (!match.row && is_negative_number(argument))
			return ARGUMENT_VALUE;
	}
	if (!match.row && strchr(argument, ' '))
		return ARGUMENT_VALUE;
	*ret_match = match;
	return ARGUMENT_OPTION;
}
