// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The man page in man(7) macros: name, synopsis, options and examples come from the table, the
 * other sections from the command.
 */
#include <ctype.h>
#include <string.h>

#include "cli/option_name.h"
#include "cli/options.h"

#define MAN_SECTION 8
#define MAN_DATE    "2026-11-21"

/* Text that users type: roff must not replace its characters by typographic ones. */
static void put_literal(FILE *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '-':
			fputs("\\-", out);
			break;
		case '\\':
			fputs("\\e", out);
			break;
		case '\'':
			fputs("\\(aq", out);
			break;
		case '"':
			fputs("\\(dq", out);
			break;
		case '^':
			fputs("\\(ha", out);
			break;
		case '~':
			fputs("\\(ti", out);
			break;
		default:
			fputc(*text, out);
		}
	}
}

/* Prose: hyphens stay hyphens; those of options become minus signs. */
static void put_sentence(FILE *out, const char *text)
{
	bool in_option = false;
	size_t length = strlen(text);

	if (*text == '.' || *text == '\'')
		fputs("\\&", out);
	for (const char *at = text; *at; at++) {
		if (at == text || at[-1] == ' ' || at[-1] == '(')
			in_option = *at == '-';
		if (*at == '\\')
			fputs("\\e", out);
		else if (*at == '-' && in_option)
			fputs("\\-", out);
		else if (at == text)
			fputc(toupper((unsigned char)*at), out);
		else
			fputc(*at, out);
	}
	fputs(length && text[length - 1] == '.' ? "\n" : ".\n", out);
}

/* "\fB-p\fR \fIPID\fR, \fB--pid\fR \fIPID\fR" */
static void put_invocation(FILE *out, const struct option_row *row)
{
	if (row->positional) {
		fprintf(out, "\\fI%s\\fR\n", row->name);
		return;
	}
	if (row->letter) {
		fprintf(out, "\\fB\\-%c\\fR", row->letter);
		if (row->metavar)
			fprintf(out, " \\fI%s\\fR", row->metavar);
		fputs(", ", out);
	}
	fputs("\\fB\\-\\-", out);
	put_literal(out, row->name);
	fputs("\\fR", out);
	if (row->kind == OPTION_STRING_OR_NOT)
		fprintf(out, "[=\\fI%s\\fR]", row->metavar);
	else if (row->metavar)
		fprintf(out, " \\fI%s\\fR", row->metavar);
	fputc('\n', out);
}

static void put_rows(const struct command_line *line, bool positional, FILE *out)
{
	const char *section = NULL;

	for (size_t i = 0; i < option_count(line); i++) {
		const struct option_row *row = option_at(line, i);

		if (row->hidden || row->positional != positional)
			continue;
		if (row->section && (!section || strcmp(row->section, section))) {
			fputs(".SS ", out);
			fputc(toupper((unsigned char)*row->section), out);
			fprintf(out, "%s\n", row->section + 1);
		}
		section = row->section;
		fputs(".TP\n", out);
		put_invocation(out, row);
		put_sentence(out, row->help);
	}
}

static void put_synopsis(const struct command_line *line, FILE *out)
{
	fputs(".SH SYNOPSIS\n.B ", out);
	put_literal(out, line->program);
	fputs("\n[\\fIOPTION\\fR ...]", out);
	for (size_t i = 0; i < option_count(line); i++) {
		const struct option_row *row = option_at(line, i);

		if (row->positional && !row->hidden)
			fprintf(out, row->required ? " \\fI%s\\fR" : " [\\fI%s\\fR]", row->name);
	}
	if (line->takes_command)
		fputs(" [\\fB\\-\\-\\fR \\fICOMMAND\\fR ...]", out);
	fputc('\n', out);
}

static void put_options(const struct command_line *line, FILE *out)
{
	fputs(".SH OPTIONS\n", out);
	put_rows(line, true, out);
	if (line->takes_command)
		fputs(".TP\n\\fB\\-\\-\\fR \\fICOMMAND\\fR ...\n"
		      "Run COMMAND, and measure it and all that it starts, until it ends.\n",
		      out);
	put_rows(line, false, out);
}

static void put_examples(const struct command_line *line, FILE *out)
{
	if (!line->examples || !line->examples->command)
		return;
	fputs(".SH EXAMPLES\n", out);
	for (const struct option_example *example = line->examples; example->command; example++) {
		fputs(".TP\n\\fB", out);
		put_literal(out, line->program);
		if (*example->command)
			fputc(' ', out);
		put_literal(out, example->command);
		fputs("\\fR\n", out);
		put_sentence(out, example->says);
	}
}

static void put_section(const struct manual_section *section, FILE *out)
{
	fprintf(out, ".SH %s\n%s", section->title, section->text);
}

void options_man(const struct command_line *line, FILE *out)
{
	const struct manual_section *section = line->manual;

	fputs(".\\\" Generated from the table of options; see src/tools/cli/man.c.\n.TH ", out);
	for (const char *at = line->program; *at; at++)
		fputc(toupper((unsigned char)*at), out);
	fprintf(out, " %d " MAN_DATE " \"stacktally %s\" \"System Administration\"\n", MAN_SECTION,
		STACKTALLY_VERSION);
	fputs(".SH NAME\n", out);
	put_literal(out, line->program);
	fprintf(out, " \\- %s\n", line->description);
	put_synopsis(line, out);
	if (section && section->title)
		put_section(section++, out);
	put_options(line, out);
	for (; section && section->title; section++)
		put_section(section, out);
	put_examples(line, out);
	if (line->see_also)
		fprintf(out, ".SH \"SEE ALSO\"\n%s", line->see_also);
}
