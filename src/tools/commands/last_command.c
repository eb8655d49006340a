// SPDX-License-Identifier: GPL-2.0-or-later
#include "commands/last_command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/duration.h"
#include "base/own.h"
#include "cli/message.h"
#include "cli/value.h"
#include "commands/command.h"
#include "run/last.h"

#define PROGRAM "stacktally last"
#define NS	1000000000.0

static const char help[] =
	"usage: stacktally last TIME [--of NAME] [OPTION ...]\n"
	"\n"
	"Report what a running profile --keep or stackcount --keep has kept of the last TIME\n"
	"(as 300, 90s, 5m or 1h)\n"
	"\n"
	"options:\n"
	"  --of NAME             of this process, as profile.1234 or 1234, if several keep\n"
	"                        (default: the one that kept something last)\n"
	"  OPTION                all that profile --from FILE takes, such as -o, --top, -p\n"
	"\n"
	"examples:\n"
	"    profile --keep 10m -q &                  # beforehand, or in the service's OPTIONS\n"
	"    stacktally last 5m -o before.html        # what was before the alert\n"
	"    stacktally last 2m --top -p 1234         # a table, of a process\n";

struct arguments {
	double seconds;
	const char *of; /* NULL: any */
	char **rest;
	int n_rest;
};

static int parse(int argc, char **argv, struct arguments *ret_arguments, struct error *err)
{
	static const struct option_row time_row = { .name = "TIME", .kind = OPTION_SECONDS };
	struct arguments arguments = { 0 };
	struct value_error why;
	int at = 2;

	if (argc < 2)
		return error_usage(err, "how much of the last time? For example: " PROGRAM
					" 5m -o before.html");
	if (value_store(&time_row, argv[1], &arguments.seconds, &why) < 0)
		return error_usage(err, "argument TIME: %s", why.text);
	if (argc > at + 1 && strcmp(argv[at], "--of") == 0) {
		arguments.of = argv[at + 1];
		at += 2;
	}
	arguments.rest = argv + at;
	arguments.n_rest = argc - at;
	*ret_arguments = arguments;
	return 0;
}

/* As profile --from the recording. */
static int report(const struct last *last, const struct arguments *arguments)
{
	const struct command *command = last->of_events ? &stackcount_command : &profile_command;
	own(own_free) char **argv = calloc((size_t)arguments->n_rest + 4, sizeof(*argv));
	char from[64];
	int n = 0;

	if (!argv)
		return EXIT_CLASS_RUNTIME;
	/* Its first bucket may have begun before. */
	if (last->begin_ns > 0)
		snprintf(from, sizeof(from), "/proc/self/fd/%d:%.3f-", last->fd,
			 (double)last->begin_ns / NS);
	else
		snprintf(from, sizeof(from), "/proc/self/fd/%d", last->fd);
	argv[n++] = "last";
	argv[n++] = "--from";
	argv[n++] = from;
	for (int i = 0; i < arguments->n_rest; i++)
		argv[n++] = arguments->rest[i];
	return command_run(command, PROGRAM, n, argv);
}

static void tell(const struct last *last)
{
	char ago[DURATION_SIZE];

	duration_text(last->ago_ns, ago, sizeof(ago));
	message_note("from %s, up to %s ago", last->from, ago);
	if (last->others > 0)
		message_note("%u more keep something: --of NAME, by the names in %s/..",
			     last->others, last->from);
}

int last_command(int argc, char **argv)
{
	static const struct command_line line = { .program = PROGRAM };
	struct arguments arguments = { 0 };
	struct error err = { 0 };
	struct last last;
	int status;

	if (argc == 2 && (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0)) {
		fputs(help, stdout);
		return command_answered();
	}
	if (parse(argc, argv, &arguments, &err) < 0)
		return message_usage_error(&line, &err);
	if (last_load((uint64_t)(arguments.seconds * NS), arguments.of, &last, &err) < 0)
		return message_error(PROGRAM, &err);
	status = report(&last, &arguments);
	if (status == EXIT_CLASS_OK)
		tell(&last);
	close(last.fd);
	return status;
}
