/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes a message of the wire format of protocol buffers apart, field by field. Everything that
 * comes out lies within what was put in.
 */
#ifndef STACKTALLY_IMPORT_PPROF_CURSOR_H
#define STACKTALLY_IMPORT_PPROF_CURSOR_H

#include <stddef.h>
#include <stdint.h>

/* What is left of a message, a string, or packed numbers. `at` is NULL where there is none. */
struct pprof_span {
	const char *at;
	size_t size;
};

struct pprof_field {
	uint32_t number;
	uint64_t value;		 /* of a number, else 0 */
	struct pprof_span bytes; /* of anything else; of fixed numbers too */
};

/* The next number: 1, 0 at the end, or -EBADMSG. */
int pprof_varint(struct pprof_span *span, uint64_t *ret_value);
/* The next field: 1, 0 at the end, or -EBADMSG. */
int pprof_next(struct pprof_span *span, struct pprof_field *ret_field);

#endif
