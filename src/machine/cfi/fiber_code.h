/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code at which the stacks of fibers begin: their first function returns to it or never returns,
 * and what lies behind it in memory is another stack's. Must not know: names of the reasons.
 */
#ifndef STACKTALLY_CFI_FIBER_CODE_H
#define STACKTALLY_CFI_FIBER_CODE_H

#include "cfi/code_ranges.h"
#include "cfi/code_view.h"
#include "cfi/rule_table.h"

/*
 * Gives the functions of `known` at which stacks begin the rule that says so, and adds ranges for
 * code that `known` does not cover. 0, -ENOMEM, -EFBIG.
 */
int fiber_code_find(const struct code_view *code, struct code_ranges *known,
		    struct rule_table *rules, struct code_ranges *ranges);

#endif
