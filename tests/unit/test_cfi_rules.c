// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The whole rule that follows from each call frame instruction and DWARF expression, with values on
 * both sides of every bound.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

#include "cfi/unwind_rows.h"
#include "forged_elf.h"

struct example {
	const uint8_t *program;
	size_t size;
	struct wire_rule rule;
};

#define PROGRAM(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })
/* cfa + its offset, fp + its offset, ra, reg, extra */
#define RULE(c, co, f, fo, r, g, e)                                                                \
	{                                                                                          \
		.cfa = WIRE_CFA_##c, .cfa_offset = (co), .fp = WIRE_FP_##f, .fp_offset = (fo),     \
		.ra = (r), .reg = (g), .extra = (e)                                                \
	}
#define CFA(c, co, g, e)      RULE(c, co, SAME, 0, WIRE_RA_CFA, g, e)
#define NO_CFA		      RULE(UNSUPPORTED, 0, SAME, 0, 0, 0, RULE_UNSUPPORTED_OTHER)
#define NO_EXPRESSION	      RULE(UNSUPPORTED, 0, SAME, 0, 0, 0, RULE_UNSUPPORTED_EXPRESSION)
#define FP(f, fo)	      RULE(SP, 8, f, fo, WIRE_RA_CFA, 0, 0)
#define RA(r, g, e)	      RULE(SP, 8, SAME, 0, WIRE_RA_##r, g, e)
#define RBX(c, co, how, g, e) RULE(c, co, SAME, 0, WIRE_RA_CFA | WIRE_RULE_RBX_##how, g, e)
/* The CFA by this expression; its size comes first. */
#define BY(...) PROGRAM(0x0f, sizeof((const uint8_t[]){ __VA_ARGS__ }), __VA_ARGS__)
/* Operations without effect: DW_OP_nop. */
#define NOPS_8 0x96, 0x96, 0x96, 0x96, 0x96, 0x96, 0x96, 0x96
#define NOPS_62                                                                                    \
	NOPS_8, NOPS_8, NOPS_8, NOPS_8, NOPS_8, NOPS_8, NOPS_8, 0x96, 0x96, 0x96, 0x96, 0x96, 0x96
/* *pc & 15, as a PLT's expression begins. */
#define PC_LOW 0x80, 0, 0x3f, 0x1a

static void compile_and_compare(const struct example *examples, size_t n)
{
	static struct forged elf;
	struct unwind_rows rows = { 0 };
	struct rule_table *table = NULL;
	struct error err = { 0 };
	const struct wire_rule *rules;
	uint32_t n_rules;

	memset(&elf, 0, sizeof(elf));
	/* zR, absolute addresses of four bytes; CFA = rsp + 8, return address at CFA - 8. */
	begin_entry(&elf);
	put_u32(&elf, 0);
	put(&elf, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x03, 0x0c, 7, 8, 0x90, 1);
	end_entry(&elf);
	for (size_t i = 0; i < n; i++) {
		begin_entry(&elf);
		put_u32(&elf, (uint32_t)elf.n);
		put_u32(&elf, CODE_ADDRESS + (uint32_t)i * 16);
		put_u32(&elf, 16);
		put(&elf, 0);
		put_bytes(&elf, examples[i].program, examples[i].size);
		end_entry(&elf);
	}
	assert_int_equal(rule_table_new(&table), 0);
	assert_int_equal(unwind_rows_compile_memory(elf.bytes, finish_elf(&elf, ".eh_frame"), table,
						    &rows, &err),
			 0);
	assert_int_equal(rows.counts.malformed, 0);
	rules = rule_table_rules(table, &n_rules);
	for (size_t i = 0; i < n; i++) {
		uint32_t address = CODE_ADDRESS + (uint32_t)i * 16;
		const struct wire_rule *is = &rules[unwind_rows_find(&rows, address)];
		const struct wire_rule *wanted = &examples[i].rule;

		if (memcmp(is, wanted, sizeof(*is)) != 0)
			fail_msg("example %zu: cfa %u%+d, fp %u%+d, ra %#x, reg %u, extra %d "
				 "instead "
				 "of cfa %u%+d, fp %u%+d, ra %#x, reg %u, extra %d",
				 i, is->cfa, is->cfa_offset, is->fp, is->fp_offset, is->ra, is->reg,
				 is->extra, wanted->cfa, wanted->cfa_offset, wanted->fp,
				 wanted->fp_offset, wanted->ra, wanted->reg, wanted->extra);
	}
	unwind_rows_free(&rows);
	rule_table_free(table);
}

