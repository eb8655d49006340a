/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A buffer for output. With a stream it holds 1 MiB and is written when it is full; without one it
 * grows. It formats numbers itself, because a report of a million stacks is hundreds of megabytes
 * and stdio is too slow for that.
 *
 * The first failure (no memory, a write error) stays in `failed`; from then on appending does
 * nothing.
 */
#ifndef STACKTALLY_BASE_BYTES_H
#define STACKTALLY_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct bytes {
	char *start;
	size_t used, size;
	FILE *out;  /* borrowed, or NULL: the buffer grows */
	int failed; /* 0, -ENOMEM, or -EIO: then ferror(out) holds */
};

void bytes_start(struct bytes *bytes, FILE *out);
/* Writes what the buffer still holds. Returns `failed`. */
int bytes_finish(struct bytes *bytes);
void bytes_clear(struct bytes *bytes);

/* For bytes_room(), when the buffer is too small. */
bool bytes_make_room(struct bytes *bytes, size_t size);

/* Makes room for `size` more bytes at start + used. False: it failed. */
static inline bool bytes_room(struct bytes *bytes, size_t size)
{
	return __builtin_expect(bytes->size - bytes->used >= size, 1) ||
	       bytes_make_room(bytes, size);
}

static inline void bytes_put(struct bytes *bytes, const void *from, size_t size)
{
	if (size == 0 || !bytes_room(bytes, size))
		return; /* memcpy() must not be given the NULL of an empty buffer */
	memcpy(bytes->start + bytes->used, from, size);
	bytes->used += size;
}

static inline void bytes_string(struct bytes *bytes, const char *string)
{
	bytes_put(bytes, string, strlen(string));
}

static inline void bytes_char(struct bytes *bytes, char byte)
{
	bytes_put(bytes, &byte, 1);
}

void bytes_decimal(struct bytes *bytes, uint64_t value);
/* Lower-case digits, padded to `width` with leading zeros or else with trailing spaces. */
void bytes_hex(struct bytes *bytes, uint64_t value, unsigned int width, bool zeros);

/*
 * An untrusted name, such as a comm or a symbol. Control characters, direction overrides and bytes
 * that are not UTF-8 become '?', so that a name can neither end a line of the report nor control
 * the terminal. Semicolons stay, because Java's names contain them.
 */
void bytes_name(struct bytes *bytes, const char *name, size_t size);
/*
 * Appends a line of UTF-8 text. Where it would have more than `columns` characters it is broken at
 * a blank, and the rest is indented by two; a longer word stays whole.
 */
void bytes_wrap(struct bytes *bytes, const char *line, size_t size, size_t columns);
/* The same as bytes_name(), to a stream that may be a terminal. */
void bytes_print_name(FILE *out, const char *name);
/* As bytes_print_name(), broken as by bytes_wrap() unless `columns` is 0, with an end of line. */
void bytes_print_line(FILE *out, const char *text, size_t columns);

#endif
