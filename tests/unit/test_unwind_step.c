// SPDX-License-Identifier: GPL-2.0-or-later
/* One step of a walk by each kind of rule: the caller's registers, and how a walk ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/unwind_walk.h"
#include "bpf/unwind_wire.h"

#define CODE  0x10000ull
#define STACK 0x7000ull
#define WORDS 32
#define OWNER 3u

/* The words of the stack: addresses of code, unless a test changes them. */
static uint64_t stack[WORDS];
static struct unwind_cached_rule the_rule;
static bool none_cached;

static int read_stack(void *to, uint32_t size, uint64_t address)
{
	uint64_t at = address - STACK;

	if (at > sizeof(stack) || size > sizeof(stack) - at)
		return -1;
	memcpy(to, (const char *)stack + at, size);
	return 0;
}

/* The code from CODE + 0x10 on, where walks are. */
static const uint8_t *code_at;
static uint32_t code_left;

static int read_code(void *to, uint32_t size, uint64_t address)
{
	uint64_t at = address - CODE - 0x10;

	if (at > code_left || size > code_left - at)
		return read_stack(to, size, address);
	memcpy(to, code_at + at, size);
	return 0;
}

#define UNWIND_CONTEXT
#define UNWIND_PASS
#define UNWIND_INLINE		       static inline __attribute__((unused))
#define UNWIND_READ(to, size, address) read_stack(to, size, address)
#define UNWIND_CODE(to, size, address) read_code(to, size, address)
#define UNWIND_BLOCK(block)	       ((void)(block), NULL)
#define UNWIND_RULE(number)	       ((void)(number), (const struct wire_rule *)NULL)
#define UNWIND_PROCESS(tgid)	       ((void)(tgid), (const struct wire_process *)NULL)
#define UNWIND_ADDRESS_BITS	       48
#define UNWIND_CACHED_RULE(walk, address)                                                          \
	((void)(walk), (void)(address), none_cached ? NULL : &the_rule)
#include "bpf/unwind_step.h"
#define UNWIND_PEEK(to, address) (read_stack(to, sizeof(*(to)), address) == 0)
#include "bpf/unwind_usual.h"

/* A walk in code that has this rule. */
static struct unwind_walk walk_by(struct wire_rule rule)
{
	struct unwind_walk walk = { .pc = CODE + 0x10,
				    .known = UNWIND_ALL_KNOWN,
				    .exact = 1,
				    .layout = 5,
				    .start = CODE,
				    .end = CODE + 0x1000 };

	for (uint64_t i = 0; i < WORDS; i++)
		stack[i] = CODE + 0x2000 + i * 16;
	for (uint64_t i = 0; i < WIRE_N_REGISTERS; i++)
		walk.registers[i] = 0x100 + i;
	walk.registers[UNWIND_SP] = STACK;
	walk.registers[UNWIND_FP] = STACK + 0x40;
	the_rule = (struct unwind_cached_rule){
		.span = CODE | 255ull << UNWIND_SPAN_BITS, .layout = 5, .owner = OWNER, .rule = rule
	};
	none_cached = false;
	return walk;
}

#define BY(...) walk_by((struct wire_rule){ __VA_ARGS__ })

static void ends(struct unwind_walk walk, uint32_t end)
{
	assert_int_equal(unwind_step(&walk), end);
}

/* The step leads to the return address in that word of the stack; the CFA is just above it. */
static void leads_to(struct unwind_walk *walk, uint64_t word)
{
	assert_int_equal(unwind_step(walk), WIRE_END_NONE);
	assert_int_equal(walk->pc, stack[word]);
	assert_int_equal(walk->registers[UNWIND_SP], STACK + word * 8 + 8);
	assert_int_equal(walk->exact, 0);
	assert_int_equal(walk->callee_owner, OWNER);
	assert_true(walk->known & UNWIND_BIT(UNWIND_SP));
	assert_false(walk->known & UNWIND_UNFOLLOWED);
}

static void forget(struct unwind_walk *walk, uint32_t reg)
{
	walk->known &= ~UNWIND_BIT(reg);
}

static void the_cfa_from_the_stack_pointer(void **state)
{
	struct unwind_walk walk = BY(.cfa = WIRE_CFA_SP, .cfa_offset = 16);

	(void)state;
	walk.by_chain = 1;
	leads_to(&walk, 1);
	assert_int_equal(walk.registers[UNWIND_FP], STACK + 0x40);
	assert_int_equal(walk.known, UNWIND_ALL_KNOWN & ~UNWIND_UNFOLLOWED);
	assert_int_equal(walk.by_chain, 0);
	assert_int_equal(walk.assumed, 0);
	assert_int_equal(walk.rbx_at, 0);
	for (uint64_t i = 0; i < WIRE_N_REGISTERS; i++)
		if (i != UNWIND_FP && i != UNWIND_SP)
			assert_int_equal(walk.registers[i], 0x100 + i);
	walk = BY(.cfa = WIRE_CFA_SP, .cfa_offset = 8 * WORDS);
	leads_to(&walk, WORDS - 1);
	ends(BY(.cfa = WIRE_CFA_SP, .cfa_offset = 8 * WORDS + 8), WIRE_END_READ);
	ends(BY(.cfa = WIRE_CFA_NONE, .cfa_offset = 16), WIRE_END_NO_ROW);
	ends(BY(.cfa = WIRE_CFA_UNSUPPORTED, .cfa_offset = 16), WIRE_END_CFA);
}

static void the_cfa_from_other_registers(void **state)
{
	struct unwind_walk walk = BY(.cfa = WIRE_CFA_FP, .cfa_offset = 16);

	(void)state;
	leads_to(&walk, 9);
	walk = BY(.cfa = WIRE_CFA_FP, .cfa_offset = 16);
	forget(&walk, UNWIND_FP);
	ends(walk, WIRE_END_FP);
	walk = BY(.cfa = WIRE_CFA_REG, .reg = 10, .cfa_offset = 8);
	walk.registers[10] = STACK + 0x18;
	leads_to(&walk, 3);
	assert_int_equal(walk.assumed, 0);
	walk = BY(.cfa = WIRE_CFA_REG, .reg = 10, .cfa_offset = 8);
	forget(&walk, 10);
	ends(walk, WIRE_END_REGISTER);
}

