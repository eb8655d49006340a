/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options that both commands have: their fields, and their rows unless they are bcc's, whose
 * rows are worded differently in the two commands and stand in the commands' tables.
 *
 * options_clear() frees the lists; strings point into argv.
 */
#ifndef STACKTALLY_COMMANDS_SHARED_OPTIONS_H
#define STACKTALLY_COMMANDS_SHARED_OPTIONS_H

#include "cli/options.h"
#include "report/formats.h"

/* Frames of a stack. 127 is the default of kernel.perf_event_max_stack. */
#define MAX_DEPTH_LIMIT	    1024
#define MAX_DEPTH_BY_KERNEL 127

/* MB of kernel memory for unwinding tables: the largest value, and the default. */
#define UNWIND_MEMORY_LIMIT   1024
#define UNWIND_MEMORY_DEFAULT 64

#define MEMORY_LIMIT (1u << 20) /* MB for stacks */

/* MB of the spool: the largest value, and the default. */
#define SPOOL_LIMIT   (1u << 20)
#define SPOOL_DEFAULT 64
/* Of --push: seconds of an interval, and labels. */
#define PUSH_INTERVAL	15
#define PUSH_MAX_LABELS 32

struct shared_options {
	struct id_list tgids, tids; /* -p, -L */
	bool user_only, kernel_only;
	bool delimited, annotations, folded;
	bool offset, address, by_address;
	bool children, per_thread, show_cgroup;
	bool inlines, no_inlines, native, lines, unknown, symbols;
	bool force, quiet, verbose, tui;
	int64_t cpu;		    /* negative: all */
	uint64_t hash_storage_size; /* 0: not given; so are the other numbers */
	uint64_t stack_storage_size;
	uint64_t max_depth;
	double duration, interval;	  /* seconds; 0: not given */
	const char *name, *cgroup, *from; /* NULL: not given */
	const char *diff, *debuginfo;
	bool diff_raw, diff_share;
	const char *unwind;
	uint64_t unwind_memory; /* MB */
	uint64_t memory;	/* MB; 0: not given */
	const char *live;	/* ADDR:PORT or empty; NULL: not given */
	const char *live_token;
	struct string_list outputs, formats;
	const char *push, *push_auth, *push_ca, *spool;
	uint64_t spool_size; /* MB */
	struct string_list labels;
	bool no_labels, no_names;
};

#define SHARED_OPTIONS_DEFAULT                                                                     \
	{                                                                                          \
		.cpu = -1, .unwind_memory = UNWIND_MEMORY_DEFAULT, .spool_size = SPOOL_DEFAULT     \
	}

/* The names of the formats, for completion and for --help. */
#define SHARED_FORMAT(id, name)		    name
#define SHARED_FORMAT_AFTER_BLANK(id, name) " " name
#define SHARED_FORMAT_AFTER_COMMA(id, name) ", " name
#define SHARED_FORMAT_AFTER_OR(id, name)    " or " name
#define SHARED_FORMATS                                                                             \
	REPORT_FORMATS(SHARED_FORMAT, SHARED_FORMAT_AFTER_BLANK, SHARED_FORMAT_AFTER_BLANK)
#define SHARED_FORMATS_HELP                                                                        \
	REPORT_FORMATS(SHARED_FORMAT, SHARED_FORMAT_AFTER_COMMA, SHARED_FORMAT_AFTER_OR)

#define SECTION_FILTERS "filters"
#define SECTION_OFF_CPU "time off the CPU"
#define SECTION_TIMING	"timing"
#define SECTION_OUTPUT	"output and saved recordings"
#define SECTION_PUSH	"pushing to an engine"
#define SECTION_DISPLAY "display"
#define SECTION_RARE	"rarely needed"
#define SECTION_OTHER	"other"

