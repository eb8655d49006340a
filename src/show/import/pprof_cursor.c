// SPDX-License-Identifier: GPL-2.0-or-later
#include "import/pprof_cursor.h"

#include <errno.h>

#include "report/pprof_wire.h"

int pprof_varint(struct pprof_span *span, uint64_t *ret_value)
{
	uint64_t value = 0;

	if (span->size == 0)
		return 0;
	for (unsigned int i = 0; i < 10 && i < span->size; i++) {
		unsigned char byte = (unsigned char)span->at[i];

		value |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (byte < 0x80) {
			span->at += i + 1;
			span->size -= i + 1;
			*ret_value = value;
			return 1;
		}
	}
	return -EBADMSG;
}

static int take(struct pprof_span *span, uint64_t size, struct pprof_span *ret_taken)
{
	if (size > span->size)
		return -EBADMSG;
	*ret_taken = (struct pprof_span){ span->at, size };
	span->at += size;
	span->size -= size;
	return 1;
}

int pprof_next(struct pprof_span *span, struct pprof_field *ret_field)
{
	struct pprof_field field = { 0 };
	uint64_t tag, size;
	int r = pprof_varint(span, &tag);

	if (r <= 0)
		return r;
	if (tag >> 3 == 0 || tag >> 3 > UINT32_MAX)
		return -EBADMSG;
	field.number = (uint32_t)(tag >> 3);
	field.type = tag & 7;
	switch (field.type) {
	case PPROF_WIRE_VARINT:
		r = pprof_varint(span, &field.value);
		break;
	case PPROF_WIRE_BYTES:
		r = pprof_varint(span, &size);
		if (r > 0)
			r = take(span, size, &field.bytes);
		break;
	case PPROF_WIRE_FIXED64:
		r = take(span, 8, &field.bytes);
		break;
	case PPROF_WIRE_FIXED32:
		r = take(span, 4, &field.bytes);
		break;
	default:
		return -EBADMSG;
	}
	if (r <= 0)
		return -EBADMSG;
	*ret_field = field;
	return 1;
}