static void registers_of_callers(void **state)
{
	struct unwind_walk walk = BY(.cfa = WIRE_CFA_REG, .reg = 10, .cfa_offset = 8);

	/* Callees in the same file are assumed to keep the registers. */
	(void)state;
	walk.registers[10] = STACK + 0x18;
	walk.callee_owner = OWNER;
	leads_to(&walk, 3);
	assert_int_equal(walk.assumed, 1);
	/* Callees in another file keep three registers only. */
	walk = BY(.cfa = WIRE_CFA_REG, .reg = 10, .cfa_offset = 8);
	walk.registers[10] = STACK + 0x18;
	walk.callee_owner = OWNER + 1;
	ends(walk, WIRE_END_REGISTER);
	for (uint32_t reg = 0; reg < WIRE_N_REGISTERS; reg++) {
		bool stays = reg == UNWIND_FP || reg == UNWIND_SP || reg == UNWIND_FOLLOWED;

		walk = BY(.cfa = WIRE_CFA_REG, .reg = reg, .cfa_offset = 8);
		walk.registers[reg] = STACK + 0x18;
		walk.callee_owner = OWNER + 1;
		if (stays && reg == UNWIND_SP)
			walk.registers[UNWIND_SP] = STACK;
		assert_int_equal(unwind_step(&walk), stays ? WIRE_END_NONE : WIRE_END_REGISTER);
		assert_int_equal(walk.assumed, 0);
	}
	/* rbx, which is followed, may be on the stack. */
	walk = BY(.cfa = WIRE_CFA_REG, .reg = UNWIND_FOLLOWED, .cfa_offset = 8);
	walk.rbx_at = STACK + 0x20;
	walk.callee_owner = OWNER;
	stack[4] = STACK + 0x30;
	leads_to(&walk, 6);
	assert_int_equal(walk.assumed, 0);
	walk = BY(.cfa = WIRE_CFA_REG, .reg = UNWIND_FOLLOWED, .cfa_offset = 8);
	walk.rbx_at = STACK - 0x20;
	ends(walk, WIRE_END_REGISTER);
	walk = BY(.cfa = WIRE_CFA_REG, .reg = UNWIND_FOLLOWED, .cfa_offset = 8);
	walk.rbx_at = STACK + 0x20;
	forget(&walk, UNWIND_FOLLOWED);
	ends(walk, WIRE_END_REGISTER);
}

static void the_cfa_in_a_plt(void **state)
{
	(void)state;
	for (uint64_t at = 0; at < 16; at++) {
		struct unwind_walk walk = BY(.cfa = WIRE_CFA_PLT, .cfa_offset = 11);

		walk.pc = CODE + 0x20 + at;
		leads_to(&walk, at >= 11);
	}
}

static void the_cfa_in_memory(void **state)
{
	struct unwind_walk walk = BY(.cfa = WIRE_CFA_SP_DEREF, .cfa_offset = 16, .extra = 8);

	(void)state;
	stack[2] = STACK + 0x50;
	leads_to(&walk, 10);
	walk = BY(.cfa = WIRE_CFA_FP_DEREF, .cfa_offset = -8);
	stack[7] = STACK + 0x60;
	leads_to(&walk, 11);
	walk = BY(.cfa = WIRE_CFA_FP_DEREF, .cfa_offset = -8);
	forget(&walk, UNWIND_FP);
	ends(walk, WIRE_END_FP);
	walk = BY(.cfa = WIRE_CFA_REG_DEREF, .reg = 11, .cfa_offset = 8, .extra = -8);
	walk.registers[11] = STACK + 0x10;
	stack[3] = STACK + 0x40;
	leads_to(&walk, 6);
	walk = BY(.cfa = WIRE_CFA_REG_DEREF, .reg = 11, .cfa_offset = 8);
	forget(&walk, 11);
	ends(walk, WIRE_END_REGISTER);
	walk = BY(.cfa = WIRE_CFA_SP_INDEX, .reg = 9, .cfa_offset = 8, .extra = -16);
	walk.registers[9] = 2;
	stack[3] = STACK + 0x60;
	leads_to(&walk, 9);
	walk = BY(.cfa = WIRE_CFA_SP_INDEX, .reg = 9, .cfa_offset = 8);
	forget(&walk, 9);
	ends(walk, WIRE_END_REGISTER);
	ends(BY(.cfa = WIRE_CFA_SP_DEREF, .cfa_offset = -8), WIRE_END_READ);
	ends(BY(.cfa = WIRE_CFA_SP_DEREF, .cfa_offset = 8 * WORDS), WIRE_END_READ);
}

static void the_return_address_elsewhere(void **state)
{
	struct unwind_walk walk =
		BY(.cfa = WIRE_CFA_SP, .cfa_offset = 32, .extra = -24, .ra = WIRE_RA_CFA_OFFSET);

	(void)state;
	assert_int_equal(unwind_step(&walk), WIRE_END_NONE);
	assert_int_equal(walk.pc, stack[1]);
	assert_int_equal(walk.registers[UNWIND_SP], STACK + 32);
	ends(BY(.cfa = WIRE_CFA_SP, .cfa_offset = 32, .extra = -40, .ra = WIRE_RA_CFA_OFFSET),
	     WIRE_END_READ);
	walk = BY(.cfa = WIRE_CFA_SP, .cfa_offset = 8, .reg = 2, .ra = WIRE_RA_REG);
	walk.registers[2] = CODE + 0x77;
	assert_int_equal(unwind_step(&walk), WIRE_END_NONE);
	assert_int_equal(walk.pc, CODE + 0x77);
	assert_int_equal(walk.registers[UNWIND_SP], STACK + 8);
	walk = BY(.cfa = WIRE_CFA_SP, .cfa_offset = 8, .reg = 2, .ra = WIRE_RA_REG);
	forget(&walk, 2);
	ends(walk, WIRE_END_REGISTER);
	ends(BY(.cfa = WIRE_CFA_SP, .cfa_offset = 8, .ra = WIRE_RA_UNSUPPORTED), WIRE_END_RA);
}

