/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Large pieces of code without call frame information that keep frame pointers, as their many
 * prologues show: V8's built-in functions in node and Chromium, and programs built with frame
 * pointers and without unwind tables. Their rules have WIRE_RULE_FRAME_POINTER, as they follow
 * from what such code usually does and not from each instruction.
 * Must not know: CFI, rows.
 */
#ifndef STACKTALLY_CFI_FRAME_POINTER_CODE_H
#define STACKTALLY_CFI_FRAME_POINTER_CODE_H

#include "cfi/code_ranges.h"
#include "cfi/code_view.h"
#include "cfi/rule_table.h"

/*
 * Adds ranges for recognised code that `known` does not cover; a range's `context` is the number of
 * its rule. 0, -ENOMEM, -EFBIG.
 */
int frame_pointer_code_find(const struct code_view *code, const struct code_ranges *known,
			    struct rule_table *rules, struct code_ranges *ranges);

#endif