#define COMPARE(examples) compile_and_compare(examples, sizeof(examples) / sizeof(*(examples)))

static void the_cfa_by_registers(void **state)
{
	const struct example examples[] = {
		{ PROGRAM(0), CFA(SP, 8, 0, 0) },
		{ PROGRAM(0x2d), CFA(SP, 8, 0, 0) },
		{ PROGRAM(0x0c, 6, 16), CFA(FP, 16, 0, 0) },
		{ PROGRAM(0x0c, 0, 16), CFA(REG, 16, 0, 0) },
		{ PROGRAM(0x0c, 15, 16), CFA(REG, 16, 15, 0) },
		{ PROGRAM(0x0c, 16, 16), NO_CFA },
		{ PROGRAM(0x0d, 6), CFA(FP, 8, 0, 0) },
		{ PROGRAM(0x0e, 0xff, 0xff, 0xff, 0xff, 0x07), CFA(SP, INT32_MAX, 0, 0) },
		{ PROGRAM(0x0e, 0x80, 0x80, 0x80, 0x80, 0x08), NO_CFA },
		{ PROGRAM(0x12, 6, 0x7e), CFA(FP, 16, 0, 0) },
		{ PROGRAM(0x12, 10, 2), CFA(REG, -16, 10, 0) },
		{ PROGRAM(0x13, 0x7d), CFA(SP, 24, 0, 0) },
		/* A CFA by register replaces one by expression. */
		{ PROGRAM(0x0f, 3, 0x77, 0, 0x06, 0x0d, 6), CFA(FP, 8, 0, 0) },
		{ PROGRAM(0x2e, 0x80, 1, 0x0e, 16), CFA(SP, 16, 0, 0) },
	};

	(void)state;
	COMPARE(examples);
}