static void where_stacks_end(void **state)
{
	struct unwind_walk walk;

	(void)state;
	ends(BY(.cfa = WIRE_CFA_SP, .ra = WIRE_RA_END), WIRE_END_COMPLETE);
	ends(BY(.cfa = WIRE_CFA_SP, .ra = WIRE_RA_ENTRY), WIRE_END_ENTRY);
	ends(BY(.cfa = WIRE_CFA_SP, .ra = WIRE_RA_FIBER), WIRE_END_FIBER);
	/* After clone(): the result says whether this is the new thread. */
	walk = BY(.cfa = WIRE_CFA_SP, .cfa_offset = 8, .ra = WIRE_RA_CLONE);
	walk.registers[UNWIND_RESULT] = 0;
	ends(walk, WIRE_END_ENTRY);
	walk.registers[UNWIND_RESULT] = 1;
	leads_to(&walk, 0);
	walk = BY(.cfa = WIRE_CFA_SP, .cfa_offset = 8, .ra = WIRE_RA_CLONE);
	forget(&walk, UNWIND_RESULT);
	ends(walk, WIRE_END_REGISTER);
	walk = BY(.cfa = WIRE_CFA_SP, .cfa_offset = 8, .ra = WIRE_RA_CLONE);
	walk.callee_owner = OWNER;
	ends(walk, WIRE_END_REGISTER);
	ends(BY(.cfa = WIRE_CFA_SP, .cfa_offset = 0x1000, .ra = WIRE_RA_CLONE), WIRE_END_READ);
}

static void signal_frames(void **state)
{
	/* The order in struct sigcontext. */
	static const uint32_t order[16] = { 8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7 };
	struct unwind_walk walk = BY(.cfa = WIRE_CFA_SP, .ra = WIRE_RA_SIGNAL);

	(void)state;
	walk.known = UNWIND_BIT(UNWIND_SP);
	walk.exact = 0;
	walk.rbx_at = STACK;
	walk.callee_owner = OWNER;
	assert_int_equal(unwind_step(&walk), WIRE_END_NONE);
	for (uint32_t i = 0; i < 16; i++)
		assert_int_equal(walk.registers[order[i]], stack[5 + i]);
	assert_int_equal(walk.pc, stack[21]);
	assert_int_equal(walk.known, UNWIND_ALL_KNOWN);
	assert_int_equal(walk.rbx_at, 0);
	assert_int_equal(walk.exact, 1);
	assert_int_equal(walk.callee_owner, 0);
	walk = BY(.cfa = WIRE_CFA_SP, .ra = WIRE_RA_SIGNAL);
	walk.registers[UNWIND_SP] = STACK + 8 * (WORDS - 5 - 17) + 8;
	ends(walk, WIRE_END_READ);
}

/* No instruction of the page of vsyscalls runs: the return address is on top of the stack. */
static void vsyscalls(void **state)
{
	struct unwind_walk walk = BY(.cfa = WIRE_CFA_SP);

	(void)state;
	walk.layout = 0;
	walk.pc = WIRE_VSYSCALL + 0x400;
	assert_int_equal(unwind_step(&walk), WIRE_END_NONE);
	assert_int_equal(walk.pc, stack[0]);
	assert_int_equal(walk.exact, 0);
	assert_int_equal(walk.registers[UNWIND_SP], STACK + 8);
	assert_int_equal(walk.registers[UNWIND_FP], STACK + 0x40);
	walk.pc = WIRE_VSYSCALL + 0x400;
	stack[1] = 0;
	ends(walk, WIRE_END_PC);
	walk.registers[UNWIND_SP] = STACK + sizeof(stack);
	ends(walk, WIRE_END_READ);
	walk.pc = WIRE_VSYSCALL + 0x1000;
	ends(walk, WIRE_END_NO_PROCESS);
}

static void interrupted_frames(void **state)
{
	struct unwind_walk walk = BY(.cfa = WIRE_CFA_SP, .cfa_offset = 16, .fp = WIRE_RULE_EXACT);

	(void)state;
	walk.exact = 0;
	assert_int_equal(unwind_step(&walk), WIRE_END_NONE);
	assert_int_equal(walk.exact, 1);
	walk = BY(.cfa = WIRE_CFA_SP, .cfa_offset = 24, .fp = WIRE_FP_CFA | WIRE_RULE_EXACT,
		  .fp_offset = -16);
	assert_int_equal(unwind_step(&walk), WIRE_END_NONE);
	assert_int_equal(walk.exact, 1);
	assert_int_equal(walk.registers[UNWIND_FP], stack[1]);
}

static void walks_go_towards_the_root(void **state)
{
	struct unwind_walk walk;

	(void)state;
	ends(BY(.cfa = WIRE_CFA_SP, .cfa_offset = 0), WIRE_END_SP);
	ends(BY(.cfa = WIRE_CFA_SP, .cfa_offset = -8), WIRE_END_SP);
	ends(BY(.cfa = WIRE_CFA_SP, .cfa_offset = 12), WIRE_END_SP);
	ends(BY(.cfa = WIRE_CFA_SP, .cfa_offset = 17), WIRE_END_SP);
	/* Exceptions: a return address in a register, and another stack. */
	walk = BY(.cfa = WIRE_CFA_SP, .cfa_offset = 0, .reg = 2, .ra = WIRE_RA_REG);
	walk.registers[2] = CODE + 0x77;
	assert_int_equal(unwind_step(&walk), WIRE_END_NONE);
	assert_int_equal(walk.registers[UNWIND_SP], STACK);
	ends(BY(.cfa = WIRE_CFA_SP, .cfa_offset = -8, .reg = 2, .ra = WIRE_RA_REG), WIRE_END_SP);
	walk = BY(.cfa = WIRE_CFA_SP, .cfa_offset = -0x20, .ra = WIRE_RULE_NEW_STACK);
	walk.registers[UNWIND_SP] = STACK + 0x80;
	leads_to(&walk, 11);
	walk = BY(.cfa = WIRE_CFA_SP, .cfa_offset = -0x1c, .ra = WIRE_RULE_NEW_STACK);
	walk.registers[UNWIND_SP] = STACK + 0x80;
	ends(walk, WIRE_END_SP);
}

static void return_addresses_are_of_user_code(void **state)
{
	static const struct {
		uint64_t pc;
		uint32_t end;
	} examples[] = {
		{ 0, WIRE_END_PC },	     { 4095, WIRE_END_PC },
		{ 4096, WIRE_END_NONE },     { (1ull << 56) - 1, WIRE_END_NONE },
		{ 1ull << 56, WIRE_END_PC }, { UINT64_MAX, WIRE_END_PC },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(*examples); i++) {
		struct unwind_walk walk = BY(.cfa = WIRE_CFA_SP, .cfa_offset = 8);

		stack[0] = examples[i].pc;
		ends(walk, examples[i].end);
	}
}

