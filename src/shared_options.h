/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options both commands have: their fields, and the rows of those that are not bcc's (bcc
 * words the ones it has differently for each command, so their rows are in the commands' tables).
 *
 * Lists are freed by options_clear(), strings point into argv.
 */
#ifndef STACKTALLY_SHARED_OPTIONS_H
#define STACKTALLY_SHARED_OPTIONS_H

#include "cli/options.h"

#define MAX_DEPTH_LIMIT	  1024
#define MAX_DEPTH_DEFAULT 127

struct shared_options {
	struct id_list tgids, tids; /* -p, -L */
	bool user_only, kernel_only;
	bool delimited, annotations, folded;
	bool offset, address, by_address;
	bool children, per_thread, show_cgroup;
	bool inlines, no_inlines, lines;
	bool force, quiet;
	int64_t cpu;		    /* -1 and below: all */
	uint64_t hash_storage_size; /* 0: not given, as for all of these */
	uint64_t stack_storage_size;
	uint64_t max_depth;		  /* 127 when not given */
	double duration, interval;	  /* seconds; 0: not given */
	const char *name, *cgroup, *from; /* NULL: not given */
	struct string_list outputs, formats;
};

#define SHARED_OPTIONS_DEFAULT                                                                     \
	{                                                                                          \
		.cpu = -1, .max_depth = MAX_DEPTH_DEFAULT                                          \
	}

/* The words --format takes, for help and completion. */
#define SHARED_FORMATS "text folded recording"

#define SECTION_FILTERS "filters"
#define SECTION_CAPTURE "capture"
#define SECTION_DISPLAY "display"
#define SECTION_OUTPUT	"output and saved recordings"
#define SECTION_OTHER	"other"

extern const struct manual_section shared_manual_environment, shared_manual_exit_status,
	shared_manual_privileges;

#endif