static void the_cfa_by_sums(void **state)
{
	const struct example examples[] = {
		{ BY(0x77, 16), CFA(SP, 16, 0, 0) },
		{ BY(0x76, 0x70), CFA(FP, -16, 0, 0) },
		{ BY(0x70, 8), CFA(REG, 8, 0, 0) },
		{ BY(0x7f, 8), CFA(REG, 8, 15, 0) },
		{ BY(0x80, 8), NO_EXPRESSION },
		{ BY(0x81, 8), NO_EXPRESSION },
		{ BY(0x92, 12, 16), CFA(REG, 16, 12, 0) },
		{ BY(0x92, 16, 16), NO_EXPRESSION },
		{ BY(0x92, 17, 16), NO_EXPRESSION },
		{ BY(0x92, 0x87, 2, 16), NO_EXPRESSION }, /* 256 + 7 */
		{ BY(0x77, 8, 0x23, 0x80, 1), CFA(SP, 136, 0, 0) },
		{ BY(0x38, 0x77, 0, 0x22), CFA(SP, 8, 0, 0) },
		{ BY(0x77, 0, 0x38, 0x22), CFA(SP, 8, 0, 0) },
		{ BY(0x77, 32, 0x38, 0x1c), CFA(SP, 24, 0, 0) },
		{ BY(0x4f, 0x77, 0, 0x22), CFA(SP, 31, 0, 0) },
		{ BY(0x30, 0x77, 0, 0x22), CFA(SP, 0, 0, 0) },
		{ BY(0x08, 0x80, 0x77, 0, 0x22), CFA(SP, 128, 0, 0) },
		{ BY(0x09, 0x80, 0x77, 0, 0x22), CFA(SP, -128, 0, 0) },
		{ BY(0x0a, 0, 0x80, 0x77, 0, 0x22), CFA(SP, 0x8000, 0, 0) },
		{ BY(0x0b, 0, 0x80, 0x77, 0, 0x22), CFA(SP, -0x8000, 0, 0) },
		{ BY(0x0c, 0xff, 0xff, 0xff, 0x7f, 0x77, 0, 0x22), CFA(SP, INT32_MAX, 0, 0) },
		{ BY(0x0c, 0xff, 0xff, 0xff, 0xff, 0x77, 0, 0x22), NO_EXPRESSION },
		{ BY(0x0d, 0xff, 0xff, 0xff, 0xff, 0x77, 0, 0x22), CFA(SP, -1, 0, 0) },
		{ BY(0x0e, 24, 0, 0, 0, 0, 0, 0, 0, 0x77, 0, 0x22), CFA(SP, 24, 0, 0) },
		{ BY(0x0f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x77, 0, 0x22),
		  CFA(SP, -1, 0, 0) },
		{ BY(0x10, 0x80, 1, 0x77, 0, 0x22), CFA(SP, 128, 0, 0) },
		{ BY(0x11, 0x7f, 0x77, 0, 0x22), CFA(SP, -1, 0, 0) },
		{ BY(0x77, 8, NOPS_62), CFA(SP, 8, 0, 0) },
		{ BY(0x77, 8, NOPS_62, 0x96), NO_EXPRESSION },
		/* No sum of a register and a number. */
		{ PROGRAM(0x0f, 0), NO_EXPRESSION },
		{ BY(0x38), NO_EXPRESSION },
		{ BY(0x22), NO_EXPRESSION },
		{ BY(0x77, 0, 0x22), NO_EXPRESSION },
		{ BY(0x77, 0, 0x76, 0, 0x22), NO_EXPRESSION },
		{ BY(0x77, 0, 0x76, 0, 0x1c), NO_EXPRESSION },
		{ BY(0x77, 0, 0x38, 0x20), NO_EXPRESSION },
		{ BY(0x77, 0, 0x0a, 1), NO_EXPRESSION },
		{ BY(0x77, 0, 0x9c), NO_EXPRESSION },
		/* The stack has room for eight. */
		{ BY(0x77, 0, 0x31, 0x31, 0x31, 0x31, 0x31, 0x31, 0x31, 0x22, 0x22, 0x22, 0x22,
		     0x22, 0x22, 0x22),
		  CFA(SP, 7, 0, 0) },
		{ BY(0x77, 0, 0x31, 0x31, 0x31, 0x31, 0x31, 0x31, 0x31, 0x31, 0x22, 0x22, 0x22,
		     0x22, 0x22, 0x22, 0x22, 0x22),
		  NO_EXPRESSION },
	};

	(void)state;
	COMPARE(examples);
}