static void the_callers_frame_pointer(void **state)
{
	struct unwind_walk walk;

	(void)state;
	/* Saved next to the return address, and elsewhere. */
	for (int32_t offset = -40; offset <= 16; offset += 8) {
		walk = BY(.cfa = WIRE_CFA_SP, .cfa_offset = 48, .fp = WIRE_FP_CFA,
			  .fp_offset = offset);
		forget(&walk, UNWIND_FP);
		leads_to(&walk, 5);
		assert_int_equal(walk.registers[UNWIND_FP], stack[6 + offset / 8]);
		assert_true(walk.known & UNWIND_BIT(UNWIND_FP));
	}
	ends(BY(.cfa = WIRE_CFA_SP, .cfa_offset = 8, .fp = WIRE_FP_CFA, .fp_offset = -16),
	     WIRE_END_READ);
	ends(BY(.cfa = WIRE_CFA_SP, .cfa_offset = 8, .fp = WIRE_FP_CFA, .fp_offset = -24),
	     WIRE_END_READ);
	/* Saved where the frame pointer leads, if that is in the frame. */
	walk = BY(.cfa = WIRE_CFA_SP, .cfa_offset = 0x60, .fp = WIRE_FP_FP, .fp_offset = 8);
	leads_to(&walk, 11);
	assert_int_equal(walk.registers[UNWIND_FP], stack[9]);
	walk = BY(.cfa = WIRE_CFA_SP, .cfa_offset = 0x40, .fp = WIRE_FP_FP, .fp_offset = 8);
	leads_to(&walk, 7);
	assert_int_equal(walk.registers[UNWIND_FP], STACK + 0x40);
	walk = BY(.cfa = WIRE_CFA_SP, .cfa_offset = 0x60, .fp = WIRE_FP_FP, .fp_offset = 8);
	walk.registers[UNWIND_FP] = STACK;
	leads_to(&walk, 11);
	assert_int_equal(walk.registers[UNWIND_FP], stack[1]);
	walk = BY(.cfa = WIRE_CFA_SP, .cfa_offset = 0x60, .fp = WIRE_FP_FP, .fp_offset = 8);
	walk.registers[UNWIND_FP] = STACK - 8;
	leads_to(&walk, 11);
	assert_int_equal(walk.registers[UNWIND_FP], STACK - 8);
	assert_true(walk.known & UNWIND_BIT(UNWIND_FP));
	walk = BY(.cfa = WIRE_CFA_SP, .cfa_offset = 0x60, .fp = WIRE_FP_FP, .fp_offset = 8);
	forget(&walk, UNWIND_FP);
	leads_to(&walk, 11);
	assert_int_equal(walk.registers[UNWIND_FP], STACK + 0x40);
	assert_false(walk.known & UNWIND_BIT(UNWIND_FP));
	ends(BY(.cfa = WIRE_CFA_SP, .cfa_offset = 0x60, .fp = WIRE_FP_FP, .fp_offset = 0x1000),
	     WIRE_END_READ);
	/* In a register, lost, or unchanged. */
	walk = BY(.cfa = WIRE_CFA_SP, .cfa_offset = 8, .fp = WIRE_FP_REG, .fp_offset = 12);
	leads_to(&walk, 0);
	assert_int_equal(walk.registers[UNWIND_FP], 0x100 + 12);
	walk = BY(.cfa = WIRE_CFA_SP, .cfa_offset = 8, .fp = WIRE_FP_REG, .fp_offset = 12);
	forget(&walk, 12);
	leads_to(&walk, 0);
	assert_false(walk.known & UNWIND_BIT(UNWIND_FP));
	walk = BY(.cfa = WIRE_CFA_SP, .cfa_offset = 8, .fp = WIRE_FP_UNDEFINED);
	leads_to(&walk, 0);
	assert_false(walk.known & UNWIND_BIT(UNWIND_FP));
	walk = BY(.cfa = WIRE_CFA_SP, .cfa_offset = 8, .fp = WIRE_FP_SAME);
	forget(&walk, UNWIND_FP);
	leads_to(&walk, 0);
	assert_false(walk.known & UNWIND_BIT(UNWIND_FP));
}

/* One of these numbers, as the state of a generator of random numbers tells. */
#define ONE_OF(random, ...)                                                                        \
	((const int[]){                                                                            \
		__VA_ARGS__ })[next(random) % (sizeof((int[]){ __VA_ARGS__ }) / sizeof(int))]

static uint32_t next(uint64_t *random)
{
	*random = *random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(*random >> 33);
}

/* A walk by a rule of any kind, often of the usual ones. */
static struct unwind_walk any_walk(uint64_t *random)
{
	struct unwind_walk walk = walk_by((struct wire_rule){
		.cfa = (uint8_t)ONE_OF(random, 1, 1, 1, 2, 2, 2, 0, 3, 4, 5, 6, 7, 8, 9),
		.fp = (uint8_t)ONE_OF(random, 0, 0, 1, 1, 1, 2, 3, 4, 5),
		.ra = (uint8_t)(ONE_OF(random, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 6, 7) |
				ONE_OF(random, 0, 0, 0, 0x40, 0x40, 0x80, 0x10, 0x20)),
		.reg = (uint8_t)ONE_OF(random, 0, 3, 10, 12),
		.cfa_offset = ONE_OF(random, 8, 16, 16, 32, 40, 100, 0, -8, 12, 256, 264),
		.fp_offset = (int16_t)ONE_OF(random, -16, -16, -24, -40, 8, 3, 300),
		.extra = (int16_t)ONE_OF(random, -24, -8, 8, 0),
	});

	walk.exact = next(random) % 2;
	walk.known = next(random) % 4 ? UNWIND_ALL_KNOWN : next(random) & UNWIND_ALL_KNOWN;
	walk.callee_owner = (uint32_t)ONE_OF(random, 0, OWNER, OWNER, OWNER + 1);
	walk.by_chain = next(random) % 2;
	walk.may_chain = next(random) % 2;
	walk.rbx_at = next(random) % 2 ? STACK + 8 : 0;
	walk.registers[UNWIND_FP] = STACK + (uint64_t)ONE_OF(random, 0x40, 0, 0x90, 4, 0x200);
	for (int i = 0; i < WORDS; i++)
		if (next(random) % 16 == 0)
			stack[i] = next(random) % 2 ? 0 : UINT64_MAX;
	the_rule.layout = (uint32_t)ONE_OF(random, 5, 5, 5, 5, 0, 6);
	the_rule.owner = (uint32_t)ONE_OF(random, OWNER, OWNER, OWNER, (int)UNWIND_GENERATED);
	if (the_rule.owner == UNWIND_GENERATED)
		the_rule.rule.cfa = WIRE_CFA_NONE;
	if (next(random) % 8 == 0)
		the_rule.span += 0x11;
	return walk;
}

