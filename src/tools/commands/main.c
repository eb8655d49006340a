// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One program with several names. Called by the name of a command, or by a name that begins so, as
 * distributions rename them, it is that command. By any other name it is stacktally, whose first
 * argument names the command.
 */
#include <string.h>

#include "check/check.h"
#include "cli/message.h"
#include "cli/version.h"
#include "commands/command.h"
#include "commands/last_command.h"
#include "run/probe.h"

static const struct command *const commands[] = { &profile_command, &stackcount_command };

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))
#define USAGE	   "usage: stacktally [-h] [-V] COMMAND ...\n"

static const char help[] =
	USAGE "\n"
	      "Count stack traces in the kernel, and name them\n"
	      "\n"
	      "commands:\n"
	      "  profile               sample what runs on all CPUs\n"
	      "  stackcount            count the stacks that lead to a function, a tracepoint\n"
	      "                        or a USDT probe\n"
	      "  check [--json]        try what works on this machine, and say what is missing\n"
	      "                        and how to get it\n"
	      "  last TIME             report the last minutes, which profile --keep has kept\n"
	      "  probe ready|alive     tell by the exit status whether the measurement works\n"
	      "                        that keeps the file STACKTALLY_STATE_FILE\n"
	      "  help [COMMAND]        show the help of a command\n"
	      "\n"
	      "options:\n"
	      "  -h, --help            show this help message and exit\n"
	      "  -V, --version         show the version and exit\n"
	      "\n"
	      "examples:\n"
	      "    stacktally profile 10                            # everything, for 10 s\n"
	      "    stacktally profile -o out.html -- make           # a command, as a graph\n"
	      "    stacktally last 5m -o before.html                # what was before an alert\n"
	      "    stacktally stackcount -D 5 t:sched:sched_switch  # where threads block\n"
	      "\n"
	      "profile and stackcount are also commands of their own.\n";

static const struct command *by_name(const char *name, bool exactly)
{
	for (size_t i = 0; i < N_COMMANDS; i++) {
		const char *known = commands[i]->line->program;

		if (exactly ? !strcmp(name, known) : !strncmp(name, known, strlen(known)))
			return commands[i];
	}
	return NULL;
}

/* The command's own name is what its help is asked by. */
static int run_command(const struct command *command, int argc, char **argv)
{
	char program[64];

	snprintf(program, sizeof(program), "stacktally %s", command->line->program);
	return command_run(command, program, argc, argv);
}

static int answer(const char *text)
{
	fputs(text, stdout);
	return command_answered();
}

static int answer_version(void)
{
	printf("stacktally %s\n", version_text);
	return command_answered();
}

static bool is_one_of(const char *argument, const char *one, const char *other)
{
	return !strcmp(argument, one) || !strcmp(argument, other);
}

static int front_check(const struct command_line *line, int argc, char **argv)
{
	bool json = argc == 3 && !strcmp(argv[2], "--json");
	struct error err = { 0 };

	if (argc == 3 && is_one_of(argv[2], "-h", "--help"))
		return answer(help);
	if (argc == 2 || json)
		return check(json);
	error_usage(&err, "check takes --json, and nothing else");
	return message_usage_error(line, &err);
}

static int front_probe(const struct command_line *line, int argc, char **argv)
{
	struct error err = { 0 };

	if (argc == 3 && is_one_of(argv[2], "-h", "--help"))
		return answer(help);
	if (probe(argc == 3 ? argv[2] : "", &err) == 0)
		return EXIT_CLASS_OK;
	return message_error(line->program, &err);
}

static int front(int argc, char **argv)
{
	static const struct command_line line = { .program = "stacktally" };
	const struct command *command;
	struct error err = { 0 };

	if (argc < 2) {
		fputs(help, stderr);
		return EXIT_CLASS_USAGE;
	}
	if (is_one_of(argv[1], "-h", "--help") || (argc == 2 && !strcmp(argv[1], "help")))
		return answer(help);
	if (is_one_of(argv[1], "-V", "--version"))
		return answer_version();
	if (!strcmp(argv[1], "check"))
		return front_check(&line, argc, argv);
	if (!strcmp(argv[1], "probe"))
		return front_probe(&line, argc, argv);
	if (!strcmp(argv[1], "help")) {
		argv[1] = argv[2];
		argv[2] = "--help";
		argc = 3;
	}
	if (!strcmp(argv[1], "last"))
		return last_command(argc - 1, argv + 1);
	command = by_name(argv[1], true);
	if (command)
		return run_command(command, argc - 1, argv + 1);
	error_usage(&err,
		    "no command '%s' (choose from 'profile', 'stackcount', 'check', 'last', "
		    "'probe', 'help')",
		    argv[1]);
	return message_usage_error(&line, &err);
}

int main(int argc, char **argv)
{
	const char *program = options_program(argv[0], "stacktally");
	const struct command *command = by_name(program, false);

	return command ? command_run(command, program, argc, argv) : front(argc, argv);
}
