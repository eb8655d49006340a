// SPDX-License-Identifier: GPL-2.0-or-later
#include "live/buffer.h"

#include <stdlib.h>

struct buffer *buffer_new(char *bytes, size_t size)
{
	struct buffer *buffer = bytes ? malloc(sizeof(*buffer)) : NULL;

	if (!buffer) {
		free(bytes);
		return NULL;
	}
	*buffer = (struct buffer){ .references = 1, .size = size, .bytes = bytes };
	return buffer;
}

struct buffer *buffer_ref(struct buffer *buffer)
{
	__atomic_add_fetch(&buffer->references, 1, __ATOMIC_RELAXED);
	return buffer;
}

void buffer_unref(struct buffer *buffer)
{
	if (!buffer || __atomic_sub_fetch(&buffer->references, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	free(buffer->bytes);
	free(buffer);
}