/* The rows that both tables have. Macros, as the offsets depend on T, the command's own struct. */
#define SHARED_FILTER_ROWS(T)                                                                      \
	{ .section = SECTION_FILTERS,                                                              \
	  .name = "name",                                                                          \
	  .kind = OPTION_STRING,                                                                   \
	  .field = offsetof(T, shared.name),                                                       \
	  .metavar = "COMM",                                                                       \
	  .help = "only threads of this name; * and ? are wildcards",                              \
	  .completes = "comm" },                                                                   \
		{ .section = SECTION_FILTERS,                                                      \
		  .name = "cgroup",                                                                \
		  .kind = OPTION_STRING,                                                           \
		  .field = offsetof(T, shared.cgroup),                                             \
		  .metavar = "PATH",                                                               \
		  .help = "only processes in this cgroup (v2) or below it",                        \
		  .completes = "dir" },                                                            \
	{                                                                                          \
		.section = SECTION_FILTERS, .name = "children", .kind = OPTION_FLAG,               \
		.field = offsetof(T, shared.children),                                             \
		.help = "with -p: also processes that these fork from now on"                      \
	}

#define SHARED_DEPTH_ROW(T)                                                                        \
	{                                                                                          \
		.section = SECTION_RARE, .name = "max-depth", .kind = OPTION_POSITIVE,             \
		.field = offsetof(T, shared.max_depth), .max = MAX_DEPTH_LIMIT, .metavar = "N",    \
		.help = "frames to keep of each kernel and each user stack, up to 1024 (default "  \
			"1024; 127 for kernel and frame-pointer stacks)"                           \
	}

#define SHARED_UNWIND_ROW(T)                                                                       \
	{                                                                                          \
		.section = SECTION_RARE, .name = "unwind", .kind = OPTION_STRING,                  \
		.field = offsetof(T, shared.unwind), .metavar = "HOW",                             \
		.help = "how to walk user stacks: by call frame information, and by frame "        \
			"pointers in generated code (auto, the default), by call frame "           \
			"information only (cfi), by frame pointers as the kernel does (fp), not "  \
			"at all (none)",                                                           \
		.completes = "auto cfi fp none"                                                    \
	}

#define SHARED_UNWIND_MEMORY_ROW(T)                                                                \
	{                                                                                          \
		.section = SECTION_RARE, .name = "unwind-memory", .kind = OPTION_POSITIVE,         \
		.field = offsetof(T, shared.unwind_memory), .max = UNWIND_MEMORY_LIMIT,            \
		.metavar = "MB",                                                                   \
		.help = "kernel memory for unwinding tables, up to 1024 MB (default 64); when it " \
			"is full, the tables that were unused for longest are dropped"             \
	}

#define SHARED_MEMORY_ROW(T)                                                                       \
	{                                                                                          \
		.section = SECTION_RARE, .name = "memory", .kind = OPTION_POSITIVE,                \
		.field = offsetof(T, shared.memory), .max = MEMORY_LIMIT, .metavar = "MB",         \
		.help = "memory for the stacks of a report (default: an eighth of what there is, " \
			"512 MB at most); when it is full, new stacks are counted as lost"         \
	}

#define SHARED_FORCE_ROW(T)                                                                        \
	{                                                                                          \
		.section = SECTION_RARE, .name = "force", .kind = OPTION_FLAG,                     \
		.field = offsetof(T, shared.force),                                                \
		.help = "run even on a kernel that is known to hang when user stacks are read"     \
	}

#define SHARED_BY_ADDRESS_ROW(T)                                                                   \
	{                                                                                          \
		.section = SECTION_DISPLAY, .name = "by-address", .kind = OPTION_FLAG,             \
		.field = offsetof(T, shared.by_address),                                           \
		.help = "keep stacks apart that print alike but differ in addresses"               \
	}

