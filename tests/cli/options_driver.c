// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parses a command line with the tables of the commands and prints the result, so that shell tests
 * can check the parser without a measurement.
 *
 *   options_driver profile|stackcount ARGUMENT ...   the options and arguments
 *   options_driver --table profile|stackcount        the table, one row a line, tab-separated
 *   options_driver --help profile|stackcount         help as if no COMMAND could be given
 */
#include <inttypes.h>
#include <string.h>

#include "cli/message.h"
#include "cli/options.h"
#include "commands/profile_options.h"
#include "commands/stackcount_options.h"

union options {
	struct profile_options profile;
	struct stackcount_options stackcount;
};

static void print_value(const struct option_row *row, const void *field)
{
	const struct id_list *ids = field;
	const struct string_list *strings = field;

	switch (row->kind) {
	case OPTION_FLAG:
		printf("%d", *(const bool *)field);
		break;
	case OPTION_POSITIVE:
	case OPTION_COUNT:
		printf("%" PRIu64, *(const uint64_t *)field);
		break;
	case OPTION_INT:
		printf("%" PRId64, *(const int64_t *)field);
		break;
	case OPTION_SECONDS:
		printf("%g", *(const double *)field);
		break;
	case OPTION_STRING:
	case OPTION_STRING_OR_NOT:
		printf("%s", *(const char *const *)field ?: "-");
		break;
	case OPTION_STRINGS:
		for (uint32_t i = 0; i < strings->n; i++)
			printf("%s%s", i ? "|" : "", strings->strings[i]);
		break;
	case OPTION_IDS:
	case OPTION_IDS_INT:
		for (uint32_t i = 0; i < ids->n; i++)
			printf("%s%d", i ? "," : "", ids->ids[i]);
		break;
	case OPTION_CPUS:
		for (uint32_t i = 0; i < ids->n; i++)
			printf("%s%d", i ? "," : "", ids->ids[i]);
		if (!ids->n) /* all: bcc's default */
			printf("-1");
		break;
	default:
		break;
	}
}

static void print_values(const struct command_line *line, const void *options, char **command)
{
	for (size_t i = 0; i < option_count(line); i++) {
		const struct option_row *row = option_at(line, i);

		if (row->field == OPTION_NO_FIELD)
			continue;
		printf("%s=", row->name);
		print_value(row, (const char *)options + row->field);
		putchar('\n');
	}
	for (; command && *command; command++)
		printf("command=%s\n", *command);
}

static void print_table(const struct command_line *line)
{
	for (size_t i = 0; i < option_count(line); i++) {
		const struct option_row *row = option_at(line, i);

		bool or_not = row->kind == OPTION_STRING_OR_NOT;

		printf("%s\t%s\t%c\t%s%s%s\t%s\t%s\t%s\t%s\n", row->section ?: "", row->name,
		       row->letter ?: '-', or_not ? "[=" : "", row->metavar ?: "",
		       or_not ? "]" : "", row->exclusive ?: "",
		       row->positional ? (row->required ? "required" : "positional") : "option",
		       row->hidden ? "hidden" : "visible", row->help);
	}
}

static const struct command_line *command_line(const char *name)
{
	return !strcmp(name, "stackcount") ? &stackcount_command_line : &profile_command_line;
}

int main(int argc, char **argv)
{
	struct error err = { 0 };
	struct options_parsed parsed;
	union options options;
	struct command_line line;
	int code = 0;

	if (argc < 2)
		return 64;
	line = *command_line(argv[argc > 2 ? 1 + !strncmp(argv[1], "--", 2) : 1]);
	if (!strcmp(argv[1], "--table")) {
		print_table(&line);
		return 0;
	}
	if (!strcmp(argv[1], "--help")) {
		line.takes_command = false;
		options_help(&line, stdout);
		return 0;
	}

	memset(&options, 0, sizeof(options));
	if (line.tables == stackcount_command_line.tables)
		options.stackcount = (struct stackcount_options)STACKCOUNT_OPTIONS_DEFAULT;
	else
		options.profile = (struct profile_options)PROFILE_OPTIONS_DEFAULT;
	line.program = options_program(argv[1], line.program);
	if (options_parse(&line, argc - 1, argv + 1, &options, &parsed, &err))
		code = message_usage_error(&line, &err);
	else if (parsed.parsed != PARSED_RUN)
		options_answer(&line, parsed.parsed, stdout);
	else
		print_values(&line, &options, parsed.command);
	options_clear(&line, &options);
	return code;
}
