/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code without call frame information that is recognised by its bytes: linkers' PLT stubs (LLD's,
 * and those of static programs), .init and .fini, entry points of programs, and musl's thread
 * starts, vfork and signal returns. Code that is not recognised stays a gap.
 * Must not know: CFI, rows.
 */
#ifndef STACKTALLY_CFI_CODE_STUBS_H
#define STACKTALLY_CFI_CODE_STUBS_H

#include "cfi/code_ranges.h"
#include "cfi/code_view.h"
#include "cfi/rule_table.h"

/*
 * Adds ranges for recognised code that `known` does not cover; a range's `context` is the number of
 * its rule. 0, -ENOMEM, -EFBIG.
 */
int code_stubs_find(const struct code_view *code, const struct code_ranges *known,
		    struct rule_table *rules, struct code_ranges *ranges);

#endif
