/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of call frame information that is written here by hand: valid, unusual, malformed. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

#include "cfi/call_frames.h"
#include "cfi/row_writer.h"
#include "cfi/unwind_rows.h"
#include "forged_elf.h"

static struct forged elf;
static struct rule_table *rule_table;
static struct unwind_rows rows;

static int begin(void **state)
{
	(void)state;
	memset(&elf, 0, sizeof(elf));
	return rule_table_new(&rule_table);
}

static int end(void **state)
{
	(void)state;
	unwind_rows_free(&rows);
	rule_table_free(rule_table);
	return 0;
}

static void compile_as(const char *section)
{
	struct error err = { 0 };

	assert_int_equal(unwind_rows_compile_memory(elf.bytes, finish_elf(&elf, section),
						    rule_table, &rows, &err),
			 0);
}

static void compile(void)
{
	compile_as(".eh_frame");
}

static const struct wire_rule *rule_at(uint32_t address)
{
	uint32_t n;

	return &rule_table_rules(rule_table, &n)[unwind_rows_find(&rows, address)];
}

static void assert_sp(uint32_t address, int32_t offset)
{
	assert_int_equal(rule_at(address)->cfa, WIRE_CFA_SP);
	assert_int_equal(rule_at(address)->cfa_offset, offset);
	assert_int_equal(rule_at(address)->ra, WIRE_RA_CFA);
}

static void assert_gap(uint32_t address)
{
	assert_int_equal(unwind_rows_find(&rows, address), RULE_GAP);
}

/* CFA = rsp + 8, return address at CFA - 8. */
#define USUAL 0x0c, 7, 8, 0x90, 1

/* A CIE of augmentation zR: absolute addresses of four bytes. */
static uint32_t cie(void)
{
	uint32_t offset = begin_entry(&elf);

	put_u32(&elf, 0);
	put(&elf, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x03, USUAL);
	end_entry(&elf);
	return offset;
}

/* The beginning of an FDE of such a CIE; instructions follow. */
static void fde(uint32_t of, uint32_t address, uint32_t size)
{
	begin_entry(&elf);
	put_u32(&elf, (uint32_t)elf.n - of);
	put_u32(&elf, address);
	put_u32(&elf, size);
	put(&elf, 0);
}

static void simple_fde(uint32_t of, uint32_t address, uint32_t size)
{
	fde(of, address, size);
	end_entry(&elf);
}

static void test_prologue(void **state)
{
	(void)state;
	fde(cie(), 0x1100, 0x40);
	/* push %rbp; mov %rsp,%rbp; ...; leave; ret */
	put(&elf, 0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x70, 0x0c, 7, 8, 0);
	end_entry(&elf);
	compile();
	assert_int_equal(rows.n, 5);
	assert_gap(0x10ff);
	assert_sp(0x1100, 8);
	assert_int_equal(rule_at(0x1100)->fp, WIRE_FP_SAME);
	assert_sp(0x1101, 16);
	assert_int_equal(rule_at(0x1103)->fp, WIRE_FP_CFA);
	assert_int_equal(rule_at(0x1103)->fp_offset, -16);
	assert_int_equal(rule_at(0x1104)->cfa, WIRE_CFA_FP);
	assert_int_equal(rule_at(0x1133)->cfa_offset, 16);
	assert_sp(0x1134, 8);
	assert_sp(0x113f, 8);
	assert_gap(0x1140);
	assert_int_equal(rows.counts.ranges[UNWIND_EH_FRAME], 1);
	assert_int_equal(rows.counts.malformed, 0);
}

/* What an FDE restores is what the CIE's instructions have set. */
static void test_restored_frame_pointer(void **state)
{
	uint32_t of = begin_entry(&elf);

	(void)state;
	put_u32(&elf, 0);
	/* rbp is saved from the start, then not, then again. */
	put(&elf, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x03, USUAL, 0x86, 2);
	end_entry(&elf);
	fde(of, 0x1100, 0x10);
	put(&elf, 0x41, 0x08, 6, 0x41, 0xc6);
	end_entry(&elf);
	compile();
	assert_int_equal(rule_at(0x1100)->fp, WIRE_FP_CFA);
	assert_int_equal(rule_at(0x1101)->fp, WIRE_FP_SAME);
	assert_int_equal(rule_at(0x1102)->fp, WIRE_FP_CFA);
	assert_int_equal(rule_at(0x1102)->fp_offset, -16);
}

