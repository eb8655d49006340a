/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the number formats of DWARF from memory, never beyond its end: such a read gives 0 and
 * sets `failed` for good, so that callers need to check it only once, after all reads.
 */
#ifndef STACKTALLY_ELF_BYTE_READER_H
#define STACKTALLY_ELF_BYTE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct byte_reader {
	const uint8_t *at, *end;
	bool failed;
};

static inline size_t bytes_left(const struct byte_reader *reader)
{
	return (size_t)(reader->end - reader->at);
}

/* Marks the reader as failed; all further reads give 0. */
static inline uint64_t bytes_fail(struct byte_reader *reader)
{
	reader->at = reader->end;
	reader->failed = true;
	return 0;
}

/* Skips `n` bytes and returns where they are; the end when there are fewer. */
static inline const uint8_t *bytes_skip(struct byte_reader *reader, uint64_t n)
{
	const uint8_t *at = reader->at;

	if (n > bytes_left(reader)) {
		bytes_fail(reader);
		return reader->end;
	}
	reader->at += n;
	return at;
}

#define DEFINE_READ_FIXED(name, type)                                                              \
	static inline type name(struct byte_reader *reader)                                        \
	{                                                                                          \
		type value;                                                                        \
                                                                                                   \
		if (bytes_left(reader) < sizeof(value))                                            \
			return (type)bytes_fail(reader);                                           \
		memcpy(&value, reader->at, sizeof(value));                                         \
		reader->at += sizeof(value);                                                       \
		return value;                                                                      \
	}
DEFINE_READ_FIXED(read_u8, uint8_t)
DEFINE_READ_FIXED(read_u16, uint16_t)
DEFINE_READ_FIXED(read_u32, uint32_t)
DEFINE_READ_FIXED(read_u64, uint64_t)
#undef DEFINE_READ_FIXED

/*
 * LEB128 (DWARF 5, 7.6). Numbers of more than 64 bits fail. Assemblers pad numbers with
 * superfluous bytes: up to LEB_MAX_BYTES are read.
 */
#define LEB_MAX_BYTES 16

static inline uint64_t read_uleb_long(struct byte_reader *reader)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < LEB_MAX_BYTES && reader->at < reader->end; i++) {
		uint8_t byte = *reader->at++;
		uint64_t bits = byte & 0x7f;

		if (7 * i >= 64 ? bits != 0 : bits << 7 * i >> 7 * i != bits)
			return bytes_fail(reader);
		if (7 * i < 64)
			value |= bits << 7 * i;
		if (!(byte & 0x80))
			return value;
	}
	return bytes_fail(reader);
}

static inline uint64_t read_uleb(struct byte_reader *reader)
{
	if (reader->at < reader->end && !(*reader->at & 0x80))
		return *reader->at++;
	return read_uleb_long(reader);
}

static inline int64_t read_sleb(struct byte_reader *reader)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < LEB_MAX_BYTES && reader->at < reader->end; i++) {
		uint8_t byte = *reader->at++;
		unsigned int shift = 7 * i;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			if (shift + 7 < 64 && (byte & 0x40))
				value |= ~UINT64_C(0) << (shift + 7);
			return (int64_t)value;
		}
	}
	return (int64_t)bytes_fail(reader);
}

#endif
