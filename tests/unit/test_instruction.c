// SPDX-License-Identifier: GPL-2.0-or-later
/* The decoder of instructions, and the frames that follow from instructions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cfi/flow_state.h"
#include "cfi/instruction.h"

#define BIT(n) (1u << (n))

static const struct decoded {
	const char *bytes;
	uint8_t size, kind, reg, base;
	int32_t offset;
	uint16_t written;
} cases[] = {
	{ "\x55", 1, INSTRUCTION_PUSH, REGISTER_BP, 0, 0, 0 },
	{ "\x41\x5c", 2, INSTRUCTION_POP, 12, 0, 0, 0 },
	{ "\x6a\x05", 2, INSTRUCTION_PUSH, REGISTER_NONE, 0, 0, 0 },
	{ "\xff\x75\x08", 3, INSTRUCTION_PUSH, REGISTER_NONE, 0, 0, 0 },
	{ "\x48\x83\xec\x28", 4, INSTRUCTION_ADD_SP, 0, 0, -40, 0 },
	{ "\x48\x81\xc4\x00\x10\x00\x00", 7, INSTRUCTION_ADD_SP, 0, 0, 4096, 0 },
	{ "\x48\x83\xe4\xe0", 4, INSTRUCTION_OTHER, 0, 0, 0, BIT(REGISTER_SP) },
	{ "\x48\x89\xe5", 3, INSTRUCTION_MOVE, REGISTER_BP, REGISTER_SP, 0, 0 },
	{ "\x48\x8b\xec", 3, INSTRUCTION_MOVE, REGISTER_BP, REGISTER_SP, 0, 0 },
	/* A 32-bit move copies no address. */
	{ "\x89\xe5", 2, INSTRUCTION_OTHER, 0, 0, 0, BIT(REGISTER_BP) },
	{ "\x48\x8d\x65\xd8", 4, INSTRUCTION_ADDRESS, REGISTER_SP, REGISTER_BP, -40, 0 },
	{ "\x4c\x8d\x54\x24\x08", 5, INSTRUCTION_ADDRESS, 10, REGISTER_SP, 8, 0 },
	{ "\x48\x8b\x64\x24\x40", 5, INSTRUCTION_LOAD, REGISTER_SP, REGISTER_SP, 64, 0 },
	{ "\x48\x89\x5c\x24\x18", 5, INSTRUCTION_STORE, REGISTER_BX, REGISTER_SP, 24, 0 },
	/* With an index, and relative to rip: not an address base + offset. */
	{ "\x48\x89\x04\xcc", 4, INSTRUCTION_STORE, REGISTER_AX, REGISTER_NONE, 0, 0 },
	{ "\x48\x8b\x05\x01\x02\x03\x04", 7, INSTRUCTION_LOAD, REGISTER_AX, REGISTER_NONE,
	  0x04030201, 0 },
	{ "\xc9", 1, INSTRUCTION_LEAVE, 0, 0, 0, 0 },
	{ "\xf3\xc3", 2, INSTRUCTION_RETURN, 0, 0, 0, 0 },
	{ "\xc2\x08\x00", 3, INSTRUCTION_RETURN, 0, 0, 8, 0 },
	{ "\xe8\xfb\xff\xff\xff", 5, INSTRUCTION_CALL, 0, 0, -5, 0 },
	{ "\xff\x15\x00\x00\x00\x00", 6, INSTRUCTION_CALL_SOMEWHERE, 0, 0, 0, 0 },
	{ "\xeb\xfe", 2, INSTRUCTION_JUMP, 0, 0, -2, 0 },
	{ "\x0f\x84\x00\x01\x00\x00", 6, INSTRUCTION_BRANCH, 0, 0, 256, 0 },
	{ "\xff\xe0", 2, INSTRUCTION_JUMP_SOMEWHERE, 0, 0, 0, 0 },
	{ "\x0f\x0b", 2, INSTRUCTION_STOP, 0, 0, 0, 0 },
	/* Numbers 4 to 7 mean ah to bh, or other registers with a REX prefix. */
	{ "\xb4\x01", 2, INSTRUCTION_OTHER, 0, 0, 0, BIT(REGISTER_AX) },
	{ "\x40\xb5\x01", 3, INSTRUCTION_OTHER, 0, 0, 0, BIT(REGISTER_BP) },
	{ "\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08", 10, INSTRUCTION_OTHER, 0, 0, 0,
	  BIT(REGISTER_AX) },
	{ "\x31\xed", 2, INSTRUCTION_OTHER, 0, 0, 0, BIT(REGISTER_BP) },
	{ "\x48\x39\xeb", 3, INSTRUCTION_OTHER, 0, 0, 0, 0 },
	{ "\xf6\x45\x00\x01", 4, INSTRUCTION_OTHER, 0, 0, 0, 0 },
	/* VEX, EVEX, XOP: register 4 is a vector register, not rsp. */
	{ "\xc5\xf9\x6f\x64\x24\x10", 6, INSTRUCTION_OTHER, 0, 0, 0, 0 },
	{ "\x62\xf1\xfd\x48\x6f\x64\x24\x01", 8, INSTRUCTION_OTHER, 0, 0, 0, 0 },
	{ "\x8f\xe8\xf8\xa3\x42\x10\x10", 7, INSTRUCTION_OTHER, 0, 0, 0, 0 },
	{ "\xc4\xe2\xd8\xf7\xeb", 5, INSTRUCTION_OTHER, 0, 0, 0, BIT(REGISTER_BP) | BIT(4) },
	{ "\xc5\xf8\x77", 3, INSTRUCTION_OTHER, 0, 0, 0, 0 },
};

