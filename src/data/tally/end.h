/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why the walk of a user stack ended: each walk has one reason. Recordings hold these values; they
 * are those of enum wire_end (bpf/unwind_wire.h). docs/unwinding.md explains each to users.
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
	TALLY_END_TIME_USED_UP,
	TALLY_END_NOT_OPENED,
	TALLY_END_FIBER,
	TALLY_N_ENDS,
};

/* The NAME of `[unwind: NAME]`: a string constant. */
const char *tally_end_name(enum tally_end end);

/*
 * The `[unwind: NAME]` frame that stands at the root of an incomplete stack: a string constant, or
 * NULL if the reason makes no such frame.
 */
const char *tally_end_frame(enum tally_end end);

/* Whether the last frame is known to be the outermost one. */
bool tally_end_is_complete(enum tally_end end);

#endif
