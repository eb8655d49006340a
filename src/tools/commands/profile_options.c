// SPDX-License-Identifier: GPL-2.0-or-later
#include "commands/profile_options.h"

#define FIELD(name)  offsetof(struct profile_options, name)
#define SHARED(name) offsetof(struct profile_options, shared.name)

/* A year: longer than any measurement. */
#define MAX_BLOCK_US (365ull * 24 * 3600 * 1000000)

/* perf's names of events that most machines have. */
#define EVENTS                                                                                     \
	"cycles cpu-clock task-clock instructions cache-references cache-misses "                  \
	"branch-instructions branch-misses page-faults minor-faults major-faults "                 \
	"context-switches cpu-migrations"

/* In the order of use. bcc's options have bcc's words. */
static const struct option_row before_filters[] = {
	{ .name = "help",
	  .bcc = true,
	  .letter = 'h',
	  .kind = OPTION_HELP,
	  .field = OPTION_NO_FIELD,
	  .help = "show this help message and exit" },
	{ .name = "duration",
	  .bcc = true,
	  .kind = OPTION_SECONDS,
	  .field = SHARED(duration),
	  .positional = true,
	  .help = "duration of trace, in seconds" },

	{ .section = SECTION_FILTERS,
	  .name = "pid",
	  .bcc = true,
	  .letter = 'p',
	  .kind = OPTION_IDS,
	  .field = SHARED(tgids),
	  .metavar = "PID",
	  .exclusive = "thread",
	  .help = "profile process with one or more comma separated PIDs only",
	  .completes = "pid" },
	{ .section = SECTION_FILTERS,
	  .name = "tid",
	  .bcc = true,
	  .letter = 'L',
	  .kind = OPTION_IDS,
	  .field = SHARED(tids),
	  .metavar = "TID",
	  .exclusive = "thread",
	  .help = "profile thread with one or more comma separated TIDs only",
	  .completes = "tid" },
};

