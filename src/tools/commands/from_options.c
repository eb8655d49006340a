// SPDX-License-Identifier: GPL-2.0-or-later
#include "commands/from_options.h"

#include <errno.h>
#include <string.h>

#define WALKED "the stacks were walked when the recording was made"

static const struct {
	const char *name;
	enum from_answer answer;
	const char *why;
} options[] = {
	/* which events */
	{ "pid", FROM_IF_RECORDED, NULL },
	{ "tid", FROM_IF_RECORDED, NULL },
	{ "name", FROM_ANSWERED, NULL },
	{ "cgroup", FROM_IF_RECORDED, NULL },
	{ "service", FROM_IF_RECORDED, NULL },
	{ "container", FROM_IF_RECORDED, NULL },
	{ "pod", FROM_IF_RECORDED, NULL },
	{ "include-idle", FROM_IF_RECORDED, NULL },
	{ "pattern", FROM_IF_RECORDED, NULL },
	{ "regexp", FROM_OF_NO_EFFECT, NULL },
	{ "inlined", FROM_REFUSED, "a recording holds what was counted" },
	{ "list", FROM_REFUSED, "it lists what can be measured here" },
	{ "user", FROM_REFUSED, "a recording does not hold whose the threads were" },
	{ "children", FROM_REFUSED, "a recording does not hold which process forked which" },
	{ "self", FROM_REFUSED, "a recording holds what was measured" },
	{ "exe", FROM_REFUSED, "a recording does not hold which file a process executed" },
	{ "node", FROM_REFUSED, "a recording does not hold on which CPU an event was" },
	{ "cpu", FROM_REFUSED, "a recording does not hold on which CPU an event was" },
	{ "cgroupmap", FROM_REFUSED, "a BPF map selects events while they are measured" },
	{ "mntnsmap", FROM_REFUSED, "a BPF map selects events while they are measured" },
	{ "sum", FROM_REFUSED, "a recording does not hold the values of events" },
	{ "if", FROM_REFUSED, "a recording does not hold the values of events" },
	{ "event", FROM_REFUSED, "the event is that of the recording" },
	{ "frequency", FROM_REFUSED, "the rate is that of the recording" },
	{ "count", FROM_REFUSED, "the period is that of the recording" },

	{ "time", FROM_REFUSED, "a recording holds what was measured" },
	{ "outstanding", FROM_REFUSED, "a recording holds what was measured" },
	{ "leaks", FROM_REFUSED, "a recording holds what was measured" },
	{ "older", FROM_REFUSED, "a recording does not hold each block" },
	{ "free", FROM_REFUSED, "a recording holds what was measured" },
	{ "off-cpu", FROM_REFUSED, "a recording holds what was measured" },
	{ "wall", FROM_REFUSED, "a recording holds what was measured" },
	{ "dump", FROM_REFUSED, "a recording holds what was measured" },
	{ "budget", FROM_REFUSED, "it applies while stacks are walked" },
	{ "wakers", FROM_REFUSED, "a recording holds what was measured" },
	{ "min-block", FROM_REFUSED, "a recording does not hold each absence" },
	{ "max-block", FROM_REFUSED, "a recording does not hold each absence" },
	{ "state", FROM_REFUSED, "a recording does not hold each absence" },

	/* when */
	{ "duration", FROM_REFUSED, "it ends a measurement; --range takes a part of a recording" },
	{ "interval", FROM_REFUSED, "a recording is one interval; --range takes a part of it" },
	{ "timestamp", FROM_IF_RECORDED, NULL },
	{ "time-buckets", FROM_REFUSED, "the times are those of the recording" },

	/* of their stacks */
	{ "user-stacks-only", FROM_IF_RECORDED, NULL },
	{ "kernel-stacks-only", FROM_IF_RECORDED, NULL },
	{ "max-depth", FROM_IF_RECORDED, NULL },
	{ "inlines", FROM_IF_RECORDED, NULL },
	{ "no-inlines", FROM_ANSWERED, NULL },
	{ "lines", FROM_IF_RECORDED, NULL },
	{ "native", FROM_REFUSED, WALKED },
	{ "near", FROM_REFUSED, WALKED },
	{ "unwind", FROM_REFUSED, WALKED },
	{ "unwind-memory", FROM_REFUSED, WALKED },
	{ "memory", FROM_REFUSED, "it limits what a measurement counts" },
	{ "hash-storage-size", FROM_REFUSED, "it limits what a measurement counts" },
	{ "stack-storage-size", FROM_REFUSED, "it limits what a measurement counts" },
	{ "force", FROM_OF_NO_EFFECT, NULL },

	/* how they are shown */
	{ "per-thread", FROM_IF_RECORDED, NULL },
	{ "show-cgroup", FROM_IF_RECORDED, NULL },
	{ "perpid", FROM_IF_RECORDED, NULL },
	{ "delimited", FROM_ANSWERED, NULL },
	{ "annotations", FROM_ANSWERED, NULL },
	{ "folded", FROM_ANSWERED, NULL },
	{ "symbols", FROM_ANSWERED, NULL },
	{ "debuginfo", FROM_ANSWERED, NULL },
	{ "unknown", FROM_ANSWERED, NULL },
	{ "focus", FROM_ANSWERED, NULL },
	{ "ignore", FROM_ANSWERED, NULL },
	{ "hide", FROM_ANSWERED, NULL },
	{ "show-from", FROM_ANSWERED, NULL },
	{ "collapse-recursion", FROM_ANSWERED, NULL },
	{ "simple-names", FROM_ANSWERED, NULL },
	{ "raw-names", FROM_ANSWERED, NULL },
	{ "offset", FROM_ANSWERED, NULL },
	{ "address", FROM_ANSWERED, NULL },
	{ "by-address", FROM_ANSWERED, NULL },
	{ "output", FROM_ANSWERED, NULL },
	{ "title", FROM_ANSWERED, NULL },
	{ "format", FROM_ANSWERED, NULL },
	{ "top", FROM_ANSWERED, NULL },
	{ "rows", FROM_ANSWERED, NULL },
	{ "columns", FROM_ANSWERED, NULL },
	{ "sort", FROM_ANSWERED, NULL },
	{ "tui", FROM_ANSWERED, NULL },
	{ "live", FROM_ANSWERED, NULL },
	{ "keep", FROM_REFUSED, "it keeps what is measured" },
	{ "live-token", FROM_ANSWERED, NULL },
	{ "push", FROM_REFUSED, "it sends what is measured" },
	{ "label", FROM_REFUSED, "it belongs to --push" },
	{ "no-labels", FROM_REFUSED, "it belongs to --push" },
	{ "no-names", FROM_REFUSED, "it belongs to --push" },
	{ "push-auth", FROM_REFUSED, "it belongs to --push" },
	{ "push-ca", FROM_REFUSED, "it belongs to --push" },
	{ "spool", FROM_REFUSED, "it belongs to --push" },
	{ "spool-size", FROM_REFUSED, "it belongs to --push" },
	{ "from", FROM_ANSWERED, NULL },
	{ "range", FROM_IF_RECORDED, NULL },
	{ "value", FROM_ANSWERED, NULL },
	{ "diff", FROM_ANSWERED, NULL },
	{ "fail-if-more", FROM_ANSWERED, NULL },
	{ "diff-raw", FROM_ANSWERED, NULL },
	{ "diff-share", FROM_ANSWERED, NULL },
	{ "quiet", FROM_ANSWERED, NULL },
	{ "verbose", FROM_ANSWERED, NULL },
	{ "debug", FROM_ANSWERED, NULL },

	/* answered without a report */
	{ "help", FROM_ANSWERED, NULL },
	{ "version", FROM_ANSWERED, NULL },
	{ "print-man", FROM_ANSWERED, NULL },
	{ "print-completion", FROM_ANSWERED, NULL },
	{ "print-completion-zsh", FROM_ANSWERED, NULL },
	{ "print-completion-fish", FROM_ANSWERED, NULL },
	{ "ebpf", FROM_REFUSED, "nothing is measured" },
};

enum from_answer from_option(const char *name, const char **ret_why)
{
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (strcmp(options[i].name, name) != 0)
			continue;
		*ret_why = options[i].why;
		return options[i].answer;
	}
	return FROM_UNDECIDED;
}

int from_options_check(const struct command_line *line, const struct options_parsed *parsed,
		       struct error *err)
{
	char name[OPTION_NAME_SIZE];

	for (size_t i = 0; i < option_count(line); i++) {
		const char *why = NULL;

		if (parsed->given[i] && from_option(option_at(line, i)->name, &why) == FROM_REFUSED)
			return error_usage(err, "%s cannot be used with --from: %s",
					   option_name(option_at(line, i), name), why);
	}
	if (parsed->command)
		return error_usage(err, "-- %s cannot be used with --from: nothing is measured",
				   parsed->command[0]);
	return 0;
}
