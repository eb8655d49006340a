/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code of the C run time in nearly every file that is known by its bytes: what GCC's crtstuff.c
 * puts before and after a program's own (it calls destructors, so much may run below it), and
 * where glibc starts threads and contexts, which its CFI leaves out or gets wrong.
 * Must not know: CFI, rows.
 */
#ifndef STACKTALLY_CFI_CRT_CODE_H
#define STACKTALLY_CFI_CRT_CODE_H

#include "cfi/code_ranges.h"
#include "cfi/code_view.h"
#include "cfi/rules.h"

/*
 * Adds to `ranges` what is known of code that `known` does not cover; the range's `context` is
 * the number of its rule. Where `known` is wrong, changes it. 0, -ENOMEM, -EFBIG.
 */
int crt_code_find(const struct code_view *code, struct code_ranges *known, struct rule_table *book,
		  struct code_ranges *ranges);

#endif