static void test_gaps_and_neighbours(void **state)
{
	uint32_t of = cie();

	(void)state;
	/* FDEs out of order; two adjacent ones with one rule; a gap; an empty one; one beyond. */
	simple_fde(of, 0x1200, 0x10);
	simple_fde(of, 0x1110, 0x10);
	simple_fde(of, 0x1100, 0x10);
	simple_fde(of, 0x1300, 0);
	simple_fde(of, 0x5000, 0x10);
	compile();
	assert_int_equal(rows.n, 4);
	assert_int_equal(rows.rows[0].address, 0x1100);
	assert_int_equal(rows.rows[1].address, 0x1120);
	assert_int_equal(rows.rows[1].rule, RULE_GAP);
	assert_int_equal(rows.rows[2].address, 0x1200);
	assert_int_equal(rows.rows[3].address, 0x1210);
	assert_int_equal(rows.counts.outside, 2);
	assert_int_equal(rows.counts.overlaps, 0);
}

static void test_overlaps(void **state)
{
	uint32_t of = cie();

	(void)state;
	fde(of, 0x1100, 0x100);
	put(&elf, 0x0e, 32);
	end_entry(&elf);
	fde(of, 0x1100, 0x80); /* replaces the start of the first */
	put(&elf, 0x0e, 48);
	end_entry(&elf);
	fde(of, 0x1140, 0x10); /* cuts the second */
	put(&elf, 0x0e, 64);
	end_entry(&elf);
	compile();
	assert_sp(0x1100, 48);
	assert_sp(0x113f, 48);
	assert_sp(0x1140, 64);
	assert_gap(0x1150);
	assert_int_equal(rows.counts.overlaps, 2);
}

static void test_segment_ends(void **state)
{
	(void)state;
	simple_fde(cie(), 0x1ff0, 0x7fffffff);
	compile();
	assert_sp(0x1fff, 8);
	assert_gap(0x2000);
}

static void test_augmentations(void **state)
{
	uint32_t of;

	(void)state;
	/* zPLR: a personality to skip, relative to itself; data in FDEs. */
	of = begin_entry(&elf);
	put_u32(&elf, 0);
	put(&elf, 1, 'z', 'P', 'L', 'R', 0, 1, 0x78, 16, 7, 0x1b, 1, 2, 3, 4, 0x1b, 0x1b, USUAL);
	end_entry(&elf);
	begin_entry(&elf);
	put_u32(&elf, (uint32_t)elf.n - of);
	put_u32(&elf, (uint32_t)(0x1100 - (int)(FRAME_ADDRESS + elf.n))); /* pcrel */
	put_u32(&elf, 0x10);
	put(&elf, 4, 9, 9, 9, 9, 0x0e, 24); /* four bytes of augmentation data: the LSDA pointer */
	end_entry(&elf);
	/* zRBG: AArch64's letters B and G have no data. */
	of = begin_entry(&elf);
	put_u32(&elf, 0);
	put(&elf, 3, 'z', 'R', 'B', 'G', 0, 1, 0x78, 16, 1, 0x03, USUAL);
	end_entry(&elf);
	simple_fde(of, 0x1200, 0x10);
	/* An unknown letter. */
	of = begin_entry(&elf);
	put_u32(&elf, 0);
	put(&elf, 1, 'z', 'R', '?', 0, 1, 0x78, 16, 1, 0x03, USUAL);
	end_entry(&elf);
	simple_fde(of, 0x1300, 0x10);
	/* "eh", of GCC 2: a pointer comes first. */
	of = begin_entry(&elf);
	put_u32(&elf, 0);
	put(&elf, 1, 'e', 'h', 0, 1, 2, 3, 4, 5, 6, 7, 8, 1, 0x78, 16, USUAL);
	end_entry(&elf);
	begin_entry(&elf);
	put_u32(&elf, (uint32_t)elf.n - of);
	put_u64(&elf, 0x1400);
	put_u64(&elf, 0x10);
	end_entry(&elf);
	compile();
	assert_sp(0x1100, 24);
	assert_sp(0x1200, 8);
	assert_gap(0x1300);
	assert_sp(0x1400, 8);
	assert_int_equal(rows.counts.malformed, 1);
}

