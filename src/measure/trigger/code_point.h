/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which places of code a pattern means, beside the entries of functions: FUNCTION+0x10,
 * FILE.c:123, and with --inlined where functions were inlined. Plain data.
 */
#ifndef STACKTALLY_TRIGGER_CODE_POINT_H
#define STACKTALLY_TRIGGER_CODE_POINT_H

#include <stdbool.h>
#include <stdint.h>

struct code_point {
	bool has_offset;
	bool inlined;
	uint64_t offset;  /* from the first byte of the function */
	const char *file; /* of source code; NULL: functions are meant */
	uint32_t line;
};

/* Whether registers at the place are not those of an entry, which hold arguments. */
static inline bool code_point_is_inside(const struct code_point *point)
{
	return point->inlined || point->file || (point->has_offset && point->offset > 0);
}

#endif
