// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * profile: samples the stacks of all CPUs. Its trigger is the clock; run() does the rest.
 */
#include "cli/message.h"
#include "commands/command.h"
#include "commands/profile_options.h"
#include "commands/shared_facts.h"
#include "trigger/clock.h"
#include "trigger/off_cpu.h"

#define DEFAULT_FREQUENCY 49 /* bcc's; odd, to not run in step with timers of 100 Hz */
#define PUSH_FREQUENCY	  19 /* for days */
#define DEFAULT_BUDGET	  1  /* % of each CPU */
#define NS_IN_SECOND	  1000000000u

static void title(const void *context, uint32_t n, char *ret_title, size_t size)
{
	const struct invocation *invocation = context;
	const struct profile_options *options = invocation->options;
	const struct plan *plan = &invocation->plan;
	char rate[64], scope[256], cpus[128], cpu[160] = "", end[64];

	(void)n;
	if (options->frequency)
		snprintf(rate, sizeof(rate), "Sampling at %llu Hertz",
			 (unsigned long long)options->frequency);
	else
		snprintf(rate, sizeof(rate), "Sampling at every %llu events",
			 (unsigned long long)options->period);
	shared_facts_scope(plan, scope, sizeof(scope));
	shared_facts_cpus(&plan->filter, cpus, sizeof(cpus));
	if (plan->filter.node)
		snprintf(cpu, sizeof(cpu), " on NUMA node %.100s", plan->filter.node);
	else if (plan->filter.cpus.n)
		snprintf(cpu, sizeof(cpu), " on CPU%s%s", plan->filter.cpus.n > 1 ? "s " : "#",
			 cpus);
	if (plan->duration > 0)
		snprintf(end, sizeof(end), " for %g secs.", plan->duration);
	else
		snprintf(end, sizeof(end), "... Hit Ctrl-C to end.");
	if (options->off_cpu)
		snprintf(rate, sizeof(rate), "Measuring time off the CPU (us)");
	if (options->wall)
		snprintf(rate, sizeof(rate), "Measuring time on and off the CPU (us)");
	if (options->dump) {
		snprintf(ret_title, size, "Each thread once, of %s.", scope);
		return;
	}
	snprintf(ret_title, size, "%s of %s by %s stack%s%s", rate, scope,
		 plan->user && plan->kernel ? "user + kernel"
		 : plan->user		    ? "user"
					    : "kernel",
		 cpu, end);
}

/* Options that need another one, or exclude it. 0, or -EINVAL with `err` set. */
static int check_off_cpu(const struct profile_options *options, struct error *err)
{
	const char *needs = options->wakers	   ? "--wakers"
			    : options->budget	   ? "--budget"
			    : options->min_block   ? "--min-block"
			    : options->max_block   ? "--max-block"
			    : options->state != -1 ? "--state"
						   : NULL;
	const char *excluded = options->frequency && options->off_cpu ? "-F/--frequency"
			       : options->period		      ? "-c/--count"
			       : options->event			      ? "-e/--event"
			       : options->include_idle		      ? "-I/--include-idle"
			       : options->shared.cpus.n		      ? "-C/--cpu"
			       : options->shared.node		      ? "--node"
								      : NULL;
	bool timed = options->off_cpu || options->wall || options->dump;

	if ((!timed || options->dump) && needs)
		return error_usage(err, "argument %s: needs --off-cpu or --wall", needs);
	if (timed && excluded)
		return error_usage(err, "argument %s: not allowed with argument %s",
				   options->wall   ? "--wall"
				   : options->dump ? "--dump"
						   : "--off-cpu",
				   excluded);
	if (options->wakers && options->shared.user_only)
		return error_usage(err, "argument --wakers: not allowed with argument "
					"-U/--user-stacks-only: kernel stacks tell interrupts from "
					"tasks");
	if (options->max_block && options->max_block < options->min_block)
		return error_usage(err, "argument --max-block: less than --min-block");
	if (options->state < -1)
		return error_usage(err, "argument --state: a bitmask is not negative");
	return 0;
}

/* A dump is of a moment, and is neither a graph nor a table. 0, or -EINVAL with `err` set. */
static int check_dump(const struct profile_options *options, const struct plan *plan,
		      struct error *err)
{
	const struct shared_options *shared = &options->shared;
	const char *excluded = shared->duration > 0   ? "duration"
			       : shared->interval > 0 ? "-i/--interval"
			       : shared->live	      ? "--live"
			       : shared->tui	      ? "--tui"
			       : shared->push	      ? "--push"
			       : shared->diff	      ? "--diff"
			       : shared->children     ? "--children"
			       : shared->symbols      ? "--symbols"
			       : plan->command	      ? "COMMAND"
						      : NULL;

