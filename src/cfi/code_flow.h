/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code that nothing says anything of: assembly without call frame information, programs built
 * without it. Where its frames are follows from its instructions. Each function is followed on all
 * its ways from where it seems to begin, with where the stack pointer is, and which registers hold
 * addresses in the frame. It is believed only when all ways agree wherever they meet, and each that
 * returns does so with the stack and the saved registers as they were: what was no beginning does
 * not, and stays a gap. Behind jumps to who knows where is one, too.
 *
 * Time is linear in the code, memory bounded. Must not know: CFI, rows.
 */
#ifndef STACKTALLY_CFI_CODE_FLOW_H
#define STACKTALLY_CFI_CODE_FLOW_H

#include "cfi/code_ranges.h"
#include "cfi/code_view.h"
#include "cfi/rules.h"

/*
 * Adds to `ranges` what is known of code that `known` does not cover; the range's `context` is
 * the number of its rule. 0, -ENOMEM, -EFBIG, -EIO (no random bytes).
 */
int code_flow_find(const struct code_view *code, const struct code_ranges *known,
		   struct rule_table *book, struct code_ranges *ranges);

#endif
