/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the walk of a user stack ended: every one has exactly one reason. Values stand in
 * recordings; they are those of enum wire_end (bpf/unwind_wire.h). docs/unwinding.md says what
 * each means to a user.
 */
#ifndef STACKTALLY_TALLY_END_H
#define STACKTALLY_TALLY_END_H

#include <stdbool.h>
#include <stdint.h>

enum tally_end {
	TALLY_END_NONE, /* not walked: a kernel stack, or user stacks were not asked for */
	TALLY_END_COMPLETE,
	TALLY_END_ENTRY,	 /* complete: an entry stub known by its code */
	TALLY_END_FRAME_POINTER, /* the chain of frame pointers ended, by --unwind=fp */
	TALLY_END_DEPTH,
	TALLY_END_NO_PROCESS,
	TALLY_END_NO_MAPPING,
	TALLY_END_SPECIAL,
	TALLY_END_PENDING,
	TALLY_END_NO_CFI,
	TALLY_END_EVICTED,
	TALLY_END_BROKEN,
	TALLY_END_NO_ROW,
	TALLY_END_CFA,
	TALLY_END_FP,
	TALLY_END_RA,
	TALLY_END_REGISTER,
	TALLY_END_READ,
	TALLY_END_SP,
	TALLY_END_PC,
	TALLY_END_REGISTERS,
	TALLY_END_COMPAT,
	TALLY_END_STALE,
	TALLY_END_JIT,
	TALLY_N_ENDS,
};

/* What is shown as `[unwind: NAME]`; lives forever. */
const char *tally_end_name(enum tally_end end);

/* The same as a frame at the root of the stack, or NULL for ends that are none of those. */
const char *tally_end_frame(enum tally_end end);

/* Whether the outermost frame is known to be the outermost. */
bool tally_end_is_complete(enum tally_end end);

#endif