	if (!options->dump)
		return 0;
	if (excluded)
		return error_usage(err, "argument --dump: not allowed with argument %s", excluded);
	for (uint32_t i = 0; i < plan->n_outputs; i++) {
		const struct plan_output *output = &plan->outputs[i];
		const struct writer *writer = output->format ? writer_by_name(output->format)
					      : output->path ? writer_by_path(output->path)
							     : &text_writer;

		if (writer && !writer->dumps)
			return error_usage(err,
					   "argument --dump: format '%s' cannot show it: use text, "
					   "folded or json",
					   writer->name);
	}
	return 0;
}

static void plan_dump(const struct profile_options *options, struct plan *plan)
{
	if (!options->dump)
		return;
	plan->dump = true;
	plan->off_cpu.budget = 100; /* it does not last */
	plan->duration = PLAN_DUMP_SECONDS;
	plan->per_thread = true;
	plan->progress = false;
	plan->tick = 0;
}

static bool asks_for_stacks(const void *options)
{
	return ((const struct profile_options *)options)->dump;
}

static void plan_off_cpu(const struct profile_options *options, struct plan *plan)
{
	plan->off_cpu = (struct plan_off_cpu){
		.on = options->off_cpu || options->wall || options->dump,
		.least_us = options->min_block,
		.most_us = options->max_block,
		.by_state = options->state >= 0,
		.state = options->state > 0 ? (uint32_t)options->state : 0,
		.wakers = options->wakers,
		.budget = options->budget ? options->budget : DEFAULT_BUDGET,
		.sample_ns = options->wall || options->dump ? NS_IN_SECOND / options->frequency : 0,
	};
}

static int complete(struct invocation *invocation)
{
	struct profile_options *options = invocation->options;
	struct run_request *request = &invocation->request;
	struct command_line line = profile_command_line;
	struct error err = { 0 };

	line.program = request->program;
	if (check_off_cpu(options, &err) < 0)
		return message_usage_error(&line, &err);
	if (check_dump(options, &invocation->plan, &err) < 0)
		return message_usage_error(&line, &err);
	if (!options->period && !options->frequency && !options->off_cpu)
		options->frequency = options->dump	    ? PLAN_DUMP_FREQUENCY
				     : options->shared.push ? PUSH_FREQUENCY
							    : DEFAULT_FREQUENCY;
	plan_off_cpu(options, &invocation->plan);
	plan_dump(options, &invocation->plan);
	request->report.per_thread |= options->dump;
	request->report.lines |= options->dump; /* those of interpreted programs cost nothing */
	request->meta.timed = invocation->plan.off_cpu.on;
	request->meta.wall = options->wall || options->dump;
	invocation->plan.filter.include_idle = options->include_idle;
	invocation->plan.filter.cgroupmap = options->cgroupmap;
	invocation->plan.filter.mntnsmap = options->mntnsmap;
	request->title = title;
	request->timestamp = options->shared.interval > 0 && !options->shared.folded;
	request->report.layout = REPORT_LAYOUT_PROFILE;
	request->report.per_process = true;
	request->meta.frequency = options->frequency;
	request->meta.period = options->period;
	return 0;
}

static bool has_zero(const struct id_list *list)
{
	for (uint32_t i = 0; i < list->n; i++)
		if (list->ids[i] == 0)
			return true;
	return false;
}

static int start(const struct invocation *invocation)
{
	const struct profile_options *options = invocation->options;
	const struct plan_filter *filter = &invocation->plan.filter;
	const struct clock_options clock = {
		.event = options->event,
		.prefer_clock = options->include_idle || invocation->plan.off_cpu.on,
		.frequency = options->frequency,
		.period = options->period,
	};
	struct trigger *trigger = NULL;
	struct error err = { 0 };
	int r = 0;

	if (!filter->include_idle && (has_zero(&filter->tgids) || has_zero(&filter->tids)))
		message_note("the idle tasks have the id 0, and are left out without -I");
	if (!options->off_cpu)
		r = clock_trigger_new(&clock, &trigger, &err);
	if (r == 0 && invocation->plan.off_cpu.on)
		r = off_cpu_trigger_new(trigger, options->wakers, &trigger, &err);
	if (r < 0)
		return message_error(invocation->request.program, &err);
	return run(&invocation->request, trigger);
}

static const struct profile_options defaults = PROFILE_OPTIONS_DEFAULT;

const struct command profile_command = {
	.line = &profile_command_line,
	.defaults = &defaults,
	.options_size = sizeof(defaults),
	.asks_for_stacks = asks_for_stacks,
	.complete = complete,
	.start = start,
};
