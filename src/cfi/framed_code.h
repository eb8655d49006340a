/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Large pieces of code without call frame information that keep frame pointers, which is seen
 * from their many prologues: what V8 compiled beforehand and node, Chromium and others carry
 * along, and what is built with frame pointers and without unwind tables. Their rules are marked:
 * they are what such code usually does, not what somebody said of each instruction.
 * Must not know: CFI, rows.
 */
#ifndef STACKTALLY_CFI_FRAMED_CODE_H
#define STACKTALLY_CFI_FRAMED_CODE_H

#include "cfi/code_ranges.h"
#include "cfi/code_view.h"
#include "cfi/rules.h"

/*
 * Adds to `ranges` what is known of code that `known` does not cover; the range's `context` is
 * the number of its rule. 0, -ENOMEM, -EFBIG.
 */
int framed_code_find(const struct code_view *code, const struct code_ranges *known,
		     struct rule_table *book, struct code_ranges *ranges);

#endif