/* The longest augmentation that is read, and one letter more. */
static void test_long_augmentations(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t of = begin_entry(&elf);

		put_u32(&elf, 0);
		put(&elf, 1, 'z', 'R');
		for (uint32_t letters = 2; letters < 16 + i; letters++)
			put(&elf, 'B');
		put(&elf, 0, 1, 0x78, 16, 1, 0x03, USUAL);
		end_entry(&elf);
		simple_fde(of, 0x1100 + i * 0x100, 0x10);
	}
	compile();
	assert_sp(0x1100, 8);
	assert_gap(0x1200);
	assert_int_equal(rows.counts.malformed, 1);
}

static bool first_cie_is_usable(size_t from)
{
	const struct frame_bytes bytes = { .bytes = elf.frame + from, .size = elf.n - from };

	return call_frames_cie(&bytes, cfi_machine_of(EM_X86_64)).usable;
}

/* The first entry alone, as programs without section headers give it. */
static void test_first_cie(void **state)
{
	uint32_t of = cie(), broken;
	size_t after;

	(void)state;
	assert_true(first_cie_is_usable(0));
	after = elf.n;
	simple_fde(of, 0x1100, 0x10);
	assert_false(first_cie_is_usable(after));
	broken = begin_entry(&elf);
	put_u32(&elf, 0);
	put(&elf, 9, 'z', 'R', 0, 1, 0x78, 16, 1, 0x03, USUAL); /* no such version */
	end_entry(&elf);
	assert_false(first_cie_is_usable(broken));
	after = elf.n;
	put_u32(&elf, 0); /* skipped, so the next entry is not at the first byte */
	cie();
	assert_false(first_cie_is_usable(after));
}