static const struct option_row measuring[] = {
	{ .section = SECTION_FILTERS,
	  .name = "cpu",
	  .bcc = true,
	  .letter = 'C',
	  .kind = OPTION_INT,
	  .field = SHARED(cpu),
	  .max = INT32_MAX,
	  .metavar = "CPU",
	  .help = "cpu number to run profile on" },
	{ .section = SECTION_FILTERS,
	  .name = "user-stacks-only",
	  .bcc = true,
	  .letter = 'U',
	  .kind = OPTION_FLAG,
	  .field = SHARED(user_only),
	  .exclusive = "stack",
	  .help = "show stacks from user space only (no kernel space stacks)" },
	{ .section = SECTION_FILTERS,
	  .name = "kernel-stacks-only",
	  .bcc = true,
	  .letter = 'K',
	  .kind = OPTION_FLAG,
	  .field = SHARED(kernel_only),
	  .exclusive = "stack",
	  .help = "show stacks from kernel space only (no user space stacks)" },
	{ .section = SECTION_FILTERS,
	  .name = "include-idle",
	  .bcc = true,
	  .letter = 'I',
	  .kind = OPTION_FLAG,
	  .field = FIELD(include_idle),
	  .help = "include CPU idle stacks" },

	{ .section = SECTION_OFF_CPU,
	  .name = "off-cpu",
	  .kind = OPTION_FLAG,
	  .field = FIELD(off_cpu),
	  .exclusive = "time",
	  .help = "measure for how long threads were off the CPU, and where, instead of sampling: "
		  "microseconds in text and folded stacks" },
	{ .section = SECTION_OFF_CPU,
	  .name = "wall",
	  .kind = OPTION_FLAG,
	  .field = FIELD(wall),
	  .exclusive = "time",
	  .help = "the same, and sample CPUs as well: the time of each thread, on and off the CPU, "
		  "adds up to that of the measurement" },
	{ .section = SECTION_OFF_CPU,
	  .name = "wakers",
	  .kind = OPTION_FLAG,
	  .field = FIELD(wakers),
	  .help = "with --off-cpu or --wall: after `--', the stack that made the thread ready to "
		  "run, innermost function first, and its thread or interrupt" },
	{ .section = SECTION_OFF_CPU,
	  .name = "budget",
	  .kind = OPTION_POSITIVE,
	  .field = FIELD(budget),
	  .max = 100,
	  .metavar = "PERCENT",
	  .help = "with --off-cpu or --wall: limit walking to PERCENT of each CPU's time (default "
		  "1); above "
		  "it, only one in N switches of busy threads is walked, weighted by N; 100 means "
		  "no limit" },
	{ .section = SECTION_OFF_CPU,
	  .name = "min-block",
	  .kind = OPTION_POSITIVE,
	  .field = FIELD(min_block),
	  .max = MAX_BLOCK_US,
	  .metavar = "US",
	  .help = "with --off-cpu or --wall: only absences of at least US microseconds" },
	{ .section = SECTION_OFF_CPU,
	  .name = "max-block",
	  .kind = OPTION_POSITIVE,
	  .field = FIELD(max_block),
	  .max = MAX_BLOCK_US,
	  .metavar = "US",
	  .help = "with --off-cpu or --wall: only absences of at most US microseconds" },
	{ .section = SECTION_OFF_CPU,
	  .name = "state",
	  .kind = OPTION_INT,
	  .field = FIELD(state),
	  .max = INT32_MAX,
	  .metavar = "STATE",
	  .help = "with --off-cpu or --wall: only threads that left the CPU in a state of this "
		  "bitmask (1: TASK_INTERRUPTIBLE, 2: TASK_UNINTERRUPTIBLE; 0: ready to run)" },

	{ .section = SECTION_TIMING,
	  .name = "frequency",
	  .bcc = true,
	  .letter = 'F',
	  .kind = OPTION_POSITIVE,
	  .field = FIELD(frequency),
	  .metavar = "FREQUENCY",
	  .exclusive = "sample",
	  .help = "sample frequency, Hertz" },
	{ .section = SECTION_TIMING,
	  .name = "count",
	  .bcc = true,
	  .letter = 'c',
	  .kind = OPTION_POSITIVE,
	  .field = FIELD(period),
	  .metavar = "COUNT",
	  .exclusive = "sample",
	  .help = "sample period, number of events" },
	{ .section = SECTION_TIMING,
	  .name = "event",
	  .letter = 'e',
	  .kind = OPTION_STRING,
	  .field = FIELD(event),
	  .metavar = "EVENT",
	  .help = "the event to sample on, by its name in perf: cycles, cpu-clock, instructions, "
		  "cache-misses, page-faults, context-switches ... (default: cycles if the "
		  "machine counts them, else cpu-clock)",
	  .completes = EVENTS },
	{ .section = SECTION_TIMING,
	  .name = "interval",
	  .letter = 'i',
	  .kind = OPTION_SECONDS,
	  .field = SHARED(interval),
	  .metavar = "SECONDS",
	  .help = "print a report every SECONDS, each with only its own samples" },
};

static const struct option_row folded[] = {
	{ .section = SECTION_OUTPUT,
	  .name = "folded",
	  .bcc = true,
	  .letter = 'f',
	  .kind = OPTION_FLAG,
	  .field = SHARED(folded),
	  .help = "output folded format, one line per stack (for flame graphs)" },
};

static const struct option_row layout[] = {
	{ .section = SECTION_DISPLAY,
	  .name = "delimited",
	  .bcc = true,
	  .letter = 'd',
	  .kind = OPTION_FLAG,
	  .field = SHARED(delimited),
	  .help = "insert delimiter between kernel/user stacks" },
	{ .section = SECTION_DISPLAY,
	  .name = "annotations",
	  .bcc = true,
	  .letter = 'a',
	  .kind = OPTION_FLAG,
	  .field = SHARED(annotations),
	  .help = "add _[k] annotations to kernel frames" },
	{ .section = SECTION_DISPLAY,
	  .name = "offset",
	  .letter = 's',
	  .kind = OPTION_FLAG,
	  .field = SHARED(offset),
	  .help = "show address offsets" },
	{ .section = SECTION_DISPLAY,
	  .name = "address",
	  .bcc = true,
	  .letter = 'A',
	  .kind = OPTION_FLAG,
	  .field = SHARED(address),
	  .help = "show raw addresses" },
};

