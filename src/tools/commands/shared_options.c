// SPDX-License-Identifier: GPL-2.0-or-later
#include "commands/shared_options.h"

#define FIELD(name) offsetof(struct shared_options, name)

static const struct option_row filter[] = {
	{
		.section = SECTION_FILTERS,
		.name = "name",
		.kind = OPTION_STRING,
		.field = FIELD(name),
		.metavar = "COMM",
		.help = "only threads of this name; * and ? are wildcards",
		.completes = "comm",
	},
	{
		.section = SECTION_FILTERS,
		.name = "user",
		.kind = OPTION_STRING,
		.field = FIELD(user),
		.metavar = "NAME",
		.help = "only threads of this user, a name or an id",
	},
	{
		.section = SECTION_FILTERS,
		.name = "exe",
		.kind = OPTION_STRING,
		.field = FIELD(exe),
		.metavar = "PATH",
		.help = "only processes that execute this file, also those that are started later "
			"and after it was replaced",
		.completes = "file",
	},
	{
		.section = SECTION_FILTERS,
		.name = "node",
		.kind = OPTION_STRING,
		.field = FIELD(node),
		.metavar = "N",
		.help = "only the CPUs of this NUMA node; or several, as 0-1,3",
	},
	{
		.section = SECTION_FILTERS,
		.name = "cgroup",
		.kind = OPTION_STRING,
		.field = FIELD(cgroup),
		.metavar = "PATH",
		.help = "only processes in this cgroup (v2) or below it: a directory, or "
			"the path that --show-cgroup prints, in which *, ? and [] are wildcards",
		.completes = "dir",
	},
	{
		.section = SECTION_FILTERS,
		.name = "service",
		.kind = OPTION_STRING,
		.field = FIELD(service),
		.metavar = "UNIT",
		.help = "only processes of this unit of systemd, also of a user's, and also when "
			"it restarts; wildcards as with --cgroup",
	},
	{
		.section = SECTION_FILTERS,
		.name = "container",
		.kind = OPTION_STRING,
		.field = FIELD(container),
		.metavar = "NAME-OR-ID",
		.help = "only processes in this container, also when it is made again; an id may "
			"be cut after 6 digits; wildcards as with --cgroup",
	},
	{
		.section = SECTION_FILTERS,
		.name = "pod",
		.kind = OPTION_STRING,
		.field = FIELD(pod),
		.metavar = "NAMESPACE/NAME",
		.help = "only processes in the containers of this pod; wildcards as with --cgroup",
	},
	{
		.section = SECTION_FILTERS,
		.name = "children",
		.kind = OPTION_FLAG,
		.field = FIELD(children),
		.help = "with -p: also the children that these processes have, and those that they "
			"fork "
			"from now on",
	},
	{
		.section = SECTION_FILTERS,
		.name = "self",
		.kind = OPTION_FLAG,
		.field = FIELD(self),
		.help = "of a whole machine, also this process and its helpers, which are left out "
			"otherwise",
	},
};
const struct option_rows shared_filter_rows = OPTION_ROWS(filter);

