/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes the lines of `perf script` apart. Which fields they have depends on its options: the line
 * of a sample has at least a comm, an id, and a time or an event; a frame has an address and a
 * name, and mostly a file. All pieces lie within the line.
 */
#ifndef STACKTALLY_IMPORT_PERF_LINE_H
#define STACKTALLY_IMPORT_PERF_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "import/folded_line.h"

/* `COMM PID/TID [CPU] TIME: PERIOD EVENT: REST`. One id, of two or one of them, is the pid. */
struct perf_sample {
	struct folded_piece comm, event; /* no event: its start is NULL */
	struct folded_piece rest;	 /* a tracepoint's fields, or the only frame; or empty */
	uint32_t pid, tid;		 /* tid 0: there is only one id */
	bool is_record; /* PERF_RECORD_*: what perf tells of processes and mappings, no sample */
};

/* `ADDRESS NAME+OFFSET (FILE)`. */
struct perf_frame {
	struct folded_piece name,
		file;	/* the name without its offset; no file: its start is NULL */
	bool in_kernel; /* by its address */
};

/* The next line, without the blanks at its end. False: there is none. */
bool perf_next_line(struct folded_piece *rest, struct folded_piece *ret_line);

bool perf_sample_parse(const struct folded_piece *line, struct perf_sample *ret_sample);
bool perf_frame_parse(struct folded_piece line, struct perf_frame *ret_frame);
/* `  FILE:LINE` or `  [FILE][ADDRESS]`, of the frame in the line before. */
bool perf_line_is_source(const struct folded_piece *line);

#endif