/* Takes a usual step from `walk` on by the_rule, if it is one. */
static bool take_usual(struct unwind_walk *walk, uint64_t address)
{
	struct unwind_usual usual = unwind_usual_begin(walk);

	if (!unwind_in_span(the_rule.span, address) || !unwind_usual(walk, &usual, &the_rule))
		return false;
	unwind_usual_end(walk, &usual);
	return true;
}

/* The step for usual frames does what the other one does, or nothing. */
static void usual_steps_are_steps(void **state)
{
	uint64_t random = 18, taken = 0, by_fp = 0, saved = 0, other = 0;

	(void)state;
	for (int i = 0; i < 300000; i++) {
		struct unwind_walk before = any_walk(&random), usual = before, walk = before;
		struct unwind_cached_rule rule = the_rule;

		if (!take_usual(&usual, usual.pc - (usual.exact ? 0 : 1))) {
			assert_memory_equal(&usual, &before, sizeof(usual));
			continue;
		}
		assert_int_equal(unwind_step(&walk), WIRE_END_NONE);
		assert_memory_equal(&usual, &walk, sizeof(usual));
		taken++;
		by_fp += rule.rule.cfa == WIRE_CFA_FP;
		saved += rule.rule.fp == WIRE_FP_CFA && rule.rule.ra & WIRE_RULE_RBX_SAVED;
		other += before.callee_owner == OWNER + 1;
	}
	assert_in_range(taken, 2000, 300000);
	assert_in_range(by_fp, 200, taken);
	assert_in_range(saved, 200, taken);
	assert_in_range(other, 200, taken);
}

/* Steps of the usual kind are taken as such. */
static void usual_steps_are_taken(void **state)
{
	struct unwind_walk walk =
		BY(.cfa = WIRE_CFA_SP, .cfa_offset = 32, .fp = WIRE_FP_CFA, .fp_offset = -16);

	(void)state;
	assert_true(take_usual(&walk, walk.pc));
	assert_int_equal(walk.pc, stack[3]);
	assert_int_equal(walk.registers[UNWIND_FP], stack[2]);
	walk = BY(.cfa = WIRE_CFA_FP, .cfa_offset = 16, .ra = WIRE_RULE_RBX_SAVED, .extra = -24);
	assert_true(take_usual(&walk, walk.pc));
	assert_int_equal(walk.pc, stack[9]);
	assert_int_equal(walk.rbx_at, STACK + 0x38);
	/* Not a rule of another layout, nor one of another address. */
	walk = BY(.cfa = WIRE_CFA_SP, .cfa_offset = 32);
	assert_true(take_usual(&walk, walk.pc));
	walk = BY(.cfa = WIRE_CFA_SP, .cfa_offset = 32);
	walk.layout++;
	assert_false(take_usual(&walk, walk.pc));
	walk = BY(.cfa = WIRE_CFA_SP, .cfa_offset = 32);
	assert_false(take_usual(&walk, CODE + 256));
}

static void rbx_is_followed(void **state)
{
	struct unwind_walk walk =
		BY(.cfa = WIRE_CFA_SP, .cfa_offset = 32, .extra = -24, .ra = WIRE_RULE_RBX_SAVED);

	(void)state;
	leads_to(&walk, 3);
	assert_int_equal(walk.rbx_at, STACK + 8);
	assert_true(walk.known & UNWIND_BIT(UNWIND_FOLLOWED));
	walk = BY(.cfa = WIRE_CFA_SP, .cfa_offset = 32, .extra = -24, .ra = WIRE_RULE_RBX_LOST);
	walk.rbx_at = 7;
	leads_to(&walk, 3);
	assert_int_equal(walk.rbx_at, 7);
	assert_false(walk.known & UNWIND_BIT(UNWIND_FOLLOWED));
	/* Code without CFI that keeps frame pointers is followed if may_chain allows it. */
	walk = BY(.cfa = WIRE_CFA_SP, .cfa_offset = 32, .ra = WIRE_RULE_FRAME_POINTER);
	ends(walk, WIRE_END_NO_CFI);
	walk.may_chain = 1;
	leads_to(&walk, 3);
	assert_int_equal(walk.by_chain, 1);
	assert_false(walk.known & UNWIND_BIT(UNWIND_FOLLOWED));
}

/* A walk in generated code. */
static struct unwind_walk chained(void)
{
	struct unwind_walk walk = BY(.cfa = WIRE_CFA_UNSUPPORTED);

	walk.root = WIRE_MAPPING(0, WIRE_MAPPING_JIT);
	walk.may_chain = 1;
	the_rule.layout = 0;
	return walk;
}

static void generated_code(void **state)
{
	struct unwind_walk walk = chained();

	(void)state;
	assert_int_equal(unwind_step(&walk), WIRE_END_NONE);
	assert_int_equal(walk.registers[UNWIND_FP], stack[8]);
	assert_int_equal(walk.pc, stack[9]);
	assert_int_equal(walk.registers[UNWIND_SP], STACK + 0x50);
	assert_int_equal(walk.known, UNWIND_BIT(UNWIND_FP) | UNWIND_BIT(UNWIND_SP));
	assert_int_equal(walk.exact, 0);
	assert_int_equal(walk.by_chain, 1);
	assert_true(walk.callee_owner != 0 && walk.callee_owner != OWNER);
	walk = chained();
	walk.registers[UNWIND_FP] = STACK; /* the lowest valid value */
	assert_int_equal(unwind_step(&walk), WIRE_END_NONE);
	assert_int_equal(walk.pc, stack[1]);
	walk = chained();
	walk.may_chain = 0;
	ends(walk, WIRE_END_NO_CFI);
	walk = chained();
	forget(&walk, UNWIND_FP);
	ends(walk, WIRE_END_JIT);
	walk = chained();
	walk.registers[UNWIND_SP] = STACK + 0x48;
	ends(walk, WIRE_END_JIT);
	walk = chained();
	walk.registers[UNWIND_FP] += 4;
	ends(walk, WIRE_END_JIT);
	walk = chained();
	walk.registers[UNWIND_FP] = STACK + 8 * WORDS - 8;
	ends(walk, WIRE_END_JIT);
}

