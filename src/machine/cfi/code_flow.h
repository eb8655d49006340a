/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code that nothing else covers: assembly without call frame information, programs built without
 * it. Its frames follow from its instructions. Each function is followed along all its paths from
 * where it seems to begin, with the position of the stack pointer and the registers that hold
 * addresses in the frame. It is accepted only if paths agree wherever they meet, and each path
 * that returns does so with the stack pointer and the saved registers as they were at the
 * beginning: an address at which no function begins does not pass that. What is not accepted
 * stays a gap, and so does code that only indirect jumps lead to.
 *
 * Time is linear in the code, memory is bounded. Must not know: CFI, rows.
 */
#ifndef STACKTALLY_CFI_CODE_FLOW_H
#define STACKTALLY_CFI_CODE_FLOW_H

#include "cfi/code_ranges.h"
#include "cfi/code_view.h"
#include "cfi/rule_table.h"

/*
 * Adds ranges for code that is understood and that `known` does not cover; a range's `context` is
 * the number of its rule. 0, -ENOMEM, -EFBIG, -EIO (no random bytes).
 */
int code_flow_find(const struct code_view *code, const struct code_ranges *known,
		   struct rule_table *rules, struct code_ranges *ranges);

#endif
