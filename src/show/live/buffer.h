/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Immutable byte buffers with a reference count, so that one message can be queued on many
 * connections without being copied. References may be taken and dropped by any thread; the bytes
 * are freed with the last reference.
 */
#ifndef STACKTALLY_LIVE_BUFFER_H
#define STACKTALLY_LIVE_BUFFER_H

#include <stddef.h>

struct buffer {
	unsigned int references; /* atomic */
	size_t size;
	char *bytes;
};

/*
 * Takes over `bytes`, which malloc() returned, and gives the caller the only reference. NULL when
 * `bytes` is NULL or memory is short; `bytes` is then freed.
 */
struct buffer *buffer_new(char *bytes, size_t size);
/* Takes another reference, and returns `buffer`. */
struct buffer *buffer_ref(struct buffer *buffer);
/* Drops a reference. NULL is allowed. */
void buffer_unref(struct buffer *buffer);

#endif