#define LUA_STATE (STACK + 0x80)
#define LUA_FRAME (STACK + 0x30)

/* A walk in code that LuaJIT compiled, below the frame of its interpreter. */
static struct unwind_walk in_trace(void)
{
	struct unwind_walk walk = chained();

	walk.registers[UNWIND_FP] = 0xdead;
	stack[8] = LUA_STATE;	     /* the frame's state */
	stack[26] = (LUA_FRAME) | 1; /* the state's frame */
	return walk;
}

static void luajit_returns(struct unwind_walk walk)
{
	assert_int_equal(unwind_step(&walk), WIRE_END_NONE);
	assert_int_equal(walk.registers[UNWIND_FP], stack[14]);
	assert_int_equal(walk.pc, stack[15]);
	assert_int_equal(walk.registers[UNWIND_SP], LUA_FRAME + 80);
	assert_int_equal(walk.rbx_at, LUA_FRAME + 56);
	assert_int_equal(walk.known, UNWIND_BIT(UNWIND_FP) | UNWIND_BIT(UNWIND_SP) |
					     UNWIND_BIT(UNWIND_FOLLOWED));
	assert_int_equal(walk.exact, 0);
	assert_int_equal(walk.by_chain, 0);
	assert_true(walk.callee_owner != 0 && walk.callee_owner != OWNER);
}

static void generated_code_of_luajit(void **state)
{
	struct unwind_walk walk = in_trace();

	(void)state;
	luajit_returns(walk);
	walk.registers[UNWIND_SP] = STACK + 8;
	luajit_returns(walk);
	walk.registers[UNWIND_SP] = LUA_FRAME;
	luajit_returns(walk);
	walk.registers[UNWIND_SP] = LUA_FRAME + 8; /* above it */
	ends(walk, WIRE_END_JIT);
	/* Not the innermost one of its state, but the one before. */
	walk = in_trace();
	stack[26] = STACK;
	stack[4] = LUA_FRAME;
	luajit_returns(walk);
	stack[4] = LUA_FRAME + 16;
	ends(walk, WIRE_END_JIT);
	stack[4] = 0;
	ends(walk, WIRE_END_JIT);
	stack[4] = STACK; /* for ever */
	ends(walk, WIRE_END_JIT);
	walk = in_trace();
	stack[8] = LUA_STATE + 4;
	ends(walk, WIRE_END_JIT);
	walk = in_trace();
	stack[26] = LUA_FRAME + 16;
	ends(walk, WIRE_END_JIT);
}

static void the_cfa_above_the_frame_of_luajit(void **state)
{
	struct unwind_walk walk = BY(.cfa = WIRE_CFA_LUAJIT, .cfa_offset = 80);

	(void)state;
	ends(walk, WIRE_END_CFA);
	stack[8] = LUA_STATE;
	stack[26] = LUA_FRAME;
	leads_to(&walk, 15);
}

/* sub $8,%rsp; call *%rcx; add $8,%rsp; ret: CPython's trampoline, with what follows it. */
static const uint8_t trampoline[] = { 0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48, 0x83,
				      0xc4, 0x08, 0xc3, 0x48, 0x83, 0xec, 0x08, 0xff };

/* A walk that is so many bytes into the trampoline. */
static struct unwind_walk in_trampoline(uint32_t at, uint32_t exact)
{
	struct unwind_walk walk = chained();

	code_at = trampoline + at;
	code_left = (uint32_t)sizeof(trampoline) - at;
	walk.exact = exact;
	walk.registers[UNWIND_FP] = 0xdead; /* which is no frame pointer */
	return walk;
}