static const struct option_row file[] = {
	{
		.section = SECTION_OUTPUT,
		.name = "output",
		.letter = 'o',
		.kind = OPTION_STRINGS,
		.field = FIELD(outputs),
		.metavar = "FILE",
		.help = "write the report to FILE (- is stdout) in the format of its extension; "
			"may be given several times; %n (1, 2 ...) or %t (start time) in the name "
			"makes a file for each interval; with sudo, files belong to the user "
			"who typed it",
		.completes = "file",
	},
	{
		.section = SECTION_OUTPUT,
		.name = "format",
		.kind = OPTION_STRINGS,
		.field = FIELD(formats),
		.metavar = "FORMAT",
		.help = "the format of the report on stdout or, given once for each -o in the same "
			"order, of that file: " SHARED_FORMATS_HELP,
		.completes = SHARED_FORMATS,
	},
	{
		.section = SECTION_OUTPUT,
		.name = "title",
		.kind = OPTION_STRING,
		.field = FIELD(title),
		.metavar = "TEXT",
		.help = "the title of pages and pictures, in place of the command line",
	},
	{
		.section = SECTION_OUTPUT,
		.name = "time-buckets",
		.kind = OPTION_SECONDS,
		.field = FIELD(time_buckets),
		.metavar = "SECONDS",
		.help = "keep apart what was counted in each SECONDS, from 0.02 on, in formats "
			"that tell when (default: 1 in recordings and pages, 0.05 where single "
			"samples are shown)",
	},
	{
		.section = SECTION_OUTPUT,
		.name = "top",
		.kind = OPTION_STRING_OR_NOT,
		.field = FIELD(top),
		.metavar = "N",
		.help = "print a table, with N rows in each part: processes, functions, hottest "
			"stacks; what a terminal gets if nothing else is asked for",
	},
	{
		.section = SECTION_OUTPUT,
		.name = "rows",
		.letter = 'n',
		.kind = OPTION_POSITIVE,
		.field = FIELD(rows),
		.max = UINT32_MAX,
		.metavar = "N",
		.help = "rows of the tables that --top, csv and tsv print (default: what fits on a "
			"terminal, or all)",
	},
	{
		.section = SECTION_OUTPUT,
		.name = "columns",
		.kind = OPTION_STRING,
		.field = FIELD(columns),
		.metavar = "LIST",
		.help = "the columns of a table of functions, with commas between them: self, "
			"self%, total, total%, self-cpus, total-cpus, events, function, module, "
			"file, and "
			"with --diff self-before, self-change, total-before, total-change",
	},
	{
		.section = SECTION_OUTPUT,
		.name = "sort",
		.kind = OPTION_STRING,
		.field = FIELD(sort),
		.metavar = "COLUMN",
		.help = "the order of a table of functions: self, total, self-change, total-change "
			"or function",
		.completes = "self total self-change total-change function",
	},
};
const struct option_rows shared_file_rows = OPTION_ROWS(file);

