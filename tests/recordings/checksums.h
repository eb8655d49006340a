/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the checksums of a recording right again after its bytes were changed, so that tests
 * reach what lies behind them.
 */
#ifndef STACKTALLY_TESTS_RECORDINGS_CHECKSUMS_H
#define STACKTALLY_TESTS_RECORDINGS_CHECKSUMS_H

#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

#include "recording/format.h"

static inline void make_checksums(unsigned char *bytes, size_t size)
{
	size_t at = RECORDING_HEADER_SIZE;
	uint32_t start = size > at ? RECORDING_CHECKSUM_OF(bytes[RECORDING_MAGIC_SIZE]) : 0;

	while (at <= size && size - at >= RECORDING_SECTION_SIZE) {
		unsigned char *header = bytes + at;
		uint32_t payload = header[4] | (uint32_t)header[5] << 8 |
				   (uint32_t)header[6] << 16 | (uint32_t)header[7] << 24;
		uint32_t sum;

		at += RECORDING_SECTION_SIZE;
		if (payload > size - at)
			return;
		sum = (uint32_t)crc32(crc32(start, header, 8), bytes + at, payload);
		for (int i = 0; i < 4; i++)
			header[8 + i] = (unsigned char)(sum >> 8 * i);
		at += payload;
	}
}

#endif
