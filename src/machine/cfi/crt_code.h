/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code of the C run time that is recognised by its bytes: the functions of GCC's crtstuff.c, which
 * are in nearly every file and call constructors and destructors, and the beginnings of glibc's
 * threads and contexts, for which glibc's CFI is missing or wrong.
 * Must not know: CFI, rows.
 */
#ifndef STACKTALLY_CFI_CRT_CODE_H
#define STACKTALLY_CFI_CRT_CODE_H

#include "cfi/code_ranges.h"
#include "cfi/code_view.h"
#include "cfi/rule_table.h"

/*
 * Adds ranges for recognised code that `known` does not cover; a range's `context` is the number of
 * its rule. Corrects the ranges of `known` that are wrong. 0, -ENOMEM, -EFBIG.
 */
int crt_code_find(const struct code_view *code, struct code_ranges *known, struct rule_table *rules,
		  struct code_ranges *ranges);

#endif