static void generated_code_that_returns(void **state)
{
	static const struct {
		uint32_t at, exact, above; /* words below the return address */
	} cases[] = { { 6, 0, 1 }, { 6, 1, 1 }, { 10, 1, 0 }, { 4, 1, 1 }, { 0, 1, 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct unwind_walk walk = in_trampoline(cases[i].at, cases[i].exact);

		assert_int_equal(unwind_step(&walk), WIRE_END_NONE);
		assert_int_equal(walk.pc, stack[cases[i].above]);
		assert_int_equal(walk.registers[UNWIND_SP], STACK + 8 * (cases[i].above + 1));
		assert_int_equal(walk.registers[UNWIND_FP], 0xdead);
		assert_true(walk.known & UNWIND_BIT(UNWIND_FP));
		assert_true(walk.known & UNWIND_BIT(UNWIND_FOLLOWED));
		assert_int_equal(walk.exact, 0);
		assert_int_equal(walk.by_chain, 0);
		assert_true(walk.callee_owner != 0 && walk.callee_owner != OWNER);
	}
	/* A return address is after a call, and only what follows there runs. */
	for (uint32_t at = 0; at < 11; at++) {
		struct unwind_walk walk = in_trampoline(at, 0);

		if (at != 6)
			ends(walk, WIRE_END_JIT);
	}
	/* One byte that differs is other code. */
	for (uint32_t at = 0; at < 11; at++) {
		uint8_t other[sizeof(trampoline)];
		struct unwind_walk walk = in_trampoline(0, 1);

		memcpy(other, trampoline, sizeof(other));
		other[at] ^= 1;
		code_at = other;
		ends(walk, WIRE_END_JIT);
		if (at < 6)
			continue;
		code_at = other + 6;
		code_left = sizeof(other) - 6;
		walk.exact = 0;
		ends(walk, WIRE_END_JIT);
	}
	/* Only if allowed, and only if the code can be read. */
	for (int i = 0; i < 2; i++) {
		struct unwind_walk walk = in_trampoline(6, 0);

		if (i == 0)
			walk.may_chain = 0;
		else
			code_left = 4;
		ends(walk, i ? WIRE_END_JIT : WIRE_END_NO_CFI);
	}
	/* The last one in its page. */
	for (uint32_t left = 8; left <= 11; left += 3) {
		struct unwind_walk walk = in_trampoline(0, 1);

		code_left = left;
		the_rule.layout = 0;
		if (left == 11) {
			assert_int_equal(unwind_step(&walk), WIRE_END_NONE);
			assert_int_equal(walk.pc, stack[0]);
			continue;
		}
		ends(walk, WIRE_END_JIT);
		assert_int_equal(the_rule.layout, 0);
	}
	code_left = 0;
}

/* The innermost frame is at these bytes; 0xdead is no frame pointer. */
static struct unwind_walk in_code(const uint8_t *code, uint32_t size)
{
	struct unwind_walk walk = chained();

	code_at = code;
	code_left = size;
	walk.exact = 1;
	walk.registers[UNWIND_FP] = 0xdead;
	return walk;
}

static void generated_code_that_makes_its_frame(void **state)
{
	/* V8 looks at the function's state first: mov -0x30(%rcx),%rbx; testb $1,0xf(%rbx); jne */
	uint8_t entered[] = { 0x48, 0x8b, 0x59, 0xd0, 0xf6, 0x43, 0x0f, 0x01,
			      0x75, 0x10, 0x55, 0x48, 0x89, 0xe5, 0x90, 0x90 };
	static const uint8_t pushed[] = { 0x48, 0x89, 0xe5, 0x90, 0x90, 0x90, 0x90, 0x90,
					  0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90 };
	/* None of these leads to the bytes behind it. */
	static const uint8_t ends_with[][2] = { { 0xc3 },	{ 0xc9 },	{ 0xcc },
						{ 0xe8 },	{ 0xe9 },	{ 0xeb },
						{ 0xf4 },	{ 0x5d },	{ 0xc2, 0x08 },
						{ 0x0f, 0x0b }, { 0xff, 0xe0 }, { 0xff, 0x25 } };
	struct unwind_walk walk = in_code(entered, sizeof(entered));

	(void)state;
	assert_int_equal(unwind_step(&walk), WIRE_END_NONE);
	assert_int_equal(walk.pc, stack[0]);
	assert_int_equal(walk.registers[UNWIND_FP], 0xdead);
	/* A return address before such code belongs to a function that ends there. */
	walk = in_code(entered, sizeof(entered));
	walk.exact = 0;
	ends(walk, WIRE_END_JIT);
	walk = in_code(pushed, sizeof(pushed));
	assert_int_equal(unwind_step(&walk), WIRE_END_NONE);
	assert_int_equal(walk.pc, stack[1]);
	for (size_t i = 0; i < sizeof(ends_with) / sizeof(ends_with[0]); i++) {
		memset(entered, 0x90, 10);
		memcpy(entered + 4, ends_with[i], 2);
		if (!ends_with[i][1])
			entered[5] = 0x90;
		ends(in_code(entered, sizeof(entered)), WIRE_END_JIT);
	}
	code_left = 0;
}

/* Erlang's functions, at the instructions at which they have no frame. */
static void generated_code_of_erlang(void **state)
{
	/* jmp over a trap; push %rbp; mov %rsp,%rbp */
	static const uint8_t begins[16] = { 0xeb, 0x06, 0x90, 0xe8, 1,	  2,	3,    4,
					    0x55, 0x48, 0x89, 0xe5, 0x90, 0x90, 0x90, 0x90 };
	/* after leave: dec %r14; jl; ret */
	static const uint8_t leaves[16] = { 0x49, 0xff, 0xce, 0x0f, 0x8c, 1, 2, 3, 4, 0xc3 };
	static const uint8_t short_leaves[16] = { 0x41, 0xff, 0xce, 0x0f, 0x8c, 1, 2, 3, 4, 0xc3 };
	/* jmp over three bytes to what begins a function, or not */
	uint8_t goes_on[8 + sizeof(begins)] = { 0xe9, 3 };
	/* leave; jmp *(%rax,%r12,8) */
	static const uint8_t by_table[24] = { 0xc9, 0x42, 0xff, 0x24, 0xe0 };
	static const struct {
		const uint8_t *code;
		uint32_t at;
		bool returns;
	} cases[] = { { begins, 0, true },
		      { leaves, 0, true },
		      { leaves, 3, true },
		      { short_leaves, 0, true },
		      { leaves, 1, false } };
	struct unwind_walk walk;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint8_t code[16] = { 0 };

		memcpy(code, cases[i].code + cases[i].at, sizeof(code) - cases[i].at);
		walk = in_code(code, sizeof(code));
		if (!cases[i].returns) {
			ends(walk, WIRE_END_JIT);
			continue;
		}
		assert_int_equal(unwind_step(&walk), WIRE_END_NONE);
		assert_int_equal(walk.pc, stack[0]);
		assert_int_equal(walk.registers[UNWIND_FP], 0xdead);
		/* The same bytes after a call are of a function that goes on. */
		walk = in_code(code, sizeof(code));
		walk.exact = 0;
		ends(walk, WIRE_END_JIT);
	}
	for (size_t i = 0; i < sizeof(begins); i++) {
		uint8_t code[sizeof(begins)];

		memcpy(code, begins, sizeof(code));
		code[i] ^= 8;
		if (i < 2 || (i >= 8 && i < 12))
			ends(in_code(code, sizeof(code)), WIRE_END_JIT);
	}
	memcpy(goes_on + 8, begins, sizeof(begins));
	walk = in_code(goes_on, sizeof(goes_on));
	assert_int_equal(unwind_step(&walk), WIRE_END_NONE);
	assert_int_equal(walk.pc, stack[0]);
	goes_on[16] = 0x90;
	ends(in_code(goes_on, sizeof(goes_on)), WIRE_END_JIT);
	walk = in_code(by_table, sizeof(by_table));
	walk.pc++;
	assert_int_equal(unwind_step(&walk), WIRE_END_NONE);
	assert_int_equal(walk.pc, stack[0]);
	/* Without leave before it, the jump may be within a function. */
	ends(in_code(by_table + 1, sizeof(by_table) - 1), WIRE_END_JIT);
	code_left = 0;
}

static void code_that_keeps_frame_pointers_is_read_once(void **state)
{
	struct unwind_walk walk = chained();

	(void)state;
	/* Code that could not be read is read again. */
	assert_int_equal(unwind_step(&walk), WIRE_END_NONE);
	assert_int_equal(the_rule.layout, 0);
	walk = in_trampoline(0, 0);
	walk.registers[UNWIND_FP] = chained().registers[UNWIND_FP];
	the_rule.layout = 0;
	assert_int_equal(unwind_step(&walk), WIRE_END_NONE);
	assert_int_equal(walk.pc, stack[9]);
	assert_int_equal(the_rule.layout, 5);
	/* The result is kept for that address, and for no other. */
	for (int other = 0; other < 2; other++) {
		struct unwind_cached_rule kept = the_rule;

		walk = in_trampoline(6, 0);
		walk.pc += (uint64_t)other;
		code_at -= other;
		code_left += (uint32_t)other;
		the_rule = kept;
		walk.registers[UNWIND_FP] = chained().registers[UNWIND_FP];
		the_rule = kept;
		assert_int_equal(unwind_step(&walk), WIRE_END_NONE);
		assert_int_equal(walk.pc, stack[other ? 1 : 9]);
		assert_int_equal(walk.by_chain, !other);
		the_rule = kept;
	}
	code_left = 0;
}