#define SHARED_APART_ROWS(T)                                                                       \
	{ .section = SECTION_DISPLAY,                                                              \
	  .name = "per-thread",                                                                    \
	  .kind = OPTION_FLAG,                                                                     \
	  .field = offsetof(T, shared.per_thread),                                                 \
	  .help = "keep threads apart and show their ids" },                                       \
		{ .section = SECTION_DISPLAY,                                                      \
		  .name = "show-cgroup",                                                           \
		  .kind = OPTION_FLAG,                                                             \
		  .field = offsetof(T, shared.show_cgroup),                                        \
		  .help = "keep cgroups apart and show their paths" },                             \
		{ .section = SECTION_DISPLAY,                                                      \
		  .name = "inlines",                                                               \
		  .kind = OPTION_FLAG,                                                             \
		  .field = offsetof(T, shared.inlines),                                            \
		  .exclusive = "inlines",                                                          \
		  .help = "show inlined functions as frames of their own, where debug "            \
			  "information has them; off by default, as names then take some 70 "      \
			  "times as long (0.07 s instead of 0.001 s for 1,000 addresses in "       \
			  "libc)" },                                                               \
		{ .section = SECTION_DISPLAY,                                                      \
		  .name = "no-inlines",                                                            \
		  .kind = OPTION_FLAG,                                                             \
		  .field = offsetof(T, shared.no_inlines),                                         \
		  .exclusive = "inlines",                                                          \
		  .help = "do not look for inlined functions" },                                   \
		{ .section = SECTION_DISPLAY,                                                      \
		  .name = "lines",                                                                 \
		  .kind = OPTION_FLAG,                                                             \
		  .field = offsetof(T, shared.lines),                                              \
		  .help = "show source file and line, where debug information has them" },         \
		{ .section = SECTION_DISPLAY,                                                      \
		  .name = "native",                                                                \
		  .kind = OPTION_FLAG,                                                             \
		  .field = offsetof(T, shared.native),                                             \
		  .help = "keep the frames of an interpreter's evaluator beside the functions of " \
			  "the program (Python) that stand in their place" },                      \
	{                                                                                          \
		.section = SECTION_DISPLAY, .name = "unknown", .kind = OPTION_FLAG,                \
		.field = offsetof(T, shared.unknown),                                              \
		.help = "call functions without a symbol [unknown], as bcc does, in place of "     \
			"[FILE+0xSTART]"                                                           \
	}

#define SHARED_SYMBOLS_ROWS(T)                                                                     \
	{ .section = SECTION_OUTPUT,                                                               \
	  .name = "debuginfo",                                                                     \
	  .kind = OPTION_STRING,                                                                   \
	  .field = offsetof(T, shared.debuginfo),                                                  \
	  .metavar = "DIR",                                                                        \
	  .help = "with --from: name functions without a symbol by the debug files, or copies "    \
		  "that were not stripped, in DIR, which are found by their build-ids",            \
	  .completes = "dir" },                                                                    \
	{                                                                                          \
		.section = SECTION_OUTPUT, .name = "symbols", .kind = OPTION_FLAG,                 \
		.field = offsetof(T, shared.symbols),                                              \
		.help = "in place of stacks, print which files lack symbols, and how to get "      \
			"them on this system"                                                      \
	}

#define SHARED_FILE_ROWS(T)                                                                        \
	{ .section = SECTION_OUTPUT,                                                               \
	  .name = "output",                                                                        \
	  .letter = 'o',                                                                           \
	  .kind = OPTION_STRINGS,                                                                  \
	  .field = offsetof(T, shared.outputs),                                                    \
	  .metavar = "FILE",                                                                       \
	  .help = "write the report to FILE (- is stdout) in the format of its extension; may be " \
		  "given several times; %n (1, 2 ...) or %t (start time) in the name makes a "     \
		  "file for each interval",                                                        \
	  .completes = "file" },                                                                   \
	{                                                                                          \
		.section = SECTION_OUTPUT, .name = "format", .kind = OPTION_STRINGS,               \
		.field = offsetof(T, shared.formats), .metavar = "FORMAT",                         \
		.help = "the format of the report on stdout or, given once for each -o in the "    \
			"same order, of that file: " SHARED_FORMATS_HELP,                          \
		.completes = SHARED_FORMATS                                                        \
	}

