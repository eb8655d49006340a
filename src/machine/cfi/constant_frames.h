/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Assembly whose call frame information states one frame for all of its code, as LuaJIT's
 * interpreter has. That holds between the prologue and the epilogue. The code of entries, of
 * returns, and of subroutines that it calls within itself has other frames, which follow from its
 * instructions: a called address has only its return address on the stack, and so has a return.
 *
 * Must not know: other code of the file.
 */
#ifndef STACKTALLY_CFI_CONSTANT_FRAMES_H
#define STACKTALLY_CFI_CONSTANT_FRAMES_H

#include "cfi/call_frames.h"
#include "cfi/code_ranges.h"
#include "cfi/code_view.h"
#include "cfi/rule_table.h"

/*
 * Replaces in `ranges`, which call_frames_read() filled, such code of a range by ranges of
 * UNWIND_CODE, whose `context` is the number of their rule. x86-64 only. Time is linear in the code
 * of ranges with one frame, up to a bound. 0, -ENOMEM, -EFBIG.
 */
int constant_frames_correct(const struct code_view *code, const struct call_frames *frames,
			    struct rule_table *rules, struct code_ranges *ranges);

#endif
