/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes that come from somewhere or go somewhere, one behind the other: so that what reads or
 * writes a format need not know whether a file, a socket or memory is at the other end.
 */
#ifndef STACKTALLY_BASE_BYTE_STREAM_H
#define STACKTALLY_BASE_BYTE_STREAM_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct byte_source {
	/* Reads exactly `size` bytes: 0; -ENODATA: there are fewer; or another negative errno. */
	int (*read)(void *context, void *bytes, size_t size);
	void *context;
};

struct byte_sink {
	void (*write)(void *context, const void *bytes, size_t size);
	void *context;
};

static inline int source_read(const struct byte_source *source, void *bytes, size_t size)
{
	return source->read(source->context, bytes, size);
}

static inline void sink_write(const struct byte_sink *sink, const void *bytes, size_t size)
{
	sink->write(sink->context, bytes, size);
}

/* Bytes in memory, as a source. */
struct byte_memory {
	const uint8_t *bytes;
	size_t left;
};

static inline int byte_memory_read(void *context, void *bytes, size_t size)
{
	struct byte_memory *memory = context;

	if (size > memory->left)
		return -ENODATA;
	memcpy(bytes, memory->bytes, size);
	memory->bytes += size;
	memory->left -= size;
	return 0;
}

#endif