static void the_cfa_in_memory(void **state)
{
	const struct example examples[] = {
		{ BY(0x77, 24, 0x06), CFA(SP_DEREF, 24, 0, 0) },
		{ BY(0x76, 0x78, 0x06, 0x23, 16), CFA(FP_DEREF, -8, 0, 16) },
		{ BY(0x7a, 0, 0x06, 0x38, 0x1c), CFA(REG_DEREF, 0, 10, -8) },
		{ BY(0x77, 0, 0x06, 0x38, 0x22), CFA(SP_DEREF, 0, 0, 8) },
		{ BY(0x77, 0, 0x06, 0x10, 0xff, 0xff, 0xff, 0xff, 0x07, 0x22),
		  CFA(SP_DEREF, 0, 0, INT32_MAX) },
		{ BY(0x77, 0, 0x06, 0x10, 0x80, 0x80, 0x80, 0x80, 0x08, 0x22), NO_EXPRESSION },
		{ BY(0x38, 0x06), NO_EXPRESSION },
		{ BY(0x77, 0, 0x06, 0x06), NO_EXPRESSION },
		/* An entry of an array of addresses. */
		{ BY(0x77, 40, 0x79, 0, 0x33, 0x24, 0x22, 0x06), CFA(SP_INDEX, 40, 9, 0) },
		{ BY(0x77, 40, 0x79, 0, 0x38, 0x1e, 0x22, 0x06, 0x23, 8), CFA(SP_INDEX, 40, 9, 8) },
		{ BY(0x79, 0, 0x33, 0x24, 0x77, 0, 0x22, 0x06), CFA(SP_INDEX, 0, 9, 0) },
		{ BY(0x77, 0, 0x7f, 0, 0x33, 0x24, 0x22, 0x06), CFA(SP_INDEX, 0, 15, 0) },
		{ BY(0x77, 0, 0x80, 0, 0x33, 0x24, 0x22, 0x06), NO_EXPRESSION },
		{ BY(0x77, 0, 0x79, 0, 0x33, 0x24, 0x22), NO_EXPRESSION },
		{ BY(0x76, 0, 0x79, 0, 0x33, 0x24, 0x22, 0x06), NO_EXPRESSION },
		{ BY(0x77, 0, 0x79, 1, 0x33, 0x24, 0x22, 0x06), NO_EXPRESSION },
		{ BY(0x77, 0, 0x79, 0, 0x32, 0x24, 0x22, 0x06), NO_EXPRESSION },
		{ BY(0x77, 0, 0x79, 0, 0x34, 0x1e, 0x22, 0x06), NO_EXPRESSION },
		{ BY(0x77, 0, 0x79, 0, 0x38, 0x24, 0x22, 0x06), NO_EXPRESSION },
		{ BY(0x77, 0, 0x79, 0, 0x33, 0x1e, 0x22, 0x06), NO_EXPRESSION },
		{ BY(0x77, 0, 0x79, 0, 0x33, 0x24, 0x22, 0x78, 0, 0x33, 0x24, 0x22, 0x06),
		  NO_EXPRESSION },
		{ BY(0x77, 0, 0x06, 0x79, 0, 0x33, 0x24, 0x22), NO_EXPRESSION },
		{ BY(0x79, 0, 0x33, 0x24), NO_EXPRESSION },
		{ BY(0x79, 0, 0x33, 0x24, 0x06), NO_EXPRESSION },
		{ BY(0x79, 0, 0x33, 0x24, 0x38, 0x22), NO_EXPRESSION },
	};

	(void)state;
	COMPARE(examples);
}

static void the_cfa_of_a_plt(void **state)
{
	const struct example examples[] = {
		{ BY(0x77, 8, PC_LOW, 0x3b, 0x2a, 0x33, 0x24, 0x22), CFA(PLT, 11, 0, 0) },
		{ BY(0x77, 8, PC_LOW, 0x31, 0x2a, 0x33, 0x24, 0x22), CFA(PLT, 1, 0, 0) },
		{ BY(0x77, 8, PC_LOW, 0x3f, 0x2a, 0x33, 0x24, 0x22), CFA(PLT, 15, 0, 0) },
		{ BY(PC_LOW, 0x3b, 0x2a, 0x33, 0x24, 0x77, 8, 0x22), CFA(PLT, 11, 0, 0) },
		{ BY(0x77, 8, PC_LOW, 0x30, 0x2a, 0x33, 0x24, 0x22), NO_EXPRESSION },
		{ BY(0x77, 8, PC_LOW, 0x40, 0x2a, 0x33, 0x24, 0x22), NO_EXPRESSION },
		{ BY(0x77, 16, PC_LOW, 0x3b, 0x2a, 0x33, 0x24, 0x22), NO_EXPRESSION },
		{ BY(0x76, 8, PC_LOW, 0x3b, 0x2a, 0x33, 0x24, 0x22), NO_EXPRESSION },
		{ BY(0x77, 8, PC_LOW, 0x3b, 0x2a, 0x32, 0x24, 0x22), NO_EXPRESSION },
		{ BY(0x77, 8, PC_LOW, 0x3b, 0x2a, 0x38, 0x1e, 0x22), NO_EXPRESSION },
		{ BY(0x77, 8, 0x80, 0, 0x3e, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22), NO_EXPRESSION },
		{ BY(0x77, 8, 0x80, 1, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22), NO_EXPRESSION },
		{ BY(0x77, 8, 0x79, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22), NO_EXPRESSION },
		{ BY(0x77, 8, 0x80, 0, 0x3b, 0x2a, 0x33, 0x24, 0x22), NO_EXPRESSION },
		{ BY(0x77, 8, PC_LOW, 0x33, 0x24, 0x22), NO_EXPRESSION },
		{ BY(0x77, 8, PC_LOW, 0x3b, 0x2a, 0x22), NO_EXPRESSION },
		{ BY(0x77, 8, PC_LOW, 0x3b, 0x2a, 0x33, 0x24, 0x22, 0x06), NO_EXPRESSION },
		{ BY(0x77, 8, PC_LOW, 0x3b, 0x2a, 0x33, 0x24, 0x22, 0x23, 8), NO_EXPRESSION },
		{ BY(0x77, 8, 0x79, 0, 0x33, 0x24, 0x22, PC_LOW, 0x3b, 0x2a, 0x33, 0x24, 0x22),
		  NO_EXPRESSION },
		{ BY(PC_LOW, 0x3b, 0x2a, 0x33, 0x24), NO_EXPRESSION },
	};

	(void)state;
	COMPARE(examples);
}

