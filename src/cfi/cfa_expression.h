/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DWARF expressions of call frame information, understood by their meaning: an expression is
 * evaluated with the registers as unknowns, and the result is one of the few forms that rules can
 * say, or none. Must not know: rules, sections.
 */
#ifndef STACKTALLY_CFI_CFA_EXPRESSION_H
#define STACKTALLY_CFI_CFA_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the register numbers of a value may be, besides those of the machine. */
#define EXPRESSION_NO_REGISTER 0xff
#define EXPRESSION_CFA	       0xfe /* the canonical frame address, as if it were a register */

enum expression_form {
	/* base + 8 * index + offset, index and base possibly EXPRESSION_NO_REGISTER */
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

/* `with_cfa`: the CFA lies on the stack to begin with. False when it is none of the forms. */
bool expression_evaluate(const uint8_t *bytes, size_t size, bool with_cfa,
			 struct expression_value *ret_value);

#endif