static const struct option_row storage[] = {
	{ .section = SECTION_RARE,
	  .name = "hash-storage-size",
	  .bcc = true,
	  .kind = OPTION_POSITIVE,
	  .field = SHARED(hash_storage_size),
	  .max = UINT32_MAX,
	  .metavar = "HASH_STORAGE_SIZE",
	  .help = "the number of hash keys that can be stored (default: no limit)" },
	{ .section = SECTION_RARE,
	  .name = "stack-storage-size",
	  .bcc = true,
	  .kind = OPTION_POSITIVE,
	  .field = SHARED(stack_storage_size),
	  .max = UINT32_MAX,
	  .metavar = "STACK_STORAGE_SIZE",
	  .help = "the number of unique stack traces that can be stored and displayed (default: "
		  "no limit)" },
	{ .section = SECTION_RARE,
	  .name = "cgroupmap",
	  .bcc = true,
	  .kind = OPTION_STRING,
	  .field = FIELD(cgroupmap),
	  .metavar = "CGROUPMAP",
	  .help = "trace cgroups in this BPF map only",
	  .completes = "file" },
	{ .section = SECTION_RARE,
	  .name = "mntnsmap",
	  .bcc = true,
	  .kind = OPTION_STRING,
	  .field = FIELD(mntnsmap),
	  .metavar = "MNTNSMAP",
	  .help = "trace mount namespaces in this BPF map only",
	  .completes = "file" },
};

static const struct option_row verbose[] = {
	{ .section = SECTION_OTHER,
	  .name = "verbose",
	  .letter = 'v',
	  .kind = OPTION_FLAG,
	  .field = SHARED(verbose),
	  .help = "print details and libbpf's messages on stderr" },
};

static const struct option_row ebpf[] = {
	{ .section = SECTION_OTHER,
	  .name = "ebpf",
	  .bcc = true,
	  .kind = OPTION_REFUSED,
	  .field = OPTION_NO_FIELD,
	  .hidden = true,
	  .help = "there is no BPF text to print: the programs are compiled ahead of time" },
};

#define OWN(rows) &(const struct option_rows)OPTION_ROWS(rows)

/* In the order of use. */
static const struct option_rows *const tables[] = {
	OWN(before_filters), &shared_filter_rows, OWN(measuring),     &shared_file_rows,
	OWN(folded),	     &shared_output_rows, OWN(layout),	      &shared_display_rows,
	&shared_rare_rows,   OWN(storage),	  &shared_force_rows, OWN(verbose),
	&shared_other_rows,  OWN(ebpf),
};

static const struct option_example examples[] = {
	{ "", "profile stack traces at 49 Hertz until Ctrl-C" },
	{ "-F 99", "profile stack traces at 99 Hertz" },
	{ "-c 1000000", "profile stack traces every 1 in a million events" },
	{ "5", "profile at 49 Hertz for 5 seconds only" },
	{ "-f 5", "output in folded format for flame graphs" },
	{ "-p 185", "only profile process with PID 185" },
	{ "-L 185", "only profile thread with TID 185" },
	{ "-U", "only show user space stacks (no kernel)" },
	{ "-K", "only show kernel space stacks (no user)" },
	{ "--cgroupmap mappath", "only trace cgroups in this BPF map" },
	{ "--mntnsmap mappath", "only trace mount namespaces in the map" },
	{ "-F 99 -- make -j8", "profile a command and all it starts" },
	{ "--name 'nginx*' 10", "only threads whose name matches" },
	{ "--off-cpu -p 185 10", "where process 185 waits, and for how long" },
	{ "--wall -p 185 10", "where its time goes, running and waiting" },
	{ "-e page-faults 10", "stacks that touch memory for the first time" },
	{ "-o out.folded -o - 10", "to a file and to the terminal" },
	{ 0 },
};

const struct command_line profile_command_line = {
	.program = "profile",
	.description = "Profile CPU stack traces at a timed interval",
	.tables = tables,
	.n_tables = sizeof(tables) / sizeof(*tables),
	.examples = examples,
	.takes_command = true,
	.manual = profile_manual,
	.see_also = ".BR stackcount (8),\n.BR perf\\-record (1),\n.BR bpftrace (8),\n"
		    ".BR capabilities (7),\n.BR cgroups (7),\n.BR perf_event_open (2)\n",
};
