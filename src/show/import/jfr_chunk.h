/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A chunk of a JFR file: its header, its events, and the constants that events refer to. The file
 * may be hostile: what is read is bounded by its chunk, and the time that takes by its size.
 */
#ifndef STACKTALLY_IMPORT_JFR_CHUNK_H
#define STACKTALLY_IMPORT_JFR_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "import/jfr_types.h"

#define JFR_MAGIC      "FLR"
#define JFR_MAGIC_SIZE 4 /* with its NUL */

struct jfr_constant {
	uint64_t key;
	uint32_t type;
	uint64_t at; /* where its value is, from the begin of the chunk */
};

struct jfr_chunk {
	const uint8_t *start, *end;
	bool fixed;			/* numbers have fixed sizes */
	uint64_t start_ns, duration_ns; /* since 1970 */
	uint64_t start_ticks, ticks_per_second;
	uint64_t metadata; /* offset of the event */
	struct pool *pool; /* borrowed */
	struct jfr_types types;
	struct jfr_constant *constants;
	uint32_t n_constants, constant_capacity;
	struct index index; /* of them */
	uint64_t steps;	    /* that may still be taken */
	const char *why;    /* what is damaged; NULL: nothing */
};

/*
 * The chunk at the begin of the bytes, whose size is then end - start. 0; -EBADMSG if there is none
 * or it is not complete, then `why` is set; -ENOMEM. jfr_chunk_clear() is due in all cases.
 */
int jfr_chunk_open(struct jfr_chunk *chunk, const char *bytes, size_t size, struct pool *pool);
void jfr_chunk_clear(struct jfr_chunk *chunk);

/* Finds all constants. 0, -EBADMSG, -ENOMEM. */
int jfr_chunk_read_constants(struct jfr_chunk *chunk);
/* The value of a constant. */
struct jfr_cursor jfr_chunk_constant(const struct jfr_chunk *chunk,
				     const struct jfr_constant *constant);

/*
 * The next event, behind its size and type, its type's index or JFR_NO_TYPE, and `at` behind it;
 * begins where `at` is 0. 1; 0: there is none; -EBADMSG. Those of metadata and constants are left
 * out.
 */
int jfr_chunk_event(struct jfr_chunk *chunk, uint64_t *at, uint32_t *ret_type,
		    struct jfr_cursor *ret_event);

/* ---- values ---- */

/* A field of a value, or none: its field is NULL. */
struct jfr_value {
	const struct jfr_field *field;
	struct jfr_cursor at;
};

/*
 * The fields with these names of the value at the cursor; a name may be NULL. 0 or -EBADMSG.
 */
int jfr_chunk_fields(struct jfr_chunk *chunk, uint32_t type, struct jfr_cursor cursor,
		     const char *const *names, struct jfr_value *ret_values, uint32_t n);
/* Moves the cursor behind one value of this type. 0 or -EBADMSG. */
int jfr_chunk_skip(struct jfr_chunk *chunk, const struct jfr_field *field,
		   struct jfr_cursor *cursor);

/* The number; 0 if there is no such field. */
int64_t jfr_chunk_number(const struct jfr_chunk *chunk, const struct jfr_value *value);
/* The key of a constant; 0 if it is none. */
uint64_t jfr_chunk_key(const struct jfr_value *value);

/* A value that a field has or refers to: the index of its type, JFR_NO_TYPE if there is none, and
 * where its fields begin. */
struct jfr_object {
	uint32_t type;
	struct jfr_cursor at;
};
struct jfr_object jfr_chunk_object(const struct jfr_chunk *chunk, const struct jfr_value *value);

/* Appends the text of a string, or of an object whose first field is one. 0 or -EBADMSG. */
int jfr_chunk_text(struct jfr_chunk *chunk, const struct jfr_value *value, struct bytes *bytes);

/* A time in ticks, as ns since 1970. */
int64_t jfr_chunk_time_ns(const struct jfr_chunk *chunk, int64_t ticks);
/* A length of time in ticks, in ns; 0 for what is below 0. */
uint64_t jfr_chunk_duration_ns(const struct jfr_chunk *chunk, int64_t ticks);

#endif