static void test_signal_frame(void **state)
{
	static const uint8_t sigreturn[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	uint32_t of = begin_entry(&elf);

	(void)state;
	put_u32(&elf, 0);
	put(&elf, 1, 'z', 'R', 'S', 0, 1, 0x78, 16, 1, 0x03, USUAL);
	end_entry(&elf);
	simple_fde(of, 0x1100, 9);
	simple_fde(of, 0x11ff, 10); /* as glibc does: it includes the byte before */
	memcpy(elf.bytes + 0x3100, sigreturn, sizeof(sigreturn));
	memcpy(elf.bytes + 0x3200, sigreturn, sizeof(sigreturn));
	compile();
	assert_gap(0x10fe);
	assert_int_equal(rule_at(0x10ff)->ra, WIRE_RA_SIGNAL);
	assert_int_equal(rule_at(0x1108)->ra, WIRE_RA_SIGNAL);
	assert_gap(0x1109);
	assert_gap(0x11fe);
	assert_int_equal(rule_at(0x11ff)->ra, WIRE_RA_SIGNAL);
}

/* A report of stacks that end in a function that is marked so, and is no signal's. */
static void test_marked_frames(void **state)
{
	static const uint8_t sigreturn[] = { 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	static const struct wire_rule called = { .cfa = WIRE_CFA_SP, .cfa_offset = 8 };
	uint32_t of = begin_entry(&elf);

	(void)state;
	put_u32(&elf, 0);
	put(&elf, 1, 'z', 'R', 'S', 0, 1, 0x78, 16, 1, 0x03, USUAL);
	end_entry(&elf);
	simple_fde(of, 0x1100, 7); /* mov $15,%eax; syscall */
	memcpy(elf.bytes + 0x3100, sigreturn, sizeof(sigreturn));
	simple_fde(of, 0x1200, 0x10); /* a function that is called */
	fde(of, 0x1300, 0x10);	      /* one that was interrupted: CFA = rbx + 64 at once */
	put(&elf, 0x0c, 3, 64);
	end_entry(&elf);
	fde(of, 0x1400, 0x10); /* the kernel's frame by its rules: *(rsp + 160), RA at rsp + 168 */
	put(&elf, 0x0f, 4, 0x77, 0xa0, 1, 0x06, 0x10, 16, 3, 0x77, 0xa8, 1);
	end_entry(&elf);
	compile();
	assert_int_equal(rule_at(0x1100)->ra, WIRE_RA_SIGNAL);
	assert_memory_equal(rule_at(0x1200), &called, sizeof(called));
	assert_gap(0x11ff);
	assert_int_equal(rule_at(0x1300)->cfa, WIRE_CFA_REG);
	assert_int_equal(rule_at(0x1300)->fp, WIRE_FP_SAME | WIRE_RULE_EXACT);
	assert_int_equal(rule_at(0x1300)->ra, WIRE_RA_CFA | WIRE_RULE_NEW_STACK);
	assert_int_equal(rule_at(0x12ff)->cfa, WIRE_CFA_REG);
	assert_int_equal(rule_at(0x1400)->ra, WIRE_RA_SIGNAL);
}

/* Boost's fibers return to code without CFI: a report of stacks that end for no row there. */
static void test_fiber(void **state)
{
	static const uint8_t fcontext[] = { 0x55, 0xff, 0xe3, 0x48, 0x31, 0xff,
					    0xe8, 1,	2,    3,    4,	  0xf4 };
	uint32_t of = cie();

	(void)state;
	simple_fde(of, 0x1100, 0x10);
	simple_fde(of, 0x1180, 0x10);
	memcpy(elf.bytes + 0x3145, fcontext, sizeof(fcontext));
	memcpy(elf.bytes + 0x3165, fcontext, sizeof(fcontext) - 1); /* another instruction */
	compile();
	assert_gap(0x1144);
	assert_int_equal(rule_at(0x1145)->ra, WIRE_RA_FIBER);
	assert_int_equal(rule_at(0x1147)->ra, WIRE_RA_FIBER); /* before the return address */
	assert_int_equal(rule_at(0x1150)->ra, WIRE_RA_FIBER);
	assert_gap(0x1151);
	assert_gap(0x1167);
}

static void test_end_of_stack(void **state)
{
	(void)state;
	fde(cie(), 0x1100, 0x10);
	put(&elf, 0x07, 16);
	end_entry(&elf);
	compile();
	assert_int_equal(rule_at(0x1108)->ra, WIRE_RA_END);
}

static void test_locations(void **state)
{
	(void)state;
	fde(cie(), 0x1100, 0x900);
	put(&elf, 0x40, 0x0e, 16); /* an advance by 0 replaces the first row */
	put(&elf, 0x02, 0x80, 0x0e, 24);
	put(&elf, 0x03, 0x80, 0x01, 0x0e, 32);
	put(&elf, 0x04, 0x00, 0x01, 0x00, 0x00, 0x0e, 40);
	put(&elf, 0x01, 0x00, 0x17, 0x00, 0x00, 0x0e, 48); /* to 0x1700 */
	put(&elf, 0x1d, 0x10, 0, 0, 0, 0, 0, 0, 0, 0x0e, 56);
	put(&elf, 0x7f, 0x04, 0, 0, 0, 0x7f, 0x0e, 64); /* beyond the end */
	end_entry(&elf);
	compile();
	assert_sp(0x1100, 16);
	assert_sp(0x1180, 24);
	assert_sp(0x1300, 32);
	assert_sp(0x1400, 40);
	assert_sp(0x16ff, 40);
	assert_sp(0x1700, 48);
	assert_sp(0x1710, 56);
	assert_sp(0x19ff, 56);
	assert_gap(0x1a00);
	assert_int_equal(rows.n, 7);
}

/* The farthest advance, and a byte more. */
static void test_far_locations(void **state)
{
	uint32_t of = cie();

	(void)state;
	fde(of, 0x1100, 0x10);
	put(&elf, 0x1d, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0x0e, 16);
	end_entry(&elf);
	fde(of, 0x1200, 0x10);
	put(&elf, 0x1d, 0, 0, 0, 0, 1, 0, 0, 0, 0x0e, 16);
	end_entry(&elf);
	compile();
	assert_sp(0x1100, 8);
	assert_int_equal(rule_at(0x1200)->extra, RULE_UNSUPPORTED_MALFORMED);
	assert_int_equal(rows.counts.malformed, 1);
}

static void test_remembered_states(void **state)
{
	(void)state;
	fde(cie(), 0x1100, 0x40);
	/* States contain the CFA, nest, and can be remembered again after they were restored. */
	put(&elf, 0x41, 0x0e, 16, 0x0a, 0x41, 0x0e, 32, 0x86, 4, 0x0a);
	put(&elf, 0x41, 0x0d, 6, 0xc6, 0x41, 0x0b, 0x41, 0x0b, 0x0a, 0x41, 0x0e, 8, 0x41, 0x0b);
	end_entry(&elf);
	compile();
	assert_sp(0x1101, 16);
	assert_sp(0x1102, 32);
	assert_int_equal(rule_at(0x1102)->fp_offset, -32);
	assert_int_equal(rule_at(0x1103)->cfa, WIRE_CFA_FP);
	assert_int_equal(rule_at(0x1103)->fp, WIRE_FP_SAME);
	assert_sp(0x1104, 32);
	assert_int_equal(rule_at(0x1104)->fp, WIRE_FP_CFA);
	assert_sp(0x1105, 16);
	assert_sp(0x1106, 8);
	assert_sp(0x1107, 16);
	assert_int_equal(rows.counts.malformed, 0);
}

static void test_offsets(void **state)
{
	(void)state;
	fde(cie(), 0x1100, 0x100);
	put(&elf, 0x0e, 0xa8, 0xab, 0x8e, 0x06);		   /* 12817832 */
	put(&elf, 0x41, 0x12, 7, 0x7e, 0x11, 6, 0x7f);		   /* rsp + 16; rbp at CFA + 8 */
	put(&elf, 0x41, 0x13, 0x7d, 0x2f, 6, 3);		   /* rsp + 24; at CFA + 24 */
	put(&elf, 0x41, 0x2e, 0x80, 0x08, 0x2d, 0x05, 6, 2);	   /* arguments' size; CFA - 16 */
	put(&elf, 0x41, 0x0e, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f); /* more than 31 bits */
	put(&elf, 0x41, 0x0e, 8, 0x05, 16, 2);	/* the return address elsewhere */
	put(&elf, 0x41, 0x09, 16, 5);		/* in rdi */
	put(&elf, 0x41, 0x06, 16, 0x0c, 10, 8); /* r10 + 8 */
	end_entry(&elf);
	compile();
	assert_int_equal(rule_at(0x1100)->cfa_offset, 12817832);
	assert_sp(0x1101, 16);
	assert_int_equal(rule_at(0x1101)->fp_offset, 8);
	assert_sp(0x1102, 24);
	assert_int_equal(rule_at(0x1102)->fp_offset, 24);
	assert_int_equal(rule_at(0x1103)->fp_offset, -16);
	assert_int_equal(rule_at(0x1104)->cfa, WIRE_CFA_UNSUPPORTED);
	assert_int_equal(rule_at(0x1104)->extra, RULE_UNSUPPORTED_OTHER);
	assert_int_equal(rule_at(0x1105)->ra, WIRE_RA_CFA_OFFSET);
	assert_int_equal(rule_at(0x1105)->extra, -16);
	assert_int_equal(rule_at(0x1106)->ra, WIRE_RA_REG);
	assert_int_equal(rule_at(0x1106)->reg, 5);
	assert_int_equal(rule_at(0x1107)->cfa, WIRE_CFA_REG);
	assert_int_equal(rule_at(0x1107)->reg, 10);
	assert_int_equal(rows.counts.unsupported, 1);
}

static void test_expressions(void **state)
{
	const struct wire_rule *rule;

	(void)state;
	fde(cie(), 0x1100, 0x100);
	/* The expression of GNU ld's PLT. */
	put(&elf, 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22);
	/* GCC's realigned stacks: CFA = *(rbp - 8), rbp saved at rbp. */
	put(&elf, 0x41, 0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0);
	/* *(rsp + 80) + 8, then two sums, as OCaml writes them. */
	put(&elf, 0x41, 0x06, 6, 0x0f, 6, 0x77, 0xd0, 0, 0x06, 0x23, 8);
	put(&elf, 0x41, 0x0f, 9, 0x77, 0x20, 0x06, 0x23, 8, 0x23, 16, 0x96, 0x96);
	/* *(rsp + 40 + 8 * r9) + 8 */
	put(&elf, 0x41, 0x0f, 9, 0x77, 40, 0x79, 0, 0x38, 0x1e, 0x22, 0x06, 0x96);
	/* A form that no rule has: *rsp * 2. */
	put(&elf, 0x41, 0x0f, 5, 0x77, 0, 0x06, 0x32, 0x1e);
	/* The value of rbp by an expression. */
	put(&elf, 0x41, 0x0c, 7, 8, 0x16, 6, 2, 0x77, 0);
	end_entry(&elf);
	compile();
	assert_int_equal(rule_at(0x1100)->cfa, WIRE_CFA_PLT);
	assert_int_equal(rule_at(0x1100)->cfa_offset, 11);
	assert_int_equal(rule_at(0x1101)->cfa, WIRE_CFA_FP_DEREF);
	assert_int_equal(rule_at(0x1101)->cfa_offset, -8);
	assert_int_equal(rule_at(0x1101)->fp, WIRE_FP_FP);
	rule = rule_at(0x1102);
	assert_int_equal(rule->cfa, WIRE_CFA_SP_DEREF);
	assert_int_equal(rule->cfa_offset, 80);
	assert_int_equal(rule->extra, 8);
	assert_int_equal(rule->fp, WIRE_FP_SAME);
	assert_int_equal(rule_at(0x1103)->extra, 24);
	rule = rule_at(0x1104);
	assert_int_equal(rule->cfa, WIRE_CFA_SP_INDEX);
	assert_int_equal(rule->reg, 9);
	assert_int_equal(rule->cfa_offset, 40);
	rule = rule_at(0x1105);
	assert_int_equal(rule->cfa, WIRE_CFA_UNSUPPORTED);
	assert_int_equal(rule->extra, RULE_UNSUPPORTED_EXPRESSION);
	assert_int_equal(rule_at(0x1106)->fp, WIRE_FP_UNSUPPORTED);
	assert_int_equal(rows.counts.unsupported, 2);
}

static void test_long_forms(void **state)
{
	uint32_t of = begin_entry(&elf);
	uint64_t length;
	size_t at;

	(void)state;
	put_u32(&elf, UINT32_MAX);		   /* the id */
	put(&elf, 4, 0, 8, 0, 1, 0x78, 16, USUAL); /* address and segment size */
	end_entry(&elf);
	/* A 64-bit one, of that CIE. */
	put_u32(&elf, UINT32_MAX);
	at = elf.n;
	put_u64(&elf, 0);
	put_u64(&elf, of);
	put_u64(&elf, 0x1100);
	put_u64(&elf, 0x10);
	put(&elf, 0x0e, 24);
	length = elf.n - at - 8;
	memcpy(elf.frame + at, &length, sizeof(length));
	/* The FDE of discarded code. */
	begin_entry(&elf);
	put_u32(&elf, of);
	put_u64(&elf, 0);
	put_u64(&elf, 0x2000);
	end_entry(&elf);
	compile_as(".debug_frame");
	assert_sp(0x1100, 24);
	assert_int_equal(rows.n, 2);
	assert_int_equal(rows.counts.ranges[UNWIND_DEBUG_FRAME], 1);
	assert_int_equal(rows.counts.outside, 1);
}

static void test_terminator(void **state)
{
	uint32_t of = cie();

	(void)state;
	simple_fde(of, 0x1100, 0x10);
	put_u32(&elf, 0);
	put_u32(&elf, 0);
	simple_fde(of, 0x1200, 0x10);
	put_u32(&elf, 0);
	compile();
	assert_sp(0x1200, 8);
	assert_int_equal(rows.counts.malformed, 0);
}

static void test_broken_references(void **state)
{
	uint32_t of = cie(), first;

	(void)state;
	simple_fde(of + 1, 0x1100, 0x10); /* amid a CIE */
	first = (uint32_t)elf.n;
	simple_fde(first, 0x1200, 0x10);	  /* itself */
	simple_fde(first, 0x1300, 0x10);	  /* another FDE */
	simple_fde((uint32_t)-100, 0x1400, 0x10); /* before the section */
	simple_fde(of, 0x1500, 0x10);
	compile();
	assert_int_equal(rows.n, 2);
	assert_sp(0x1500, 8);
	assert_int_equal(rows.counts.malformed, 4);
}

/* As many CIEs as their array holds, and references to other offsets. */
static void test_references_behind_many(void **state)
{
	uint32_t of = 0;

	(void)state;
	for (int i = 0; i < 64; i++)
		of = cie();
	simple_fde(of, 0x1100, 0x10);
	simple_fde(of + 1, 0x1200, 0x10);
	simple_fde((uint32_t)elf.n, 0x1300, 0x10);
	compile();
	assert_sp(0x1100, 8);
	assert_gap(0x1200);
	assert_gap(0x1300);
	assert_int_equal(rows.counts.malformed, 2);
}

/* A section that reaches beyond the end of the file is left out and counted. */
static void test_section_beyond_the_file(void **state)
{
	struct error err = { 0 };
	Elf64_Shdr *section = (Elf64_Shdr *)(elf.bytes + 0x100) + 1;

	(void)state;
	simple_fde(cie(), 0x1100, 0x10);
	finish_elf(&elf, ".eh_frame");
	section->sh_offset = sizeof(elf.bytes) - 4;
	assert_int_equal(unwind_rows_compile_memory(elf.bytes, sizeof(elf.bytes), rule_table, &rows,
						    &err),
			 0);
	assert_gap(0x1100);
	assert_int_equal(rows.counts.malformed, 1);
}

static void test_broken_lengths(void **state)
{
	uint32_t of = cie();

	(void)state;
	simple_fde(of, 0x1100, 0x10);
	put_u32(&elf, 0x7fffffff); /* longer than the section: the rest is lost */
	simple_fde(of, 0x1200, 0x10);
	compile();
	assert_sp(0x1100, 8);
	assert_gap(0x1200);
	assert_int_equal(rows.counts.malformed, 1);
}

/* Instructions that are malformed after the first advance. */
static void test_broken_programs(void **state)
{
	static const uint8_t programs[][12] = {
		{ 0x0b },	/* restores nothing */
		{ 0x3f },	/* unknown */
		{ 0x0e, 0x80 }, /* cut */
		{ 0x0e, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		  0x7f },			  /* > 64 bits */
		{ 0x0f, 0x7f, 0x77, 0x00 },	  /* a longer block */
		{ 0x01, 0x00, 0x10, 0x00, 0x00 }, /* backwards */
	};
	static const uint8_t sizes[] = { 1, 1, 2, 11, 4, 5 };
	uint32_t of = cie(), n = sizeof(sizes);

	(void)state;
	for (uint32_t i = 0; i < n; i++) {
		fde(of, 0x1100 + i * 0x100, 0x20);
		put(&elf, 0x48, 0x0e, 16, 0x44);
		put_bytes(&elf, programs[i], sizes[i]);
		end_entry(&elf);
	}
	fde(of, 0x1800, 0x20);
	for (int i = 0; i < 100; i++)
		put(&elf, 0x0a);
	end_entry(&elf);
	compile();
	for (uint32_t i = 0; i < n; i++) {
		assert_sp(0x1100 + i * 0x100, 8);
		assert_sp(0x110b + i * 0x100, 16);
		assert_int_equal(rule_at(0x110c + i * 0x100)->cfa, WIRE_CFA_UNSUPPORTED);
		assert_int_equal(rule_at(0x110c + i * 0x100)->extra, RULE_UNSUPPORTED_MALFORMED);
		assert_gap(0x1120 + i * 0x100);
	}
	assert_int_equal(rule_at(0x1800)->extra, RULE_UNSUPPORTED_MALFORMED);
	assert_int_equal(rows.counts.malformed, n + 1);
}

static void test_not_elf(void **state)
{
	struct error err = { 0 };

	(void)state;
	assert_int_equal(unwind_rows_compile_memory("nothing", 7, rule_table, &rows, &err),
			 -ENOEXEC);
	assert_non_null(strstr(err.text, "ELF"));
	finish_elf(&elf, ".eh_frame");
	elf.bytes[18] = EM_AARCH64;
	assert_int_equal(unwind_rows_compile_memory(elf.bytes, sizeof(elf.bytes), rule_table, &rows,
						    NULL),
			 -ENOEXEC);
}

static void test_no_cfi(void **state)
{
	(void)state;
	compile();
	assert_int_equal(rows.n, 0);
	assert_gap(0x1100);
}

static void test_full_rule_table(void **state)
{
	struct rule_cache *cache = calloc(1, sizeof(*cache));
	struct wire_rule rule = { .cfa = WIRE_CFA_SP };
	uint32_t n;

	(void)state;
	assert_non_null(cache);
	for (int32_t i = 0; i < WIRE_MAX_RULES + 10; i++) {
		rule.cfa_offset = i * 8;
		assert_int_equal(rule_number(rule_table, cache, &rule),
				 i + 2 < WIRE_MAX_RULES ? i + 2 : RULE_FULL);
	}
	rule_table_rules(rule_table, &n);
	assert_int_equal(n, WIRE_MAX_RULES);
	assert_int_equal(rule_table_refused(rule_table), 12);
	/* Rules keep their numbers. */
	rule.cfa_offset = 8;
	assert_int_equal(rule_number(rule_table, cache, &rule), 3);
	free(cache);
}

/* As many rows as a file may have; they are not touched, so they take no memory. */
static void test_most_rows(void **state)
{
	struct row_writer writer;

	(void)state;
	assert_int_equal(row_writer_open(&writer, rule_table), 0);
	assert_int_equal(row_writer_reserve(&writer, UNWIND_MAX_ROWS), 0);
	assert_int_equal(row_writer_reserve(&writer, UNWIND_MAX_ROWS + 1), -EFBIG);
	row_writer_put(&writer, 0x1000, 7);
	assert_int_equal(row_writer_reserve(&writer, UNWIND_MAX_ROWS), -EFBIG);
	assert_int_equal(row_writer_reserve(&writer, UNWIND_MAX_ROWS - 1), 0);
	row_writer_close(&writer);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(test_prologue),
		TEST(test_restored_frame_pointer),
		TEST(test_gaps_and_neighbours),
		TEST(test_overlaps),
		TEST(test_segment_ends),
		TEST(test_augmentations),
		TEST(test_long_augmentations),
		TEST(test_first_cie),
		TEST(test_signal_frame),
		TEST(test_marked_frames),
		TEST(test_fiber),
		TEST(test_end_of_stack),
		TEST(test_locations),
		TEST(test_far_locations),
		TEST(test_remembered_states),
		TEST(test_offsets),
		TEST(test_expressions),
		TEST(test_long_forms),
		TEST(test_terminator),
		TEST(test_broken_references),
		TEST(test_references_behind_many),
		TEST(test_section_beyond_the_file),
		TEST(test_broken_lengths),
		TEST(test_broken_programs),
		TEST(test_not_elf),
		TEST(test_no_cfi),
		TEST(test_full_rule_table),
		TEST(test_most_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
