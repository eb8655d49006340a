// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Usage and help in argparse's layout for a terminal of 80 columns, line for line.
 */
#include <string.h>

#include "cli/option_name.h"
#include "cli/options.h"
#include "cli/version.h"

#define WIDTH	      78 /* argparse leaves two columns free */
#define INDENT	      2
#define HELP_COLUMN   24
#define EXAMPLE_WIDTH 24
#define PREFIX	      "usage: "
#define COMMAND_USAGE "-- COMMAND ..."

/* The usage line that is being filled; its parts are never broken. */
struct usage_line {
	FILE *out;
	size_t column; /* of the next part, without the space before it */
	size_t indent;
	bool empty;
};

static void usage_newline(struct usage_line *line)
{
	fprintf(line->out, "\n%*s", (int)line->indent, "");
	line->column = line->indent - 1;
	line->empty = true;
}

static void usage_part(struct usage_line *line, const char *part)
{
	if (!line->empty && line->column + 1 + strlen(part) > WIDTH)
		usage_newline(line);
	fprintf(line->out, "%s%s", line->empty ? "" : " ", part);
	line->column += 1 + strlen(part);
	line->empty = false;
}

/* "-p PID": the first name of an option and its value. */
static void format_short(const struct option_row *row, char *buffer, size_t size)
{
	const char *space = row->metavar ? " " : "", *metavar = row->metavar ? row->metavar : "";

	if (row->kind == OPTION_STRING_OR_NOT)
		snprintf(buffer, size, "--%s[=%s]", row->name, metavar);
	else if (row->letter)
		snprintf(buffer, size, "-%c%s%s", row->letter, space, metavar);
	else
		snprintf(buffer, size, "--%s%s%s", row->name, space, metavar);
}

/* "[-d]" or, of options that exclude one another, "[-p PID | -L TID]". */
static void format_part(const struct command_line *line, size_t first, size_t n, char *buffer,
			size_t size)
{
	char one[OPTION_NAME_SIZE];
	size_t used = 0;

	for (size_t i = first; i < first + n && used < size; i++) {
		format_short(option_at(line, i), one, sizeof(one));
		used += (size_t)snprintf(buffer + used, size - used, "%s%s", used ? " | " : "[",
					 one);
	}
	if (used < size)
		snprintf(buffer + used, size - used, "]");
}

/* Calls usage_part() for each, or only adds up their widths with `usage` NULL. */
static size_t put_options(const struct command_line *line, struct usage_line *usage)
{
	char part[4 * OPTION_NAME_SIZE];
	size_t width = 0, n;

	for (size_t i = 0; i < option_count(line); i += n) {
		n = option_group(line, i);
		if (option_at(line, i)->positional || option_at(line, i)->hidden)
			continue;
		format_part(line, i, n, part, sizeof(part));
		width += 1 + strlen(part);
		if (usage)
			usage_part(usage, part);
	}
	return width;
}

static size_t put_positionals(const struct command_line *line, struct usage_line *usage)
{
	char part[OPTION_NAME_SIZE];
	size_t width = 0;

	for (size_t i = 0; i < option_count(line); i++) {
		const struct option_row *row = option_at(line, i);

		if (!row->positional || row->hidden)
			continue;
		snprintf(part, sizeof(part), row->required ? "%s" : "[%s]", row->name);
		width += 1 + strlen(part);
		if (usage)
			usage_part(usage, part);
	}
	if (line->takes_command) {
		width += 1 + strlen("[" COMMAND_USAGE "]");
		if (usage)
			usage_part(usage, "[" COMMAND_USAGE "]");
	}
	return width;
}

