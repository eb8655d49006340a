// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The option parser: the input is split at NULs into an argument vector; its first byte chooses
 * the command.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "commands/profile_options.h"
#include "commands/stackcount_options.h"

#define MAX_ARGUMENTS 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void parse(const struct command_line *line, int argc, char **argv, void *options)
{
	struct error err = { 0 };
	struct options_parsed parsed;
	int r;

	r = options_parse(line, argc, argv, options, &parsed, &err);
	/* A failure has the text of a usage error, success has none. */
	if (r ? !*err.text || err.exit_class != EXIT_CLASS_USAGE : *err.text)
		abort();
	if (!r && parsed.command && !*parsed.command)
		abort();
	options_clear(line, options);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stackcount_options stackcount = STACKCOUNT_OPTIONS_DEFAULT;
	struct profile_options profile = PROFILE_OPTIONS_DEFAULT;
	char *argv[MAX_ARGUMENTS + 1], *text, *at, *end;
	int argc = 0;

	if (!size)
		return 0;
	text = malloc(size);
	if (!text)
		return 0;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	end = text + size;
	for (at = text; at < end && argc < MAX_ARGUMENTS; at += strlen(at) + 1)
		argv[argc++] = at;
	argv[argc] = NULL;

	if (data[0] & 1)
		parse(&stackcount_command_line, argc, argv, &stackcount);
	else
		parse(&profile_command_line, argc, argv, &profile);
	free(text);
	return 0;
}
