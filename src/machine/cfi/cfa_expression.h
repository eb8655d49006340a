/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DWARF expressions of call frame information (DWARF 5, 2.5), evaluated symbolically: registers
 * stay unknowns, and the result is one of the few forms that rules express, or none. So equivalent
 * expressions of different compilers have the same result. Must not know: rules, sections.
 */
#ifndef STACKTALLY_CFI_CFA_EXPRESSION_H
#define STACKTALLY_CFI_CFA_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Register numbers of a value beside the DWARF numbers of the machine. */
#define EXPRESSION_NO_REGISTER 0xff
#define EXPRESSION_CFA	       0xfe /* the canonical frame address */

enum expression_form {
	/* base + 8 * index + offset; index may be EXPRESSION_NO_REGISTER */
	EXPRESSION_SUM,
	/* *(base + 8 * index + offset) + add */
	EXPRESSION_DEREF,
	/* sp + offset + ((pc & 15) >= threshold ? 8 : 0): linkers write this for their PLT */
	EXPRESSION_PLT,
};

struct expression_value {
	enum expression_form form;
	uint8_t base, index;
	uint8_t threshold;
	int64_t offset, add;
};

/* `with_cfa`: the evaluation starts with the CFA on its stack. False: the result has no form. */
bool expression_evaluate(const uint8_t *bytes, size_t size, bool with_cfa,
			 struct expression_value *ret_value);

#endif
