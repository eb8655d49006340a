// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * profile: samples the stacks of all CPUs. Its trigger is the clock; run() does the rest.
 */
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "cli/message.h"
#include "commands/from_options.h"
#include "commands/profile_options.h"
#include "commands/shared_plan.h"
#include "run/run.h"
#include "trigger/clock.h"

#define DEFAULT_FREQUENCY 49 /* bcc's; odd, to not run in step with timers of 100 Hz */

struct invocation {
	struct profile_options options;
	struct plan plan;
	struct shared_texts texts;
	char *command_line;
	uint64_t frequency;
};

static void title(const void *context, uint32_t n, char *ret_title, size_t size)
{
	const struct invocation *invocation = context;
	const struct plan *plan = &invocation->plan;
	char rate[64], scope[256], cpu[32] = "", end[64];

	(void)n;
	if (invocation->frequency)
		snprintf(rate, sizeof(rate), "%llu Hertz",
			 (unsigned long long)invocation->frequency);
	else
		snprintf(rate, sizeof(rate), "every %llu events",
			 (unsigned long long)invocation->options.period);
	shared_plan_scope(plan, scope, sizeof(scope));
	if (plan->filter.cpu >= 0)
		snprintf(cpu, sizeof(cpu), " on CPU#%d", plan->filter.cpu);
	if (plan->duration > 0)
		snprintf(end, sizeof(end), " for %g secs.", plan->duration);
	else
		snprintf(end, sizeof(end), "... Hit Ctrl-C to end.");
	snprintf(ret_title, size, "Sampling at %s of %s by %s stack%s%s", rate, scope,
		 plan->user && plan->kernel ? "user + kernel"
		 : plan->user		    ? "user"
					    : "kernel",
		 cpu, end);
}

static int start(const struct run_request *request, const struct invocation *invocation)
{
	const struct clock_options clock = {
		.event = invocation->options.event,
		.prefer_clock = invocation->options.include_idle,
		.frequency = invocation->frequency,
		.period = invocation->options.period,
	};
	struct trigger *trigger = NULL;
	struct error err = { 0 };

	if (clock_trigger_new(&clock, &trigger, &err) < 0)
		return message_error(request->program, &err);
	return run(request, trigger);
}

static int plan_and_start(struct invocation *invocation, const struct command_line *line,
			  const struct options_parsed *parsed)
{
	const struct profile_options *options = &invocation->options;
	struct run_request request = {
		.program = line->program,
		.plan = &invocation->plan,
		.title = title,
		.options = invocation,
	};
	struct error err = { 0 };
	int status;

	if (options->shared.from && from_options_check(line, parsed, &err) < 0)
		return message_error(line->program, &err);
	if (shared_plan(&options->shared, parsed->command, &invocation->plan, &request.report,
			&err) < 0)
		return message_usage_error(line, &err);
	invocation->plan.filter.include_idle = options->include_idle;
	invocation->plan.filter.cgroupmap = options->cgroupmap;
	invocation->plan.filter.mntnsmap = options->mntnsmap;
	invocation->frequency = options->period	     ? 0
				: options->frequency ? options->frequency
						     : DEFAULT_FREQUENCY;
	request.report.layout = REPORT_LAYOUT_PROFILE;
	request.report.per_process = true;
	request.timestamp = options->shared.interval > 0 && !options->shared.folded;
	request.meta = (struct profile_meta){
		.command = "profile",
		.command_line = invocation->command_line,
		.frequency = invocation->frequency,
		.period = options->period,
	};
	shared_plan_meta(&invocation->plan, &invocation->texts, &request.meta);
	if (options->shared.from)
		status = run_from(&request, options->shared.from);
	else
		status = start(&request, invocation);
	shared_plan_clear(&invocation->plan);
	return status;
}

int main(int argc, char **argv)
{
	struct invocation invocation = { .options = PROFILE_OPTIONS_DEFAULT };
	struct command_line line = profile_command_line;
	struct options_parsed parsed = { 0 };
	int status = shared_parse(&line, argc, argv, &invocation.options, &parsed);

	if (status < 0) {
		if (invocation.options.shared.quiet)
			message_set_level(MESSAGE_QUIET);
		else if (invocation.options.verbose)
			message_set_level(MESSAGE_VERBOSE);
		invocation.command_line = shared_command_line(argc, argv);
		status = plan_and_start(&invocation, &line, &parsed);
		free(invocation.command_line);
	}
	options_clear(&line, &invocation.options);
	return status;
}