#define SHARED_OUTPUT_ROWS(T)                                                                      \
	{ .section = SECTION_OUTPUT,                                                               \
	  .name = "live",                                                                          \
	  .kind = OPTION_STRING_OR_NOT,                                                            \
	  .field = offsetof(T, shared.live),                                                       \
	  .metavar = "ADDR:PORT",                                                                  \
	  .help = "serve a page with a moving flame graph while measuring, and print its "         \
		  "address on stderr (default: for this machine only, at any free "                \
		  "port); on a terminal, no report follows unless -f, --format, -o or -i "         \
		  "asks for it" },                                                                 \
		{ .section = SECTION_OUTPUT,                                                       \
		  .name = "live-token",                                                            \
		  .kind = OPTION_STRING,                                                           \
		  .field = offsetof(T, shared.live_token),                                         \
		  .metavar = "FILE",                                                               \
		  .help = "with --live: take the token of the address from FILE, where it stays "  \
			  "the same from run to run; made if it is missing",                       \
		  .completes = "file" },                                                           \
		{ .section = SECTION_OUTPUT,                                                       \
		  .name = "tui",                                                                   \
		  .kind = OPTION_FLAG,                                                             \
		  .field = offsetof(T, shared.tui),                                                \
		  .exclusive = "watch",                                                            \
		  .help = "watch the flame graph grow in the terminal, and browse it; press ? "    \
			  "for the keys" },                                                        \
	{                                                                                          \
		.section = SECTION_OUTPUT, .name = "from", .kind = OPTION_STRING,                  \
		.field = offsetof(T, shared.from), .metavar = "FILE",                              \
		.help = "report from a recording, folded stacks or a pprof file instead of "       \
			"measuring; needs no privilege",                                           \
		.completes = "file"                                                                \
	}

#define SHARED_DIFF_ROWS(T)                                                                        \
	{ .section = SECTION_OUTPUT,                                                               \
	  .name = "diff",                                                                          \
	  .kind = OPTION_STRING,                                                                   \
	  .field = offsetof(T, shared.diff),                                                       \
	  .metavar = "BASE",                                                                       \
	  .help = "show what changed since BASE (a recording, folded stacks or a pprof file), "    \
		  "with its counts scaled to the same time and rate",                              \
	  .completes = "file" },                                                                   \
		{ .section = SECTION_OUTPUT,                                                       \
		  .name = "diff-share",                                                            \
		  .kind = OPTION_FLAG,                                                             \
		  .field = offsetof(T, shared.diff_share),                                         \
		  .exclusive = "scale",                                                            \
		  .help = "with --diff: compare shares, with the counts of BASE scaled to the "    \
			  "same total; so it is where BASE does not hold how long it took" },      \
	{                                                                                          \
		.section = SECTION_OUTPUT, .name = "diff-raw", .kind = OPTION_FLAG,                \
		.field = offsetof(T, shared.diff_raw), .exclusive = "scale",                       \
		.help = "with --diff: compare counts as they are"                                  \
	}

