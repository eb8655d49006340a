/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules for code of aarch64 that has no call frame information, from what its instructions do: the
 * vDSO (its kernels have no CFI), linkers' stubs, the functions of crt1.o and crti.o, and assembly.
 *
 * A function's instructions are followed along all branches. Its rules are used only if at each of
 * them all ways agree, and each way out leaves the stack as it was found. Must not know: symbols.
 */
#ifndef STACKTALLY_CFI_AARCH64_CODE_H
#define STACKTALLY_CFI_AARCH64_CODE_H

#include "cfi/code_ranges.h"
#include "cfi/code_view.h"
#include "cfi/rule_table.h"

/* Adds ranges for code that `known` does not cover. 0, -ENOMEM, -EFBIG. */
int aarch64_code_find(const struct code_view *code, const struct code_ranges *known,
		      struct rule_table *rules, struct code_ranges *ranges);

#endif