static const struct option_row output[] = {
	{
		.section = SECTION_OUTPUT,
		.name = "debuginfo",
		.kind = OPTION_STRING,
		.field = FIELD(debuginfo),
		.metavar = "DIR",
		.help = "with --from: name functions without a symbol by the debug files, or "
			"copies that were not stripped, in DIR, which are found by their build-ids",
		.completes = "dir",
	},
	{
		.section = SECTION_OUTPUT,
		.name = "symbols",
		.kind = OPTION_FLAG,
		.field = FIELD(symbols),
		.help = "in place of stacks, print which files lack symbols, and how to get them "
			"on this system",
	},
	{
		.section = SECTION_OUTPUT,
		.name = "live",
		.kind = OPTION_STRING_OR_NOT,
		.field = FIELD(live),
		.metavar = "ADDR:PORT",
		.help = "serve a page with a moving flame graph while measuring, and print its "
			"address on stderr (default: for this machine only, at any free port); on "
			"a terminal, no report follows unless -f, --format, -o or -i asks for it",
	},
	{
		.section = SECTION_OUTPUT,
		.name = "live-token",
		.kind = OPTION_STRING,
		.field = FIELD(live_token),
		.metavar = "FILE",
		.help = "with --live: take the token of the address from FILE, where it stays the "
			"same from run to run; made if it is missing",
		.completes = "file",
	},
	{
		.section = SECTION_OUTPUT,
		.name = "keep",
		.kind = OPTION_SECONDS,
		.field = FIELD(keep),
		.metavar = "TIME",
		.help = "measure until stopped, and keep the last TIME (as 10m) in memory: a "
			"recording of each interval (-i, 5 s), of at most 64 MB in all, for "
			"stacktally last; with --push or --live, these are kept beside",
	},
	{
		.section = SECTION_OUTPUT,
		.name = "tui",
		.kind = OPTION_FLAG,
		.field = FIELD(tui),
		.exclusive = "watch",
		.help = "watch the flame graph grow in the terminal, and browse it; press ? for "
			"the keys",
	},
	{
		.section = SECTION_OUTPUT,
		.name = "from",
		.kind = OPTION_STRING,
		.field = FIELD(from),
		.metavar = "FILE",
		.help = "report from a recording, folded stacks, a pprof file, a JFR file of the "
			"JDK or of async-profiler, the JSON of speedscope or of the Firefox "
			"Profiler, perf's data or the text of perf script instead of measuring; "
			"needs no privilege",
		.completes = "file",
	},
	{
		.section = SECTION_OUTPUT,
		.name = "range",
		.kind = OPTION_STRING,
		.field = FIELD(range),
		.metavar = "BEGIN-END",
		.help = "with --from: only what was counted in these seconds since the begin, as "
			"10-20, 90- or -5; also FILE:10-20, for --diff, too",
	},
	{
		.section = SECTION_OUTPUT,
		.name = "diff",
		.kind = OPTION_STRING,
		.field = FIELD(diff),
		.metavar = "BASE",
		.help = "show what changed since BASE (any file that --from reads), with its "
			"counts scaled to the same time and rate",
		.completes = "file",
	},
	{
		.section = SECTION_OUTPUT,
		.name = "value",
		.kind = OPTION_STRING,
		.field = FIELD(value),
		.metavar = "NAME",
		.help = "with --from and --diff: the value of a pprof file to read, such as "
			"alloc_space (default: the file's own), the event of perf script's text, "
			"or of a JFR file cpu, wall, alloc, lock, nativemem, live or the name of "
			"a type of events (default: samples)",
	},
	{
		.section = SECTION_OUTPUT,
		.name = "diff-share",
		.kind = OPTION_FLAG,
		.field = FIELD(diff_share),
		.exclusive = "scale",
		.help = "with --diff: compare shares, with the counts of BASE scaled to the same "
			"total; the default if BASE has no duration",
	},
	{
		.section = SECTION_OUTPUT,
		.name = "diff-raw",
		.kind = OPTION_FLAG,
		.field = FIELD(diff_raw),
		.exclusive = "scale",
		.help = "with --diff: compare counts as they are",
	},
	{
		.section = SECTION_OUTPUT,
		.name = "fail-if-more",
		.kind = OPTION_STRING,
		.field = FIELD(fail_if_more),
		.metavar = "PERCENT",
		.help = "with --diff: exit with status 4 if a function, itself or with what it "
			"calls, grew by more than PERCENT of all samples, and print these "
			"functions on stderr",
	},
	{
		.section = SECTION_PUSH,
		.name = "push",
		.kind = OPTION_STRING,
		.field = FIELD(push),
		.metavar = "URL",
		.help = "measure until stopped, and send each interval (-i, 15 s) to an engine: "
			"[pprof+|pyroscope+|otlp+]http[s]://HOST[:PORT][/PATH]",
	},
	{
		.section = SECTION_PUSH,
		.name = "label",
		.kind = OPTION_STRINGS,
		.field = FIELD(labels),
		.metavar = "KEY=VALUE",
		.help = "with --push: label all samples; may be given several times; service.name "
			"and host.name replace those that are found",
	},
	{
		.section = SECTION_PUSH,
		.name = "no-labels",
		.kind = OPTION_FLAG,
		.field = FIELD(no_labels),
		.help = "with --push: do not label single samples (comm, cgroup, pid, tid), and "
			"with pprof+ none, for an engine that refuses labels",
	},
	{
		.section = SECTION_PUSH,
		.name = "no-names",
		.kind = OPTION_FLAG,
		.field = FIELD(no_names),
		.help = "with --push: of code in files send addresses and build-ids only, for the "
			"engine to name",
	},
	{
		.section = SECTION_PUSH,
		.name = "push-auth",
		.kind = OPTION_STRING,
		.field = FIELD(push_auth),
		.metavar = "FILE",
		.help = "with --push: a file with a bearer token, or with USER:PASSWORD; read "
			"again for each request",
		.completes = "file",
	},
	{
		.section = SECTION_PUSH,
		.name = "push-ca",
		.kind = OPTION_STRING,
		.field = FIELD(push_ca),
		.metavar = "FILE",
		.help = "with --push: trust the certificate authorities in FILE (PEM) and not "
			"those of the system",
		.completes = "file",
	},
	{
		.section = SECTION_PUSH,
		.name = "spool",
		.kind = OPTION_STRING,
		.field = FIELD(spool),
		.metavar = "DIR",
		.help = "with --push: keep what cannot be sent in DIR, also for the next run "
			"(default: in 16 MB of memory)",
		.completes = "dir",
	},
	{
		.section = SECTION_PUSH,
		.name = "spool-size",
		.kind = OPTION_POSITIVE,
		.field = FIELD(spool_size),
		.max = SPOOL_LIMIT,
		.metavar = "MB",
		.help = "with --spool: the most that is kept there (default 64 MB); beyond it, the "
			"oldest is dropped",
	},
};
const struct option_rows shared_output_rows = OPTION_ROWS(output);