#define SHARED_PUSH_ROWS(T)                                                                        \
	{ .section = SECTION_PUSH,                                                                 \
	  .name = "push",                                                                          \
	  .kind = OPTION_STRING,                                                                   \
	  .field = offsetof(T, shared.push),                                                       \
	  .metavar = "URL",                                                                        \
	  .help = "measure until stopped, and send each interval (-i, 15 s) to an engine: "        \
		  "[pprof+|pyroscope+|otlp+]http[s]://HOST[:PORT][/PATH]" },                       \
		{ .section = SECTION_PUSH,                                                         \
		  .name = "label",                                                                 \
		  .kind = OPTION_STRINGS,                                                          \
		  .field = offsetof(T, shared.labels),                                             \
		  .metavar = "KEY=VALUE",                                                          \
		  .help = "with --push: label all samples; may be given several times; "           \
			  "service.name and host.name replace those that are found" },             \
		{ .section = SECTION_PUSH,                                                         \
		  .name = "no-labels",                                                             \
		  .kind = OPTION_FLAG,                                                             \
		  .field = offsetof(T, shared.no_labels),                                          \
		  .help = "with --push: do not label single samples (comm, cgroup, pid, tid), "    \
			  "and with pprof+ none, for an engine that refuses labels" },             \
		{ .section = SECTION_PUSH,                                                         \
		  .name = "no-names",                                                              \
		  .kind = OPTION_FLAG,                                                             \
		  .field = offsetof(T, shared.no_names),                                           \
		  .help = "with --push: of code in files send addresses and build-ids only, for "  \
			  "the engine to name" },                                                  \
		{ .section = SECTION_PUSH,                                                         \
		  .name = "push-auth",                                                             \
		  .kind = OPTION_STRING,                                                           \
		  .field = offsetof(T, shared.push_auth),                                          \
		  .metavar = "FILE",                                                               \
		  .help = "with --push: a file with a bearer token, or with USER:PASSWORD; read "  \
			  "again for each request",                                                \
		  .completes = "file" },                                                           \
		{ .section = SECTION_PUSH,                                                         \
		  .name = "push-ca",                                                               \
		  .kind = OPTION_STRING,                                                           \
		  .field = offsetof(T, shared.push_ca),                                            \
		  .metavar = "FILE",                                                               \
		  .help = "with --push: trust the certificate authorities in FILE (PEM) and not "  \
			  "those of the system",                                                   \
		  .completes = "file" },                                                           \
		{ .section = SECTION_PUSH,                                                         \
		  .name = "spool",                                                                 \
		  .kind = OPTION_STRING,                                                           \
		  .field = offsetof(T, shared.spool),                                              \
		  .metavar = "DIR",                                                                \
		  .help = "with --push: keep what cannot be sent in DIR, also for the next run "   \
			  "(default: in 16 MB of memory)",                                         \
		  .completes = "dir" },                                                            \
	{                                                                                          \
		.section = SECTION_PUSH, .name = "spool-size", .kind = OPTION_POSITIVE,            \
		.field = offsetof(T, shared.spool_size), .max = SPOOL_LIMIT, .metavar = "MB",      \
		.help = "with --spool: the most that is kept there (default 64 MB); beyond it, "   \
			"the oldest is dropped"                                                    \
	}

#define SHARED_OTHER_ROWS(T)                                                                       \
	{ .section = SECTION_OTHER,                                                                \
	  .name = "quiet",                                                                         \
	  .letter = 'q',                                                                           \
	  .kind = OPTION_FLAG,                                                                     \
	  .field = offsetof(T, shared.quiet),                                                      \
	  .help = "only errors and warnings on stderr, no closing line" },                         \
		{ .section = SECTION_OTHER,                                                        \
		  .name = "version",                                                               \
		  .letter = 'V',                                                                   \
		  .kind = OPTION_VERSION,                                                          \
		  .field = OPTION_NO_FIELD,                                                        \
		  .help = "show the version and exit" },                                           \
		{ .section = SECTION_OTHER,                                                        \
		  .name = "print-man",                                                             \
		  .kind = OPTION_MAN,                                                              \
		  .field = OPTION_NO_FIELD,                                                        \
		  .hidden = true,                                                                  \
		  .help = "print the man page and exit" },                                         \
	{                                                                                          \
		.section = SECTION_OTHER, .name = "print-completion", .kind = OPTION_COMPLETION,   \
		.field = OPTION_NO_FIELD, .hidden = true,                                          \
		.help = "print the completion for bash and exit"                                   \
	}

#endif