static void the_frame_pointer(void **state)
{
	const struct example examples[] = {
		{ PROGRAM(0x86, 2), FP(CFA, -16) },
		{ PROGRAM(0x05, 6, 2), FP(CFA, -16) },
		{ PROGRAM(0x11, 6, 0x7e), FP(CFA, 16) },
		{ PROGRAM(0x2f, 6, 2), FP(CFA, 16) },
		{ PROGRAM(0x11, 6, 0x80, 0x80, 0x80, 0x80, 0x01), FP(CFA, INT32_MIN) },
		{ PROGRAM(0x11, 6, 0x80, 0x80, 0x80, 0x80, 0x7f), FP(UNSUPPORTED, 0) },
		{ PROGRAM(0x86, 2, 0xc6), FP(SAME, 0) },
		{ PROGRAM(0x86, 2, 0x06, 6), FP(SAME, 0) },
		{ PROGRAM(0x86, 2, 0x08, 6), FP(SAME, 0) },
		{ PROGRAM(0x07, 6), FP(UNDEFINED, 0) },
		{ PROGRAM(0x09, 6, 0), FP(REG, 0) },
		{ PROGRAM(0x09, 6, 15), FP(REG, 15) },
		{ PROGRAM(0x09, 6, 16), FP(UNSUPPORTED, 0) },
		{ PROGRAM(0x09, 6, 6), FP(SAME, 0) },
		{ PROGRAM(0x14, 6, 2), FP(UNSUPPORTED, 0) },
		{ PROGRAM(0x15, 6, 2), FP(UNSUPPORTED, 0) },
		{ PROGRAM(0x10, 6, 2, 0x76, 16), FP(FP, 16) },
		{ PROGRAM(0x10, 6, 2, 0x23, 8), FP(CFA, 8) },
		{ PROGRAM(0x10, 6, 2, 0x3f, 0x1c), FP(CFA, -15) },
		{ PROGRAM(0x10, 6, 2, 0x77, 0), FP(UNSUPPORTED, 0) },
		{ PROGRAM(0x10, 6, 3, 0x76, 0, 0x06), FP(UNSUPPORTED, 0) },
		{ PROGRAM(0x10, 6, 7, 0x76, 0, 0x78, 0, 0x33, 0x24, 0x22), FP(UNSUPPORTED, 0) },
		{ PROGRAM(0x10, 6, 7, 0x76, 0x80, 0x80, 0x80, 0x80, 0x08, 0x96),
		  FP(UNSUPPORTED, 0) },
		{ PROGRAM(0x10, 6, 7, 0x76, 0xff, 0xff, 0xff, 0xff, 0x07, 0x96),
		  FP(FP, INT32_MAX) },
		{ PROGRAM(0x10, 6, 1, 0x22), FP(UNSUPPORTED, 0) },
		{ PROGRAM(0x16, 6, 2, 0x76, 0), FP(UNSUPPORTED, 0) },
		/* Rules of other registers have no effect. */
		{ PROGRAM(0x85, 2, 0x10, 5, 2, 0x76, 16, 0x09, 5, 6), FP(SAME, 0) },
	};

	(void)state;
	COMPARE(examples);
}

