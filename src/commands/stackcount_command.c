// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stackcount: counts the stacks of events. Its trigger is made of probes; run() does the rest.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/own.h"
#include "cli/message.h"
#include "commands/from_options.h"
#include "commands/shared_plan.h"
#include "commands/stackcount_options.h"
#include "run/run.h"
#include "trigger/spec.h"

struct invocation {
	struct stackcount_options options;
	struct plan plan;
	struct shared_texts texts;
	char *command_line;
};

static void title(const void *context, uint32_t n, char *ret_title, size_t size)
{
	const struct invocation *invocation = context;

	snprintf(ret_title, size, "Tracing %u functions for \"%s\"... Hit Ctrl-C to end.", n,
		 invocation->options.pattern);
}

struct progress {
	time_t began, told;
};

/* Probes attached or detached one by one can take minutes: tell how many are done, each second. */
static void on_progress(void *context, bool detaching, uint32_t done, uint32_t total)
{
	struct progress *progress = context;
	time_t now = time(NULL);

	if (done <= 1 || !progress->began)
		progress->began = progress->told = now;
	if (now - progress->told < 1)
		return;
	progress->told = now;
	message_note("%s: %u of %u probes", detaching ? "detaching" : "attaching", done, total);
}

static void attached(const void *context, const struct trigger *trigger)
{
	const char *text;
	uint32_t n = spec_trigger_left_out(trigger, &text);

	(void)context;
	if (n)
		message_note("%u match%s left out: %s", n, n == 1 ? "" : "es", text);
}

static int start(const struct run_request *request, const struct invocation *invocation)
{
	const struct stackcount_options *options = &invocation->options;
	const struct id_list *tgids = &options->shared.tgids;
	struct progress progress = { 0 };
	struct trigger *trigger = NULL;
	struct error err = { 0 };

	if (spec_trigger_new(options->pattern, options->regexp, tgids->n == 1 ? tgids->ids[0] : 0,
			     &trigger, &err) < 0)
		return message_error(request->program, &err);
	spec_trigger_on_progress(trigger, on_progress, &progress);
	return run(request, trigger);
}

/* As in bcc, the duration is rounded up to whole intervals: -i 2 -D 3 takes 4 s. */
static void plan_times(struct plan *plan)
{
	uint64_t intervals;

	if (plan->interval <= 0 || plan->duration <= 0)
		return;
	intervals = (uint64_t)(plan->duration / plan->interval);
	if ((double)intervals * plan->interval < plan->duration)
		intervals++;
	plan->duration = (double)intervals * plan->interval;
}

static int plan_and_start(struct invocation *invocation, const struct command_line *line,
			  const struct options_parsed *parsed)
{
	const struct stackcount_options *options = &invocation->options;
	const struct shared_options *shared = &options->shared;
	struct run_request request = {
		.program = line->program,
		.plan = &invocation->plan,
		.title = title,
		.attached = attached,
		.options = invocation,
		.pattern = options->pattern,
		.timestamp = options->timestamp,
		.farewell = "Detaching...",
	};
	struct error err = { 0 };
	int status;

	if (shared->user_only && shared->kernel_only) {
		message_line("ERROR: -K and -U are mutually exclusive. If you want both stacks, "
			     "that is the default.");
		return EXIT_CLASS_USAGE;
	}
	if (shared->from && from_options_check(line, parsed, &err) < 0)
		return message_error(line->program, &err);
	if (shared_plan(shared, parsed->command, &invocation->plan, &request.report, &err) < 0)
		return message_usage_error(line, &err);
	/* Events of idle tasks (switches, wakeups, interrupts) count. */
	invocation->plan.filter.include_idle = !shared->from;
	plan_times(&invocation->plan);
	request.report.layout = REPORT_LAYOUT_STACKCOUNT;
	request.report.verbose_address = options->verbose_address;
	request.report.per_process = options->per_process || shared->tgids.n > 0;
	request.report.hide_process_line = shared->tgids.n > 0;
	request.meta = (struct profile_meta){
		.command = "stackcount",
		.command_line = invocation->command_line,
		.period = 1,
	};
	shared_plan_meta(&invocation->plan, &invocation->texts, &request.meta);
	if (shared->from)
		status = run_from(&request, shared->from);
	else
		status = start(&request, invocation);
	shared_plan_clear(&invocation->plan);
	return status;
}

int main(int argc, char **argv)
{
	struct invocation invocation = { .options = STACKCOUNT_OPTIONS_DEFAULT };
	struct command_line line = stackcount_command_line;
	struct options_parsed parsed = { 0 };
	int status = shared_parse(&line, argc, argv, &invocation.options, &parsed);

	if (status < 0) {
		if (invocation.options.shared.quiet)
			message_set_level(MESSAGE_QUIET);
		else if (invocation.options.debug)
			message_set_level(MESSAGE_VERBOSE);
		invocation.command_line = shared_command_line(argc, argv);
		status = plan_and_start(&invocation, &line, &parsed);
		free(invocation.command_line);
	}
	options_clear(&line, &invocation.options);
	return status;
}
