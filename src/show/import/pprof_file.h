/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of a pprof file (profile.proto), checked as Go's own reader checks them, so that a
 * file that was cut, or two that were appended, are refused: the types of all fields, references to
 * strings, ids that are unique and not 0, functions and locations that are referred to, one value
 * for each type in a sample.
 */
#ifndef STACKTALLY_IMPORT_PPROF_FILE_H
#define STACKTALLY_IMPORT_PPROF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/index.h"
#include "import/pprof_cursor.h"

/* The most strings, functions, locations or mappings. */
#define PPROF_FILE_MAX	     (1u << 24)
#define PPROF_FILE_MAX_TYPES 64

/* A function, mapping or location. */
struct pprof_row {
	uint64_t id;
	uint64_t name; /* a string; of a location: the id of its mapping */
	struct pprof_span message;
};

struct pprof_rows {
	struct pprof_row *list;
	uint32_t n, capacity;
	struct index index;
};

/* What a value is, and its unit: strings. */
struct pprof_type {
	uint64_t type, unit;
};

struct pprof_file {
	struct pprof_span bytes;
	struct pprof_span *strings;
	uint32_t n_strings, string_capacity;
	struct pprof_rows functions, locations, mappings;
	struct pprof_type types[PPROF_FILE_MAX_TYPES];
	uint32_t n_types;
	struct pprof_type period_type;
	uint64_t period, time_ns, duration_ns;
	uint64_t default_type;		   /* a string */
	uint64_t drop_frames, keep_frames; /* strings */
	bool ours;			   /* a comment holds our command line */
};

/*
 * Reads and checks. The file borrows the bytes. 0, or a negative errno and an error: -ENOEXEC if it
 * is none. pprof_file_clear() is due in both cases.
 */
int pprof_file_read(struct pprof_file *file, const char *bytes, size_t size, struct error *err);
void pprof_file_clear(struct pprof_file *file);

/* NULL: there is none. */
const struct pprof_row *pprof_file_find(const struct pprof_rows *rows, uint64_t id);
struct pprof_span pprof_file_string(const struct pprof_file *file, uint64_t index);
bool pprof_file_is(const struct pprof_file *file, uint64_t index, const char *text);

/* The next number of a repeated field, packed or not: 1, 0 at the end, or -EBADMSG. */
int pprof_file_number(struct pprof_field *field, uint64_t *ret_number);

#endif