static void put_usage(const struct command_line *line, FILE *out)
{
	size_t program = strlen(line->program), positionals = put_positionals(line, NULL);
	bool one_line, beside;
	struct usage_line usage = { .out = out };

	one_line = strlen(PREFIX) + program + put_options(line, NULL) + positionals <= WIDTH;
	/* A long name stands alone. */
	beside = one_line || strlen(PREFIX) + program <= WIDTH * 3 / 4;

	fprintf(out, PREFIX "%s", line->program);
	usage.indent = strlen(PREFIX) + (beside ? program + 1 : 0);
	usage.column = strlen(PREFIX) + program;
	if (!beside)
		usage_newline(&usage);
	put_options(line, &usage);
	if (!one_line && positionals && !usage.empty)
		usage_newline(&usage);
	put_positionals(line, &usage);
	fputc('\n', out);
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/*
 * The length of the next piece that a line break may follow: a word, or the part of a word up to
 * a hyphen between letters, as Python's textwrap sees them.
 */
static size_t piece_length(const char *text, const char *start)
{
	const char *at = text;

	for (; *at && *at != ' '; at++) {
		bool before, after;

		if (*at != '-' || at - start < 2 || !is_letter(at[-1]))
			continue;
		before =
			is_letter(at[-2]) || (at[-2] == '-' && at - start > 2 && is_letter(at[-3]));
		after = is_letter(at[1]) &&
			(is_letter(at[2]) || (at[2] == '-' && is_letter(at[3])));
		if (before && after)
			return (size_t)(at + 1 - text);
	}
	return (size_t)(at - text);
}

/* Fills lines from `column` to the width; the caller has put the cursor there. */
static void put_wrapped(FILE *out, const char *text, size_t column)
{
	size_t capacity = WIDTH - column, used = 0, length, space;

	for (const char *at = text; *at; at += length) {
		space = 0;
		while (*at == ' ') {
			at++;
			space = 1;
		}
		length = piece_length(at, text);
		if (used && used + space + length > capacity) {
			fprintf(out, "\n%*s", (int)column, "");
			used = 0;
		}
		if (used && space)
			fputc(' ', out);
		used += (used ? space : 0) + length;
		fwrite(at, 1, length, out);
	}
	fputc('\n', out);
}

static void put_item(FILE *out, const char *invocation, const char *help)
{
	size_t length = strlen(invocation);

	if (length <= HELP_COLUMN - INDENT - 2)
		fprintf(out, "%*s%-*s", INDENT, "", HELP_COLUMN - INDENT, invocation);
	else
		fprintf(out, "%*s%s\n%*s", INDENT, "", invocation, HELP_COLUMN, "");
	put_wrapped(out, help, HELP_COLUMN);
}

static void put_row(FILE *out, const struct option_row *row)
{
	char invocation[OPTION_NAME_SIZE];

	put_item(out, option_invocation(row, invocation), row->help);
}

static void put_positional_section(const struct command_line *line, FILE *out)
{
	bool headed = false;

	for (size_t i = 0; i < option_count(line); i++) {
		if (!option_at(line, i)->positional || option_at(line, i)->hidden)
			continue;
		if (!headed)
			fputs("\npositional arguments:\n", out);
		headed = true;
		put_row(out, option_at(line, i));
	}
	if (!line->takes_command)
		return;
	if (!headed)
		fputs("\npositional arguments:\n", out);
	put_item(out, COMMAND_USAGE,
		 "run COMMAND, and measure it and all that it starts, until it ends");
}

static bool same_section(const char *one, const char *other)
{
	return one == other || (one && other && !strcmp(one, other));
}

static void put_option_sections(const struct command_line *line, FILE *out)
{
	const char *section = NULL;
	bool headed = false;

	for (size_t i = 0; i < option_count(line); i++) {
		const struct option_row *row = option_at(line, i);

		if (row->positional || row->hidden)
			continue;
		if (!headed || !same_section(row->section, section))
			fprintf(out, "\n%s:\n", row->section ? row->section : "options");
		headed = true;
		section = row->section;
		put_row(out, row);
	}
}

static void put_examples(const struct command_line *line, const struct option_example *examples,
			 FILE *out)
{
	int program = (int)strlen(line->program), width = program + EXAMPLE_WIDTH;

	if (!examples || !examples->command)
		return;
	fputs("\nexamples:\n", out);
	for (const struct option_example *example = examples; example->command; example++) {
		int used = fprintf(out, "    %s%s%s", line->program, *example->command ? " " : "",
				   example->command);

		fprintf(out, "%*s # %s\n", used < width ? width - used : 1, "", example->says);
	}
}

void options_help(const struct command_line *line, FILE *out)
{
	put_usage(line, out);
	fprintf(out, "\n%s\n", line->description);
	put_positional_section(line, out);
	put_option_sections(line, out);
	put_examples(line, line->examples, out);
}

void options_brief(const struct command_line *line, FILE *out)
{
	fprintf(out, PREFIX "%s [OPTION ...]", line->program);
	put_positionals(line, &(struct usage_line){ .out = out });
	fprintf(out, "\n\n%s\n", line->description);
	put_examples(line, line->brief, out);
	fprintf(out, "\n%s --help has all options.\n", line->program);
}

void options_answer(const struct command_line *line, enum parsed parsed, FILE *out)
{
	switch (parsed) {
	case PARSED_RUN:
		break;
	case PARSED_BRIEF:
		options_brief(line, out);
		break;
	case PARSED_HELP:
		options_help(line, out);
		break;
	case PARSED_VERSION:
		fprintf(out, "%s (stacktally) %s\n", line->program, version_text);
		break;
	case PARSED_MAN:
		options_man(line, out);
		break;
	case PARSED_COMPLETION:
		options_completion(line, out);
		break;
	case PARSED_COMPLETION_ZSH:
		options_completion_zsh(line, out);
		break;
	case PARSED_COMPLETION_FISH:
		options_completion_fish(line, out);
		break;
	}
}

const char *options_program(const char *argv0, const char *otherwise)
{
	const char *slash = argv0 ? strrchr(argv0, '/') : NULL;
	const char *program = slash ? slash + 1 : argv0;

	return program && *program ? program : otherwise;
}
