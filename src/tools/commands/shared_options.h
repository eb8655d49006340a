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

#define KEEP_INTERVAL	   5	       /* seconds of an interval, without -i */
#define KEEP_MOST	   (24 * 3600) /* seconds */
#define TIME_BUCKETS_LEAST 0.02	       /* seconds */

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
	bool inlines, no_inlines, native, near, lines, unknown, symbols;
	bool force, quiet, verbose, tui, self;
	struct id_list cpus;	    /* -C; empty: all */
	const char *node, *exe;	    /* --node, --exe; NULL: not given */
	uint64_t hash_storage_size; /* 0: not given; so are the other numbers */
	uint64_t stack_storage_size;
	uint64_t max_depth;
	double duration, interval;	  /* seconds; 0: not given */
	double time_buckets, keep;	  /* the same */
	const char *name, *cgroup, *from; /* NULL: not given */
	const char *service, *container, *pod, *user;
	const char *range; /* of `from` */
	const char *diff, *debuginfo, *value, *title;
	bool diff_raw, diff_share;
	const char *unwind;
	uint64_t unwind_memory; /* MB */
	uint64_t memory;	/* MB; 0: not given */
	const char *top;	/* rows, or empty; NULL: not given */
	uint64_t rows;		/* 0: not given */
	const char *columns, *sort;
	const char *fail_if_more;			   /* a number */
	struct string_list focus, ignore, hide, show_from; /* regular expressions */
	bool collapse_recursion, simple_names, raw_names;
	const char *live; /* ADDR:PORT or empty; NULL: not given */
	const char *live_token;
	struct string_list outputs, formats;
	const char *push, *push_auth, *push_ca, *spool;
	uint64_t spool_size; /* MB */
	struct string_list labels;
	bool no_labels, no_names;
};

#define SHARED_OPTIONS_DEFAULT                                                                     \
	{                                                                                          \
		.unwind_memory = UNWIND_MEMORY_DEFAULT, .spool_size = SPOOL_DEFAULT                \
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
#define SECTION_VALUES	"values of events"
#define SECTION_TIMING	"timing"
#define SECTION_OUTPUT	"output and saved recordings"
#define SECTION_PUSH	"pushing to an engine"
#define SECTION_DISPLAY "display"
#define SECTION_PICTURE "less in the picture"
#define SECTION_RARE	"rarely needed"
#define SECTION_OTHER	"other"

/*
 * The rows that both tables have, by the places where they stand. The offsets are those of struct
 * shared_options, which is the first member of both commands' structs.
 */
extern const struct option_rows shared_filter_rows, shared_file_rows, shared_output_rows,
	shared_display_rows, shared_picture_rows, shared_rare_rows, shared_force_rows,
	shared_other_rows;

#endif
