/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of a pprof profile while it is made: strings, functions, locations, mappings. Each
 * thing stands in its table once; ids count from 1, as pprof's readers want them, strings from 0.
 *
 * Failures are kept in `failed`; from then on all ids are 0.
 */
#ifndef STACKTALLY_REPORT_PPROF_TABLES_H
#define STACKTALLY_REPORT_PPROF_TABLES_H

#include <stdint.h>

#include "base/bytes.h"
#include "base/index.h"
#include "view/profile.h"
#include "view/stack_list.h"

struct pprof_string {
	size_t at; /* in `text` */
	uint32_t size;
};

struct pprof_function {
	const char *name, *linkage_name, *file; /* as the names share them; file may be NULL */
};

/* The frames of one address: `n` of a stack list, the innermost first. */
struct pprof_location {
	uint32_t first, n; /* in `location_frames` */
};

struct pprof_mapping {
	uint32_t object;
	bool has_functions, has_files, has_lines, has_inlines;
};

struct pprof_tables {
	const struct profile *profile;
	int failed; /* 0 or a negative errno */

	struct bytes text; /* of all strings */
	struct bytes scratch;
	struct pprof_string *strings;
	uint32_t n_strings, string_room;
	struct index string_index;

	struct pprof_function *functions;
	uint32_t n_functions, function_room;
	struct index function_index;

	struct pprof_location *locations;
	uint32_t n_locations, location_room;
	struct index location_index;
	uint32_t *location_frames;
	uint32_t n_location_frames, location_frame_room;

	struct pprof_mapping *mappings;
	uint32_t n_mappings;
	uint32_t *mapping_of; /* for each object its id, or 0 */
};

void pprof_tables_start(struct pprof_tables *tables, const struct profile *profile);
void pprof_tables_clear(struct pprof_tables *tables);

/* What bytes_name() makes of the string. */
uint32_t pprof_string(struct pprof_tables *tables, const char *string, size_t size);
/* A frame of a stack list: one of the profile, or a mark. */
uint32_t pprof_function(struct pprof_tables *tables, uint32_t frame);
uint32_t pprof_location(struct pprof_tables *tables, const uint32_t *frames, uint32_t n);
/* The id of the mapping of an object, or 0 without one. Objects get theirs on first sight. */
uint32_t pprof_mapping(struct pprof_tables *tables, uint32_t object);

#endif
