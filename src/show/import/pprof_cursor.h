/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses a message in the wire format of protocol buffers, field by field. All spans that it
 * returns lie within the span that it was given.
 */
#ifndef STACKTALLY_IMPORT_PPROF_CURSOR_H
#define STACKTALLY_IMPORT_PPROF_CURSOR_H

#include <stddef.h>
#include <stdint.h>

/* The rest of a message, a string, or packed numbers. `at` is NULL if there is none. */
struct pprof_span {
	const char *at;
	size_t size;
};

struct pprof_field {
	uint32_t number;
	uint32_t type;		 /* enum pprof_wire_type */
	uint64_t value;		 /* of a varint, else 0 */
	struct pprof_span bytes; /* of all other types */
};

/* The next number: 1, 0 at the end, or -EBADMSG. */
int pprof_varint(struct pprof_span *span, uint64_t *ret_value);
/* The next field: 1, 0 at the end, or -EBADMSG. */
int pprof_next(struct pprof_span *span, struct pprof_field *ret_field);

#endif
