// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stackcount: counts the stacks of events. Its trigger is made of probes; run() does the rest.
 */
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "cli/message.h"
#include "commands/command.h"
#include "commands/list_command.h"
#include "commands/stackcount_options.h"
#include "trigger/asked.h"
#include "trigger/group_process.h"
#include "trigger/outstanding.h"
#include "trigger/spec.h"
#include "trigger/thread_process.h"

static void title(const void *context, uint32_t n, char *ret_title, size_t size)
{
	const struct invocation *invocation = context;
	const struct stackcount_options *options = invocation->options;
	const char *pattern = options->leaks	     ? "c:malloc"
			      : options->outstanding ? options->outstanding
						     : options->pattern;

	const char *does = options->sum	   ? ", summing "
			   : options->time ? ", timing calls"
			   : options->leaks || options->outstanding
				   ? ", adding up what is not freed"
				   : "";

	snprintf(ret_title, size,
		 "Tracing %u functions for \"%.200s\"%s%.100s... Hit Ctrl-C to end.", n, pattern,
		 does, options->sum ? options->sum : "");
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

static void attached(const struct trigger *trigger)
{
	const char *text;
	uint32_t n = spec_trigger_left_out(trigger, &text);

	if (n)
		message_note("%u match%s left out: %s", n, n == 1 ? "" : "es", text);
	for (uint32_t i = 0; (text = spec_trigger_note(trigger, i)); i++)
		message_note("%s", text);
	if (trigger->hides_refused)
		message_line("WARNING: events that come while another BPF program runs on their "
			     "CPU are missing, and not counted as lost: the kernel hides the "
			     "addresses that this takes; run as root or with CAP_SYSLOG, and with "
			     "kernel.kptr_restrict below 2");
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

/* -l measures nothing, so what is said of a measurement has no place beside it. */
static int check_list(const struct stackcount_options *options, const struct plan *plan,
		      struct error *err)
{
	const char *other = options->shared.from	? "--from"
			    : options->leaks		? "--leaks"
			    : options->outstanding	? "--outstanding"
			    : options->sum		? "--sum"
			    : options->time		? "--time"
			    : options->condition	? "--if"
			    : options->shared.outputs.n ? "-o/--output"
			    : options->shared.tui	? "--tui"
			    : options->shared.live	? "--live"
			    : options->shared.push	? "--push"
							: NULL;

	if (options->list && other)
		return error_usage(err, "argument -l/--list: not allowed with argument %s", other);
	if (options->list && plan->command)
		return error_usage(err, "argument -l/--list: starts no command");
	return 0;
}

/* Options of calls, which exclude each other. */
static int check_calls(const struct stackcount_options *options, struct error *err)
{
	const char *which = options->leaks	   ? "--leaks"
			    : options->outstanding ? "--outstanding"
			    : options->time	   ? "--time"
			    : options->sum	   ? "--sum"
						   : NULL;
	bool outstanding = options->leaks || options->outstanding != NULL;

	if (options->time + options->leaks + (options->outstanding != NULL) +
		    (options->sum != NULL) >
	    1)
		return error_usage(err, "argument %s: not allowed with the others of calls", which);
	if (options->inlined && which)
		return error_usage(err,
				   "argument --inlined: not allowed with argument %s: what is "
				   "inlined does not return",
				   which);
	if (outstanding && options->condition)
		return error_usage(err, "argument --if: not allowed with argument %s", which);
	if (options->outstanding && options->regexp)
		return error_usage(err, "argument --outstanding: takes two functions, as in "
					"--outstanding c:malloc c:free");
	if (options->leaks && options->pattern)
		return error_usage(err, "argument --leaks: takes no pattern, but got %s",
				   options->pattern);
	if (outstanding && (options->shared.tui || options->shared.live))
		return error_usage(err,
				   "argument %s: not allowed with argument %s, which adds up what "
				   "comes: memory is freed, too; -i 1 shows what is outstanding "
				   "each second",
				   which, options->shared.tui ? "--tui" : "--live");
	if (options->older > 0 && !outstanding)
		return error_usage(err, "argument --older: needs --outstanding or --leaks");
	return 0;
}

static int complete(struct invocation *invocation)
{
	const struct stackcount_options *options = invocation->options;
	const struct shared_options *shared = &options->shared;
	struct run_request *request = &invocation->request;
	struct error err = { 0 };
	int r;

	if (shared->user_only && shared->kernel_only) {
		message_line("ERROR: -K and -U are mutually exclusive. If you want both stacks, "
			     "that is the default.");
		return EXIT_CLASS_USAGE;
	}
	/* Events of idle tasks (switches, wakeups, interrupts) count. */
	invocation->plan.filter.include_idle = !shared->from;
	plan_times(&invocation->plan);
	invocation->plan.filter.condition = options->condition;
	request->title = title;
	request->attached = attached;
	request->pattern = options->pattern;
	request->timestamp = options->timestamp;
	request->farewell = "Detaching...";
	request->report.layout = REPORT_LAYOUT_STACKCOUNT;
	request->report.verbose_address = options->verbose_address;
	request->report.per_process = options->per_process || shared->tgids.n > 0;
	request->report.hide_process_line = shared->tgids.n > 0;
	request->meta.period = 1;
	r = check_list(options, &invocation->plan, &err);
	r = r < 0 ? r : check_calls(options, &err);
	if (r < 0) {
		struct command_line line = stackcount_command_line;

		line.program = request->program;
		return message_usage_error(&line, &err);
	}
	/* The stacks of inlined functions then have them. */
	invocation->plan.inlines |= options->inlined;
	invocation->plan.sum = options->sum;
	invocation->plan.calls = (struct plan_calls){
		.time = options->time,
		.returned = asked_of_return(options->sum),
		.outstanding = options->outstanding || options->leaks,
		.older = options->older,
	};
	request->meta.summed = options->sum != NULL;
	request->meta.measure = options->sum;
	if (invocation->plan.calls.outstanding) {
		request->attached = NULL;
		request->pattern = options->leaks ? "c:malloc" : options->outstanding;
		request->meta.summed = true;
		request->meta.measure = "outstanding";
		request->meta.unit = "bytes";
	}
	if (options->time) {
		request->meta.summed = true;
		request->meta.measure = "time";
		request->meta.unit = "nanoseconds";
	}
	return 0;
}

static bool asks_for_stacks(const void *data)
{
	const struct stackcount_options *options = data;

	return options->timestamp || options->per_process || options->verbose_address;
}

/* Whether a command is one that starts programs in another root. */
static bool changes_root(char *const *command)
{
	static const char *const programs[] = { "chroot", "bwrap", "systemd-nspawn", "proot" };
	const char *slash = strrchr(command[0], '/'), *name = slash ? slash + 1 : command[0];

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		if (strcmp(name, programs[i]) == 0)
			return true;
	return false;
}

static bool is_of_libc(const char *pattern)
{
	return pattern && strncmp(pattern, "c:", 2) == 0;
}

/* "c" is this machine's libc, and not that of the root in which the program will run. */
static void note_other_root(const struct stackcount_options *options, char *const *command)
{
	bool both = options->leaks || options->outstanding;

	if (!command || !changes_root(command) ||
	    !(options->leaks || is_of_libc(both ? options->outstanding : options->pattern)))
		return;
	message_note("%s starts a program in another root, whose libc is another file: its calls "
		     "do not count, unless they are named: %sROOT/.../libc.so.6:%s",
		     command[0], both ? "--outstanding " : "",
		     both ? "malloc ROOT/.../libc.so.6:free" : options->pattern + 2);
}

static int start(const struct invocation *invocation)
{
	const struct stackcount_options *options = invocation->options;
	const struct id_list *tgids = &options->shared.tgids, *tids = &options->shared.tids;
	pid_t pid = tgids->n == 1 ? tgids->ids[0] : thread_process(tids->ids, tids->n);
	char *const *command = invocation->plan.command;
	struct progress progress = { 0 };
	struct trigger *trigger = NULL;
	struct spec_request request;
	struct error err = { 0 };
	int r;

	if (!pid)
		pid = group_process(&invocation->plan.filter.groups);
	request = (struct spec_request){ .text = options->pattern,
					 .regexp = options->regexp,
					 .inlined = options->inlined,
					 .calls = plan_has_calls(&invocation->plan),
					 .force = options->shared.force,
					 .pid = pid };
	if (options->list)
		return list_command(invocation->request.program, &request);
	note_other_root(options, command);
	if (options->outstanding || options->leaks)
		r = outstanding_trigger_new(
			&(struct outstanding_request){
				.allocates = options->outstanding,
				.frees = options->pattern,
				.force = options->shared.force,
				.pid = pid,
				.program = command ? command[0] : NULL,
			},
			&trigger, &err);
	else
		r = spec_trigger_new(&request, &trigger, &err);
	if (r < 0)
		return message_error(invocation->request.program, &err);
	if (!options->outstanding && !options->leaks)
		spec_trigger_on_progress(trigger, on_progress, &progress);
	else if (*trigger->instead)
		message_note("process %d allocates in another file, too, whose blocks are not "
			     "among these: stackcount -p %d %s",
			     pid, pid, trigger->instead);
	return run(&invocation->request, trigger);
}

static const struct stackcount_options defaults = STACKCOUNT_OPTIONS_DEFAULT;

const struct command stackcount_command = {
	.line = &stackcount_command_line,
	.defaults = &defaults,
	.options_size = sizeof(defaults),
	.asks_for_stacks = asks_for_stacks,
	.complete = complete,
	.start = start,
};
