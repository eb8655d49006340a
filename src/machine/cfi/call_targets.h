/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the code of a segment calls, and which of its addresses it takes: functions begin there.
 * Bytes are searched, not instructions, so a few of these addresses are none. Must not know:
 * functions.
 */
#ifndef STACKTALLY_CFI_CALL_TARGETS_H
#define STACKTALLY_CFI_CALL_TARGETS_H

#include "cfi/code_view.h"

struct call_targets {
	uint64_t begin, end; /* of the segment; equal: nothing is known */
	uint8_t *bits;	     /* one for each of its bytes; owned */
};

void call_targets_free(struct call_targets *targets);

/* Those in the segment. Of a large one nothing is known. 0 or -ENOMEM. */
int call_targets_find(const struct code_view *code, const struct code_segment *segment,
		      struct call_targets *ret_targets);

bool call_targets_has(const struct call_targets *targets, uint64_t address);

/* Whether the functions in [begin, end) that are called are not aligned, for the most part. */
bool call_targets_are_packed(const struct call_targets *targets, uint64_t begin, uint64_t end);

#endif