static void the_return_address(void **state)
{
	const struct example examples[] = {
		{ PROGRAM(0x05, 16, 2), RA(CFA_OFFSET, 0, -16) },
		{ PROGRAM(0x05, 16, 1), RA(CFA, 0, 0) },
		{ PROGRAM(0x05, 16, 2, 0x06, 16), RA(CFA, 0, 0) },
		{ PROGRAM(0x05, 16, 2, 0xd0), RA(CFA, 0, 0) },
		{ PROGRAM(0x11, 16, 0x80, 0x80, 0x80, 0x80, 0x01), RA(CFA_OFFSET, 0, INT32_MIN) },
		{ PROGRAM(0x11, 16, 0x80, 0x80, 0x80, 0x80, 0x7f), RA(UNSUPPORTED, 0, 0) },
		{ PROGRAM(0x09, 16, 0), RA(REG, 0, 0) },
		{ PROGRAM(0x09, 16, 15), RA(REG, 15, 0) },
		{ PROGRAM(0x09, 16, 16), RA(UNSUPPORTED, 0, 0) },
		{ PROGRAM(0x08, 16), RA(UNSUPPORTED, 0, 0) },
		{ PROGRAM(0x14, 16, 1), RA(UNSUPPORTED, 0, 0) },
		{ PROGRAM(0x10, 16, 2, 0x38, 0x1c), RA(CFA, 0, 0) },
		{ PROGRAM(0x10, 16, 2, 0x3f, 0x1c), RA(CFA_OFFSET, 0, -15) },
		{ PROGRAM(0x10, 16, 2, 0x77, 0), RA(UNSUPPORTED, 0, 0) },
		{ PROGRAM(0x10, 16, 3, 0x38, 0x1c, 0x06), RA(UNSUPPORTED, 0, 0) },
		{ PROGRAM(0x10, 16, 5, 0x79, 0, 0x33, 0x24, 0x22), RA(UNSUPPORTED, 0, 0) },
		{ PROGRAM(0x10, 16, 1, 0x22), RA(UNSUPPORTED, 0, 0) },
		/* The CFA needs the same fields of the rule. */
		{ PROGRAM(0x0c, 10, 8, 0x09, 16, 5),
		  RULE(REG, 8, SAME, 0, WIRE_RA_UNSUPPORTED, 10, 0) },
		{ PROGRAM(0x0c, 10, 8, 0x05, 16, 2),
		  RULE(REG, 8, SAME, 0, WIRE_RA_CFA_OFFSET, 10, -16) },
		{ PROGRAM(0x0c, 6, 8, 0x09, 16, 5), RULE(FP, 8, SAME, 0, WIRE_RA_REG, 5, 0) },
		{ PROGRAM(0x0f, 3, 0x77, 0, 0x06, 0x09, 16, 5),
		  RULE(SP_DEREF, 0, SAME, 0, WIRE_RA_REG, 5, 0) },
		{ PROGRAM(0x0f, 3, 0x77, 0, 0x06, 0x05, 16, 2),
		  RULE(SP_DEREF, 0, SAME, 0, WIRE_RA_UNSUPPORTED, 0, 0) },
		{ PROGRAM(0x0f, 3, 0x76, 0, 0x06, 0x05, 16, 2),
		  RULE(FP_DEREF, 0, SAME, 0, WIRE_RA_UNSUPPORTED, 0, 0) },
		{ PROGRAM(0x0f, 3, 0x78, 0, 0x06, 0x05, 16, 2),
		  RULE(REG_DEREF, 0, SAME, 0, WIRE_RA_UNSUPPORTED, 8, 0) },
		{ PROGRAM(0x0f, 3, 0x78, 0, 0x06, 0x09, 16, 5),
		  RULE(REG_DEREF, 0, SAME, 0, WIRE_RA_UNSUPPORTED, 8, 0) },
		{ PROGRAM(0x0f, 8, 0x77, 0, 0x79, 0, 0x33, 0x24, 0x22, 0x06, 0x05, 16, 2),
		  RULE(SP_INDEX, 0, SAME, 0, WIRE_RA_UNSUPPORTED, 9, 0) },
		{ PROGRAM(0x0f, 8, 0x77, 0, 0x79, 0, 0x33, 0x24, 0x22, 0x06, 0x09, 16, 5),
		  RULE(SP_INDEX, 0, SAME, 0, WIRE_RA_UNSUPPORTED, 9, 0) },
		/* Without a return address the rule has nothing else; without a CFA, no return
		   address. */
		{ PROGRAM(0x07, 16, 0x0c, 6, 16, 0x86, 2),
		  { .cfa = WIRE_CFA_SP, .ra = WIRE_RA_END } },
		{ PROGRAM(0x0c, 16, 0, 0x86, 2, 0x83, 3),
		  RULE(UNSUPPORTED, 0, CFA, -16, 0, 0, RULE_UNSUPPORTED_OTHER) },
	};

	(void)state;
	COMPARE(examples);
}