static void mappings_of_each_kind(void **state)
{
	static const uint32_t kinds[] = {
		[WIRE_MAPPING_PENDING] = WIRE_END_PENDING,
		[WIRE_MAPPING_NO_CFI] = WIRE_END_NO_CFI,
		[WIRE_MAPPING_SPECIAL] = WIRE_END_SPECIAL,
		[WIRE_MAPPING_EVICTED] = WIRE_END_EVICTED,
		[WIRE_MAPPING_BROKEN] = WIRE_END_BROKEN,
		[WIRE_MAPPING_TIME_USED_UP] = WIRE_END_TIME_USED_UP,
		[WIRE_MAPPING_NOT_OPENED] = WIRE_END_NOT_OPENED,
	};

	(void)state;
	for (uint32_t kind = 0; kind < sizeof(kinds) / sizeof(*kinds); kind++) {
		struct unwind_walk walk = chained();

		walk.root = WIRE_MAPPING(0, kind);
		if (kinds[kind])
			ends(walk, kinds[kind]);
	}
	/* Outside of the last mapping the process is looked up, which is unknown here. */
	for (int beyond = 0; beyond < 2; beyond++) {
		struct unwind_walk walk = chained();

		walk.pc = beyond ? walk.end - 1 : walk.start;
		assert_int_equal(unwind_step(&walk), WIRE_END_NONE);
		walk = chained();
		walk.pc = beyond ? walk.end : walk.start - 1;
		ends(walk, WIRE_END_NO_PROCESS);
	}
}

static void cached_rules_hold_for_their_span(void **state)
{
	struct unwind_walk walk = BY(.cfa = WIRE_CFA_SP, .cfa_offset = 8);

	(void)state;
	/* Return addresses are looked up by the byte before. */
	the_rule.span = (CODE + 0x10) | 1ull << UNWIND_SPAN_BITS;
	walk.root = WIRE_MAPPING(0, WIRE_MAPPING_PENDING);
	for (uint64_t at = 0xf; at <= 0x13; at++) {
		for (uint32_t exact = 0; exact < 2; exact++) {
			uint64_t asked = at - !exact;

			walk.pc = CODE + at;
			walk.exact = exact;
			ends(walk,
			     asked == 0x10 || asked == 0x11 ? WIRE_END_NONE : WIRE_END_PENDING);
		}
	}
	walk.pc = CODE + 0x10;
	walk.exact = 1;
	walk.layout = 6;
	ends(walk, WIRE_END_PENDING);
	the_rule.layout = 0;
	walk.layout = 0;
	ends(walk, WIRE_END_PENDING);
	none_cached = true;
	ends(walk, WIRE_END_STALE);
}

/* A row holds within its block of code, its mapping, and its own bytes, whichever ends first. */
static void spans_end_with_the_row_the_block_or_the_mapping(void **state)
{
	struct unwind_walk walk = { .start = CODE + 0x88, .end = CODE + 0x478 };
	const uint32_t most = UNWIND_CACHE_BLOCK - 1;
	const struct {
		uint64_t address;
		uint32_t before, after;
		uint64_t first, last;
	} examples[] = {
		{ CODE + 0x210, 8, 16, CODE + 0x208, CODE + 0x220 },
		{ CODE + 0x210, most, most, CODE + 0x200, CODE + 0x200 + most },
		{ CODE + 0x200, most, 0, CODE + 0x200, CODE + 0x200 },
		{ CODE + 0x2ff, 0, most, CODE + 0x2ff, CODE + 0x2ff },
		{ CODE + 0x90, most, 1, CODE + 0x88, CODE + 0x91 },
		{ CODE + 0x88, most, 1, CODE + 0x88, CODE + 0x89 },
		{ CODE + 0x470, 1, most, CODE + 0x46f, CODE + 0x477 },
		{ CODE + 0x477, 0, most, CODE + 0x477, CODE + 0x477 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(*examples); i++) {
		const struct unwind_found_row row = { .before = examples[i].before,
						      .after = examples[i].after };
		uint64_t span = unwind_span(&walk, examples[i].address, &row);

		assert_int_equal(span & ((1ull << UNWIND_SPAN_BITS) - 1), examples[i].first);
		assert_int_equal(span >> UNWIND_SPAN_BITS, examples[i].last - examples[i].first);
		assert_true(unwind_in_span(span, examples[i].first));
		assert_true(unwind_in_span(span, examples[i].last));
		assert_false(unwind_in_span(span, examples[i].first - 1));
		assert_false(unwind_in_span(span, examples[i].last + 1));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_cfa_from_the_stack_pointer),
		cmocka_unit_test(the_cfa_from_other_registers),
		cmocka_unit_test(registers_of_callers),
		cmocka_unit_test(the_cfa_in_a_plt),
		cmocka_unit_test(the_cfa_in_memory),
		cmocka_unit_test(the_return_address_elsewhere),
		cmocka_unit_test(where_stacks_end),
		cmocka_unit_test(signal_frames),
		cmocka_unit_test(vsyscalls),
		cmocka_unit_test(interrupted_frames),
		cmocka_unit_test(walks_go_towards_the_root),
		cmocka_unit_test(return_addresses_are_of_user_code),
		cmocka_unit_test(the_callers_frame_pointer),
		cmocka_unit_test(usual_steps_are_steps),
		cmocka_unit_test(usual_steps_are_taken),
		cmocka_unit_test(rbx_is_followed),
		cmocka_unit_test(generated_code),
		cmocka_unit_test(generated_code_of_luajit),
		cmocka_unit_test(the_cfa_above_the_frame_of_luajit),
		cmocka_unit_test(generated_code_that_returns),
		cmocka_unit_test(generated_code_that_makes_its_frame),
		cmocka_unit_test(generated_code_of_erlang),
		cmocka_unit_test(code_that_keeps_frame_pointers_is_read_once),
		cmocka_unit_test(mappings_of_each_kind),
		cmocka_unit_test(cached_rules_hold_for_their_span),
		cmocka_unit_test(spans_end_with_the_row_the_block_or_the_mapping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
