/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes on their way out: a large buffer that writers append to and that goes to its stream when
 * it is full; or, without a stream, one that grows. A report of a million stacks is hundreds of
 * megabytes, so nothing here formats through stdio.
 *
 * A failure (no memory, a write error) is kept in `failed`; from then on appending does nothing.
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
	FILE *out;  /* or NULL: grow */
	int failed; /* 0, -ENOMEM, or -EIO: then the stream knows more */
};

void bytes_start(struct bytes *bytes, FILE *out);
/* Writes what is still there; returns `failed`. */
int bytes_finish(struct bytes *bytes);
void bytes_clear(struct bytes *bytes);

bool bytes_make_room(struct bytes *bytes, size_t size);

/* Room for `size` more bytes at start + used. False: failed. */
static inline bool bytes_room(struct bytes *bytes, size_t size)
{
	return __builtin_expect(bytes->size - bytes->used >= size, 1) ||
	       bytes_make_room(bytes, size);
}

static inline void bytes_put(struct bytes *bytes, const void *from, size_t size)
{
	if (size == 0 || !bytes_room(bytes, size))
		return; /* a buffer that is still empty has no place to copy to */
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
/* Lower case; padded to `width` with zeros, or after the digits with spaces. */
void bytes_hex(struct bytes *bytes, uint64_t value, unsigned int width, bool zeros);

/*
 * A name that someone else chose (a program its comm, a file its symbols): UTF-8 passes, while
 * control characters (those that turn the direction of writing too) and bytes that are no UTF-8
 * become '?', so that a name can neither end a line of the report nor steer a terminal. Semicolons
 * stay, as Java's names have them.
 */
void bytes_name(struct bytes *bytes, const char *name, size_t size);

#endif
