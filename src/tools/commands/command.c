// SPDX-License-Identifier: GPL-2.0-or-later
#include "commands/command.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/own.h"
#include "cli/message.h"
#include "commands/frame_options.h"
#include "commands/from_options.h"
#include "commands/shared_outputs.h"
#include "commands/shared_plan.h"

#define OUR_NICE (-10)

/* Characters that a shell does not have to quote. */
#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.+:,"

/*
 * So that a busy machine does not keep us from beginning, and from draining in time. With nice 10
 * beside 20 busy programs, 0.2 s of work took 20 s.
 */
static void raise_priority(void)
{
	if (getpriority(PRIO_PROCESS, 0) > OUR_NICE)
		setpriority(PRIO_PROCESS, 0, OUR_NICE);
}

static int plan_and_start(const struct command *command, const struct command_line *line,
			  struct invocation *invocation, const struct options_parsed *parsed)
{
	const struct shared_options *shared = invocation->options;
	struct run_request *request = &invocation->request;
	bool stacks = command->asks_for_stacks && command->asks_for_stacks(shared);
	own(own_frame_filter_free) struct frame_filter *filter = NULL;
	struct error err = { 0 };
	int status;

	if (frame_options_filter(shared, &filter, &err) < 0)
		return message_usage_error(line, &err);
	if (shared->from && from_options_check(line, parsed, &err) < 0)
		return message_error(line->program, &err);
	if (shared_plan(shared, stacks, parsed->command, &invocation->plan, &request->report,
			&err) < 0)
		return message_usage_error(line, &err);
	request->report.filter = filter;
	request->program = line->program;
	request->plan = &invocation->plan;
	request->options = invocation;
	request->meta.command = command->line->program;
	status = command->complete(invocation);
	shared_facts_meta(&invocation->plan, &invocation->texts, &request->meta);
	if (!status) {
		shared_outputs_notes(shared, &invocation->plan, request->report.verbose_address);
		if (!shared->from)
			raise_priority();
		status =
			shared->from ? run_from(request, shared->from) : command->start(invocation);
	}
	shared_outputs_clear(&invocation->plan);
	return status;
}

int command_answered(void)
{
	/* After a failed write fflush() may succeed, with nothing left to write. */
	return fflush(stdout) == 0 && !ferror(stdout) ? EXIT_CLASS_OK : EXIT_CLASS_RUNTIME;
}

/* The value of an argument that is -p or --pid, or follows it; NULL: it is another one. */
static const char *id_text(char *const *argument)
{
	if (strcmp(*argument, "-p") == 0 || strcmp(*argument, "--pid") == 0)
		return argument[1];
	if (strncmp(*argument, "--pid=", strlen("--pid=")) == 0)
		return *argument + strlen("--pid=");
	return strncmp(*argument, "-p", 2) == 0 ? *argument + 2 : NULL;
}

#define NAMES_SIZE 64
#define NAME_SIZE  (NAMES_SIZE + 32)

static bool is_name(const char *text)
{
	return isalpha((unsigned char)*text) && text[strspn(text, NAME_CHARACTERS)] == '\0';
}

/* "--name node" of a name, and of several, "node,java", what finds their ids. */
static bool put_names(const char *text, char ret_text[NAME_SIZE])
{
	char names[NAMES_SIZE];

	if (strlen(text) >= sizeof(names) || !is_name(text))
		return false;
	snprintf(names, sizeof(names), "%s", text);
	if (!strchr(text, ',')) {
		snprintf(ret_text, NAME_SIZE, "--name %s", names);
		return true;
	}
	for (char *at = names; *at; at++)
		if (*at == ',')
			*at = '|';
	snprintf(ret_text, NAME_SIZE, "-p $(pgrep -d, -x \"%s\")", names);
	return true;
}

/* A name in the place of an id, or of the duration, is what --name is for. */
static const char *find_name(char *const *argv, const struct error *err, char ret_text[NAME_SIZE])
{
	bool of_ids = strstr(err->text, "argument -p/--pid: ") != NULL;

	if (!of_ids && !strstr(err->text, "argument duration: must be a number"))
		return NULL;
	for (char *const *at = argv + 1; *at && strcmp(*at, "--") != 0; at++) {
		/* A word behind an option may be its value. */
		const char *text = of_ids ? id_text(at) : at[-1][0] == '-' ? NULL : *at;

		if (text && put_names(text, ret_text))
			return ret_text;
	}
	return NULL;
}

int command_run(const struct command *command, const char *program, int argc, char **argv)
{
	own(own_free) void *options = malloc(command->options_size);
	own(own_free) char *command_line = shared_facts_command_line(argc, argv);
	struct invocation invocation = { .options = options, .request.began = monotonic_ns() };
	const struct shared_options *shared = options;
	struct command_line line = *command->line;
	struct options_parsed parsed = { 0 };
	char instead[NAME_SIZE];
	struct error err = { 0 };
	int status;

	/* A write to a closed pipe, or beyond a limit of size, then fails like any other, and
	 * probes are removed. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	line.program = program;
	if (!options || !command_line) {
		error_set(&err, -ENOMEM, "out of memory");
		return message_error(program, &err);
	}
	memcpy(options, command->defaults, command->options_size);
	if (options_parse(&line, argc, argv, options, &parsed, &err) < 0) {
		status = message_usage_error_instead(&line, &err, find_name(argv, &err, instead));
	} else if (parsed.parsed != PARSED_RUN) {
		options_answer(&line, parsed.parsed, stdout);
		status = command_answered();
	} else {
		message_set_level(shared->quiet	    ? MESSAGE_QUIET
				  : shared->verbose ? MESSAGE_VERBOSE
						    : MESSAGE_NORMAL);
		invocation.request.meta.command_line = command_line;
		status = plan_and_start(command, &line, &invocation, &parsed);
	}
	options_clear(&line, options);
	return status;
}