static const struct option_row display[] = {
	{
		.section = SECTION_DISPLAY,
		.name = "by-address",
		.kind = OPTION_FLAG,
		.field = FIELD(by_address),
		.help = "keep stacks apart that print alike but differ in addresses",
	},
	{
		.section = SECTION_DISPLAY,
		.name = "per-thread",
		.kind = OPTION_FLAG,
		.field = FIELD(per_thread),
		.help = "keep threads apart and show their ids",
	},
	{
		.section = SECTION_DISPLAY,
		.name = "show-cgroup",
		.kind = OPTION_FLAG,
		.field = FIELD(show_cgroup),
		.help = "keep cgroups apart and show their paths, with the names of containers and "
			"pods",
	},
	{
		.section = SECTION_DISPLAY,
		.name = "inlines",
		.kind = OPTION_FLAG,
		.field = FIELD(inlines),
		.exclusive = "inlines",
		.help = "show inlined functions as frames of their own, where debug information "
			"has them; off by default, as names then take some 70 times as long (0.07 "
			"s instead of 0.001 s for 1,000 addresses in libc)",
	},
	{
		.section = SECTION_DISPLAY,
		.name = "no-inlines",
		.kind = OPTION_FLAG,
		.field = FIELD(no_inlines),
		.exclusive = "inlines",
		.help = "do not look for inlined functions",
	},
	{
		.section = SECTION_DISPLAY,
		.name = "lines",
		.kind = OPTION_FLAG,
		.field = FIELD(lines),
		.help = "show source file and line, where debug information has them",
	},
	{
		.section = SECTION_DISPLAY,
		.name = "native",
		.kind = OPTION_FLAG,
		.field = FIELD(native),
		.help = "keep the frames of an interpreter's evaluator beside the functions of the "
			"program that stand in their place",
	},
	{
		.section = SECTION_DISPLAY,
		.name = "near",
		.kind = OPTION_FLAG,
		.field = FIELD(near),
		.help = "where the innermost functions of compiled Java code are not certain, also "
			"show "
			"the likely ones, behind [java: inlined function not exact]",
	},
	{
		.section = SECTION_DISPLAY,
		.name = "unknown",
		.kind = OPTION_FLAG,
		.field = FIELD(unknown),
		.help = "call functions without a symbol [unknown], as bcc does, in place of "
			"[FILE+0xSTART]",
	},
};
const struct option_rows shared_display_rows = OPTION_ROWS(display);

static const struct option_row picture[] = {
	{
		.section = SECTION_PICTURE,
		.name = "focus",
		.kind = OPTION_STRINGS,
		.field = FIELD(focus),
		.metavar = "RE",
		.help = "show only stacks with a frame that matches the extended regular "
			"expression RE, by its function, file or module",
	},
	{
		.section = SECTION_PICTURE,
		.name = "ignore",
		.kind = OPTION_STRINGS,
		.field = FIELD(ignore),
		.metavar = "RE",
		.help = "show no stacks with a frame that matches RE",
	},
	{
		.section = SECTION_PICTURE,
		.name = "hide",
		.kind = OPTION_STRINGS,
		.field = FIELD(hide),
		.metavar = "RE",
		.help = "leave frames that match RE out of their stacks",
	},
	{
		.section = SECTION_PICTURE,
		.name = "show-from",
		.kind = OPTION_STRINGS,
		.field = FIELD(show_from),
		.metavar = "RE",
		.help = "begin stacks at their outermost frame that matches RE, and show no others",
	},
	{
		.section = SECTION_PICTURE,
		.name = "collapse-recursion",
		.kind = OPTION_FLAG,
		.field = FIELD(collapse_recursion),
		.help = "show functions, and sequences of functions, that call themselves once",
	},
	{
		.section = SECTION_PICTURE,
		.name = "simple-names",
		.kind = OPTION_FLAG,
		.field = FIELD(simple_names),
		.exclusive = "names",
		.help = "show names without parameters, template arguments and return types",
	},
	{
		.section = SECTION_PICTURE,
		.name = "raw-names",
		.kind = OPTION_FLAG,
		.field = FIELD(raw_names),
		.exclusive = "names",
		.help = "show names as they are in symbol tables, not demangled",
	},
};
const struct option_rows shared_picture_rows = OPTION_ROWS(picture);

