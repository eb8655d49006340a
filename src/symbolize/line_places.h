/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The places of a source line in a file's code, from its DWARF. As in debuggers, that is the first
 * instruction of the line in each function, and in each place where a function was inlined. For
 * confined children, as inlined_places.h. Must not know: patterns, probes.
 */
#ifndef STACKTALLY_SYMBOLIZE_LINE_PLACES_H
#define STACKTALLY_SYMBOLIZE_LINE_PLACES_H

#include "symbolize/code_place.h"

struct line_request {
	int fd;
	const char *file; /* the end of a path, from one of its parts on: "a.c", "src/a.c" */
	uint32_t line;
	uint64_t end_ns; /* CLOCK_MONOTONIC: stop then */
};

/* The lines of the file that have code, next to one that has none; 0: none has. */
struct line_neighbours {
	bool file; /* the DWARF knows the file */
	uint32_t before, behind;
};

/*
 * Calls `each` for each place. 0; -ENODATA: the file has no DWARF; -ETIMEDOUT; -E2BIG: there are
 * more than 65,536; or another negative errno. `ret_neighbours` is filled in unless it fails.
 */
int line_places_each(const struct line_request *request, code_place_fn each, void *context,
		     struct line_neighbours *ret_neighbours);

#endif
