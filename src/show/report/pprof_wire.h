/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The wire format of protocol buffers, as much of it as pprof's profile.proto uses, and the
 * numbers of its fields. Source: the Protocol Buffers encoding specification; profile.proto of
 * github.com/google/pprof.
 */
#ifndef STACKTALLY_REPORT_PPROF_WIRE_H
#define STACKTALLY_REPORT_PPROF_WIRE_H

#include <stdint.h>

#include "base/bytes.h"

enum pprof_wire_type {
	PPROF_WIRE_VARINT = 0,
	PPROF_WIRE_FIXED64 = 1,
	PPROF_WIRE_BYTES = 2,
	PPROF_WIRE_FIXED32 = 5,
};

enum pprof_profile_field {
	PPROF_PROFILE_SAMPLE_TYPE = 1,
	PPROF_PROFILE_SAMPLE = 2,
	PPROF_PROFILE_MAPPING = 3,
	PPROF_PROFILE_LOCATION = 4,
	PPROF_PROFILE_FUNCTION = 5,
	PPROF_PROFILE_STRING_TABLE = 6,
	PPROF_PROFILE_DROP_FRAMES = 7,
	PPROF_PROFILE_KEEP_FRAMES = 8,
	PPROF_PROFILE_TIME_NANOS = 9,
	PPROF_PROFILE_DURATION_NANOS = 10,
	PPROF_PROFILE_PERIOD_TYPE = 11,
	PPROF_PROFILE_PERIOD = 12,
	PPROF_PROFILE_COMMENT = 13,
	PPROF_PROFILE_DEFAULT_SAMPLE_TYPE = 14,
};

enum pprof_value_type_field { PPROF_VALUE_TYPE_TYPE = 1, PPROF_VALUE_TYPE_UNIT = 2 };

enum pprof_sample_field {
	PPROF_SAMPLE_LOCATION_ID = 1,
	PPROF_SAMPLE_VALUE = 2,
	PPROF_SAMPLE_LABEL = 3,
};

enum pprof_label_field { PPROF_LABEL_KEY = 1, PPROF_LABEL_STR = 2, PPROF_LABEL_NUM = 3 };

enum pprof_mapping_field {
	PPROF_MAPPING_ID = 1,
	PPROF_MAPPING_MEMORY_START = 2,
	PPROF_MAPPING_MEMORY_LIMIT = 3,
	PPROF_MAPPING_FILE_OFFSET = 4,
	PPROF_MAPPING_FILENAME = 5,
	PPROF_MAPPING_BUILD_ID = 6,
	PPROF_MAPPING_HAS_FUNCTIONS = 7,
	PPROF_MAPPING_HAS_FILENAMES = 8,
	PPROF_MAPPING_HAS_LINE_NUMBERS = 9,
	PPROF_MAPPING_HAS_INLINE_FRAMES = 10,
};

enum pprof_location_field {
	PPROF_LOCATION_ID = 1,
	PPROF_LOCATION_MAPPING_ID = 2,
	PPROF_LOCATION_ADDRESS = 3,
	PPROF_LOCATION_LINE = 4,
};

enum pprof_line_field { PPROF_LINE_FUNCTION_ID = 1, PPROF_LINE_LINE = 2 };

enum pprof_function_field {
	PPROF_FUNCTION_ID = 1,
	PPROF_FUNCTION_NAME = 2,
	PPROF_FUNCTION_SYSTEM_NAME = 3,
	PPROF_FUNCTION_FILENAME = 4,
};

static inline void pprof_put_varint(struct bytes *bytes, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		bytes_char(bytes, (char)(value | 0x80));
	bytes_char(bytes, (char)value);
}

/* A numeric field; 0, the default, is left out. */
static inline void pprof_put_number(struct bytes *bytes, uint32_t field, uint64_t value)
{
	if (value == 0)
		return;
	pprof_put_varint(bytes, field << 3 | PPROF_WIRE_VARINT);
	pprof_put_varint(bytes, value);
}

/* The header of a message, a string or packed numbers of `size` bytes. */
static inline void pprof_put_header(struct bytes *bytes, uint32_t field, uint64_t size)
{
	pprof_put_varint(bytes, field << 3 | PPROF_WIRE_BYTES);
	pprof_put_varint(bytes, size);
}

static inline void pprof_put_message(struct bytes *bytes, uint32_t field,
				     const struct bytes *message)
{
	pprof_put_header(bytes, field, message->used);
	bytes_put(bytes, message->start, message->used);
}

#endif