static const struct option_row rare[] = {
	{
		.section = SECTION_RARE,
		.name = "max-depth",
		.kind = OPTION_POSITIVE,
		.field = FIELD(max_depth),
		.max = MAX_DEPTH_LIMIT,
		.metavar = "N",
		.help = "frames to keep of each kernel and each user stack, up to 1024 (default "
			"1024; 127 for kernel and frame-pointer stacks)",
	},
	{
		.section = SECTION_RARE,
		.name = "unwind",
		.kind = OPTION_STRING,
		.field = FIELD(unwind),
		.metavar = "HOW",
		.help = "how to walk user stacks: by call frame information, and by frame pointers "
			"in generated code (auto, the default), by call frame information only "
			"(cfi), by frame pointers as the kernel does (fp), not at all (none)",
		.completes = "auto cfi fp none",
	},
	{
		.section = SECTION_RARE,
		.name = "unwind-memory",
		.kind = OPTION_POSITIVE,
		.field = FIELD(unwind_memory),
		.max = UNWIND_MEMORY_LIMIT,
		.metavar = "MB",
		.help = "kernel memory for unwinding tables, up to 1024 MB (default 64); when it "
			"is full, the tables that were unused for longest are dropped",
	},
	{
		.section = SECTION_RARE,
		.name = "memory",
		.kind = OPTION_POSITIVE,
		.field = FIELD(memory),
		.max = MEMORY_LIMIT,
		.metavar = "MB",
		.help = "memory for the stacks of a report (default: an eighth of what there is, "
			"512 MB at most); when it is full, new stacks are counted as lost",
	},
};
const struct option_rows shared_rare_rows = OPTION_ROWS(rare);

static const struct option_row force[] = {
	{
		.section = SECTION_RARE,
		.name = "force",
		.kind = OPTION_FLAG,
		.field = FIELD(force),
		.help = "run even on a kernel that is known to hang when user stacks are read, and "
			"where a traced program could end",
	},
};
const struct option_rows shared_force_rows = OPTION_ROWS(force);

static const struct option_row other[] = {
	{
		.section = SECTION_OTHER,
		.name = "quiet",
		.letter = 'q',
		.kind = OPTION_FLAG,
		.field = FIELD(quiet),
		.help = "only errors and warnings on stderr, no closing line",
	},
	{
		.section = SECTION_OTHER,
		.name = "version",
		.letter = 'V',
		.kind = OPTION_VERSION,
		.field = OPTION_NO_FIELD,
		.help = "show the version and exit",
	},
	{
		.section = SECTION_OTHER,
		.name = "print-man",
		.kind = OPTION_MAN,
		.field = OPTION_NO_FIELD,
		.hidden = true,
		.help = "print the man page and exit",
	},
	{
		.section = SECTION_OTHER,
		.name = "print-completion",
		.kind = OPTION_COMPLETION,
		.field = OPTION_NO_FIELD,
		.hidden = true,
		.help = "print the completion for bash and exit",
	},
	{
		.section = SECTION_OTHER,
		.name = "print-completion-zsh",
		.kind = OPTION_COMPLETION_ZSH,
		.field = OPTION_NO_FIELD,
		.hidden = true,
		.help = "print the completion for zsh and exit",
	},
	{
		.section = SECTION_OTHER,
		.name = "print-completion-fish",
		.kind = OPTION_COMPLETION_FISH,
		.field = OPTION_NO_FIELD,
		.hidden = true,
		.help = "print the completion for fish and exit",
	},
};
const struct option_rows shared_other_rows = OPTION_ROWS(other);
