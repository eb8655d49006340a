/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads numbers and strings of a JFR file, which may be hostile, from front to back. Behind the end
 * all is 0, and the cursor says that it failed.
 *
 * Numbers are of 7 bits a byte, the low ones first, a ninth byte has 8; or, in a chunk that is not
 * compressed, of fixed size and with the high byte first.
 */
#ifndef STACKTALLY_IMPORT_JFR_CURSOR_H
#define STACKTALLY_IMPORT_JFR_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

struct jfr_cursor {
	const uint8_t *at, *end;
	bool fixed;  /* numbers have fixed sizes */
	bool failed; /* more was read than there is, or what is no string; stays */
};

/* A string as it is stored. */
struct jfr_string {
	enum jfr_encoding {
		JFR_NO_STRING, /* null */
		JFR_EMPTY,
		JFR_CONSTANT, /* `key` of a constant of java.lang.String */
		JFR_UTF8,
		JFR_CHARACTERS, /* UTF-16, each unit a number */
		JFR_LATIN1,
		JFR_N_ENCODINGS,
	} encoding;
	uint64_t key;
	struct jfr_cursor of; /* its bytes */
};

/* `size` bytes, whatever the chunk; high byte first. At most 8. */
uint64_t jfr_fixed(struct jfr_cursor *cursor, unsigned int size);
/* A number that takes `size` bytes, of 1, 2, 4 and 8, if it is not compressed. One of 1 never is.
 */
uint64_t jfr_number(struct jfr_cursor *cursor, unsigned int size);
static inline uint32_t jfr_u32(struct jfr_cursor *cursor)
{
	return (uint32_t)jfr_number(cursor, 4);
}
static inline uint64_t jfr_u64(struct jfr_cursor *cursor)
{
	return jfr_number(cursor, 8);
}
/* How many elements follow, each of which takes at least a byte. */
uint32_t jfr_count(struct jfr_cursor *cursor);

struct jfr_string jfr_string(struct jfr_cursor *cursor);
/* Appends a string that is no constant as UTF-8, with '?' for NUL, which would end it. */
void jfr_string_put(const struct jfr_string *string, struct bytes *bytes);

#endif