static void rbx_and_the_stack_pointer(void **state)
{
	const struct example examples[] = {
		{ PROGRAM(0x83, 2), RBX(SP, 8, SAVED, 0, -16) },
		{ PROGRAM(0x0c, 6, 16, 0x83, 3), RBX(FP, 16, SAVED, 0, -24) },
		{ PROGRAM(0x0c, 10, 16, 0x83, 3), RBX(REG, 16, SAVED, 10, -24) },
		{ PROGRAM(0x83, 2, 0xc3), CFA(SP, 8, 0, 0) },
		{ PROGRAM(0x83, 2, 0x06, 3), CFA(SP, 8, 0, 0) },
		{ PROGRAM(0x83, 2, 0x08, 3), CFA(SP, 8, 0, 0) },
		{ PROGRAM(0x07, 3), RBX(SP, 8, LOST, 0, 0) },
		{ PROGRAM(0x09, 3, 5), RBX(SP, 8, LOST, 0, 0) },
		{ PROGRAM(0x10, 3, 2, 0x76, 0), RBX(SP, 8, LOST, 0, 0) },
		{ PROGRAM(0x11, 3, 0x80, 0x80, 0x80, 0x80, 0x7f), RBX(SP, 8, LOST, 0, 0) },
		/* The rule needs `extra` for something else. */
		{ PROGRAM(0x0f, 3, 0x77, 0, 0x06, 0x83, 2), RBX(SP_DEREF, 0, LOST, 0, 0) },
		{ BY(0x77, 8, PC_LOW, 0x3b, 0x2a, 0x33, 0x24, 0x22), CFA(PLT, 11, 0, 0) },
		{ PROGRAM(0x05, 16, 3, 0x83, 2),
		  RULE(SP, 8, SAME, 0, WIRE_RA_CFA_OFFSET | WIRE_RULE_RBX_LOST, 0, -24) },
		{ PROGRAM(0x08, 16, 0x83, 2), RA(UNSUPPORTED, 0, 0) },
		/* The caller's stack pointer is the CFA, or there is no rule. */
		{ PROGRAM(0x14, 7, 0), CFA(SP, 8, 0, 0) },
		{ PROGRAM(0x15, 7, 0), CFA(SP, 8, 0, 0) },
		{ PROGRAM(0x14, 7, 1), RA(UNSUPPORTED, 0, 0) },
		{ PROGRAM(0x16, 7, 2, 0x76, 0), RA(UNSUPPORTED, 0, 0) },
		{ PROGRAM(0x87, 2), RA(UNSUPPORTED, 0, 0) },
		{ PROGRAM(0x87, 2, 0xc7), CFA(SP, 8, 0, 0) },
		{ PROGRAM(0x08, 7), RA(UNSUPPORTED, 0, 0) },
	};

	(void)state;
	COMPARE(examples);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_cfa_by_registers),	     cmocka_unit_test(the_cfa_by_sums),
		cmocka_unit_test(the_cfa_in_memory),	     cmocka_unit_test(the_cfa_of_a_plt),
		cmocka_unit_test(the_frame_pointer),	     cmocka_unit_test(the_return_address),
		cmocka_unit_test(rbx_and_the_stack_pointer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
