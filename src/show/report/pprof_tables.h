/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of a pprof profile in the making: strings, functions, locations, mappings, each
 * without duplicates. The functions below find or add an item and return its id: for strings the
 * position from 0, for the others the position from 1, as profile.proto demands.
 *
 * Frames and objects of the profile have their numbers. In a difference, those of the base are
 * behind them, by numbers that the functions below make.
 *
 * The first failure is kept in `failed`; from then on all ids are 0. The profile is borrowed.
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
	const char *name, *linkage_name, *file; /* shared with names; file may be NULL */
};

/* One address: its function and those inlined there, innermost first. */
struct pprof_location {
	uint32_t first, n; /* in `location_frames` */
};

struct pprof_mapping {
	const struct names_object *object;
	bool has_functions, has_files, has_lines, has_inlines;
};

struct pprof_tables {
	const struct profile *profile;
	int failed; /* 0 or a negative errno */

	struct bytes text;    /* of all strings */
	struct bytes scratch; /* the string looked for */
	struct pprof_string *strings;
	uint32_t n_strings, string_capacity;
	struct index string_index;

	struct pprof_function *functions;
	uint32_t n_functions, function_capacity;
	struct index function_index;

	struct pprof_location *locations;
	uint32_t n_locations, location_capacity;
	struct index location_index;
	uint32_t *location_frames;
	uint32_t n_location_frames, location_frame_capacity;

	struct pprof_mapping *mappings;
	uint32_t n_mappings;
	uint32_t *mapping_of; /* of each object: its id; 0: none yet */
};

void pprof_tables_start(struct pprof_tables *tables, const struct profile *profile);
void pprof_tables_clear(struct pprof_tables *tables);

/* The string as bytes_name() makes it printable. */
uint32_t pprof_string(struct pprof_tables *tables, const char *string, size_t size);
/*
 * The stack list (view/stack_list.h) of an entry of the profile or of its base; the numbers of
 * frames are those of the tables. Returns its length.
 */
uint32_t pprof_stack(const struct pprof_tables *tables, const struct tally_entry *entry,
		     bool of_base, uint32_t list[static STACK_LIST_MAX]);
/* A frame of such a list; NULL: a mark. */
const struct profile_frame *pprof_frame(const struct pprof_tables *tables, uint32_t frame);
/* The number of its object, for pprof_mapping(). */
uint32_t pprof_object(const struct pprof_tables *tables, uint32_t frame);

/* Of a frame of a list. */
uint32_t pprof_function(struct pprof_tables *tables, uint32_t frame);
/* Of `n` frames at one address, as they stand in a stack list. */
uint32_t pprof_location(struct pprof_tables *tables, const uint32_t *frames, uint32_t n);
/* Of an object; 0 for other values of `object`. */
uint32_t pprof_mapping(struct pprof_tables *tables, uint32_t object);

#endif