static void test_instructions(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct decoded *wanted = &cases[i];
		struct instruction of =
			instruction_decode((const uint8_t *)wanted->bytes, wanted->size);

		if (of.size != wanted->size || of.kind != wanted->kind || of.reg != wanted->reg ||
		    of.base != wanted->base || of.offset != wanted->offset ||
		    of.written != wanted->written)
			fail_msg("case %zu: size %u, kind %u, reg %u, base %u, offset %d, %x", i,
				 of.size, of.kind, of.reg, of.base, of.offset, of.written);
		/* A truncated instruction is unknown, and no byte behind it is read. */
		for (size_t size = 0; size < wanted->size; size++) {
			of = instruction_decode((const uint8_t *)wanted->bytes, size);
			assert_int_equal(of.kind, INSTRUCTION_UNKNOWN);
		}
	}
}

static void test_no_instructions(void **state)
{
	static const char *const none[] = {
		"\x06",	    "\x82\x00\x00",	"\xea\x00",
		"\x0f\x04", "\x48\xc5\xf8\x77", "\xc4\xe4\x00\x00\x00\x00"
	};

	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		assert_int_equal(instruction_decode((const uint8_t *)none[i], 6).kind,
				 INSTRUCTION_UNKNOWN);
}

/* ---- frames */

/* Steps through the instructions; returns whether a function may contain them. */
static bool step(struct flow_state *frame, const char *bytes, size_t size)
{
	for (size_t at = 0; at < size;) {
		struct instruction of = instruction_decode((const uint8_t *)bytes + at, size - at);

		if (of.kind == INSTRUCTION_UNKNOWN || !flow_step(frame, &of))
			return false;
		at += of.size;
	}
	return true;
}

#define STEP(frame, bytes) step(frame, bytes, sizeof(bytes) - 1)

static struct wire_rule rule_of(const struct flow_state *frame)
{
	struct wire_rule rule;

	assert_true(flow_rule(frame, &rule));
	return rule;
}

static void test_frames(void **state)
{
	struct flow_state frame = flow_entry();
	struct wire_rule rule = rule_of(&frame);

	(void)state;
	assert_int_equal(rule.cfa, WIRE_CFA_SP);
	assert_int_equal(rule.cfa_offset, 8);
	assert_int_equal(rule.fp, WIRE_FP_SAME);
	assert_true(flow_may_leave(&frame));
	/* push %rbp; mov %rsp,%rbp; push %rbx; sub $24,%rsp; xor %ebx,%ebx */
	assert_true(STEP(&frame, "\x55\x48\x89\xe5\x53\x48\x83\xec\x18\x31\xdb"));
	rule = rule_of(&frame);
	assert_int_equal(rule.cfa_offset, 48);
	assert_int_equal(rule.fp, WIRE_FP_CFA);
	assert_int_equal(rule.fp_offset, -16);
	assert_true(rule.ra & WIRE_RULE_RBX_SAVED);
	assert_int_equal(rule.extra, -24);
	assert_false(flow_may_leave(&frame));
	/* sub %rax,%rsp: by the frame pointer from there on */
	assert_true(STEP(&frame, "\x48\x29\xc4"));
	rule = rule_of(&frame);
	assert_int_equal(rule.cfa, WIRE_CFA_FP);
	assert_int_equal(rule.cfa_offset, 16);
	/* lea -8(%rbp),%rsp; pop %rbx; pop %rbp */
	assert_true(STEP(&frame, "\x48\x8d\x65\xf8\x5b\x5d"));
	assert_true(flow_may_leave(&frame));
	/* Only the return address is left to pop. */
	assert_false(STEP(&frame, "\x5d"));
}

static void test_alignment(void **state)
{
	struct flow_state frame = flow_entry();
	struct wire_rule rule;

	(void)state;
	/* mov %rsp,%r10; and $-32,%rsp; sub $64,%rsp */
	assert_true(STEP(&frame, "\x49\x89\xe2\x48\x83\xe4\xe0\x48\x83\xec\x40"));
	rule = rule_of(&frame);
	assert_int_equal(rule.cfa, WIRE_CFA_REG);
	assert_int_equal(rule.reg, 10);
	assert_int_equal(rule.cfa_offset, 8);
	/* mov %r10,40(%rsp); xor %r10d,%r10d; push %rax */
	assert_true(STEP(&frame, "\x4c\x89\x54\x24\x28\x45\x31\xd2\x50"));
	rule = rule_of(&frame);
	assert_int_equal(rule.cfa, WIRE_CFA_SP_DEREF);
	assert_int_equal(rule.cfa_offset, 48);
	assert_int_equal(rule.extra, 8);
	/* From another slot: mov 32(%rsp),%rsp */
	assert_false(STEP(&frame, "\x48\x8b\x64\x24\x20"));
	/* mov 48(%rsp),%rsp */
	assert_true(STEP(&frame, "\x48\x8b\x64\x24\x30"));
	assert_true(flow_may_leave(&frame));
}

static void test_lost(void **state)
{
	struct flow_state frame = flow_entry(), other = flow_entry(), both;

	(void)state;
	/* xor %ebp,%ebp loses the caller's value, so push %rbp does not save it. */
	assert_true(STEP(&frame, "\x31\xed\x55\x5d"));
	assert_int_equal(rule_of(&frame).fp, WIRE_FP_UNDEFINED);
	assert_false(flow_may_leave(&frame));
	/* Two paths can meet if they have the same stack pointer. */
	assert_true(flow_meet(&frame, &other, &both));
	assert_int_equal(rule_of(&both).fp, WIRE_FP_UNDEFINED);
	assert_true(STEP(&other, "\x50"));
	assert_false(flow_meet(&frame, &other, &both));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instructions), cmocka_unit_test(test_no_instructions),
		cmocka_unit_test(test_frames),	     cmocka_unit_test(test_alignment),
		cmocka_unit_test(test_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
