// SPDX-License-Identifier: GPL-2.0-or-later
/* What is taken out of BPF programs before they are loaded, and that they do the same afterwards.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "loader/dead_code.h"

#define MAP 7

#define INSTRUCTION(c, d, s, o, i)                                                                 \
	((struct bpf_insn){ .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) })
#define MOVE(to, n) INSTRUCTION(BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, n)
#define ADD(to, n)  INSTRUCTION(BPF_ALU64 | BPF_ADD | BPF_K, to, 0, 0, n)
#define PLACE(to, offset)                                                                          \
	INSTRUCTION(BPF_LD | BPF_IMM | BPF_DW, to, BPF_PSEUDO_MAP_VALUE, 0, MAP),                  \
		INSTRUCTION(0, 0, 0, 0, offset)
#define LOAD(to, from, off)  INSTRUCTION(BPF_LDX | BPF_MEM | BPF_W, to, from, off, 0)
#define IF_EQUAL(r, n, over) INSTRUCTION(BPF_JMP | BPF_JEQ | BPF_K, r, 0, over, n)
#define JUMP(over)	     INSTRUCTION(BPF_JMP | BPF_JA, 0, 0, over, 0)
#define CALL(over)	     INSTRUCTION(BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, over)
#define HELPER(n)	     INSTRUCTION(BPF_JMP | BPF_CALL, 0, 0, 0, n)
#define EXIT		     INSTRUCTION(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

/* The words of the map: 0, 1, 2, ... */
static bool read_words(void *context, int32_t map, uint32_t offset, uint32_t size,
		       uint64_t *ret_number)
{
	(void)context;
	if (map != MAP || size != 4 || offset % 4 || offset >= 64)
		return false;
	*ret_number = offset / 4;
	return true;
}

static const struct dead_code_constants words = { .read = read_words };

static bool read_nothing(void *context, int32_t map, uint32_t offset, uint32_t size,
			 uint64_t *ret_number)
{
	(void)context, (void)map, (void)offset, (void)size, (void)ret_number;
	return false;
}

static const struct dead_code_constants none = { .read = read_nothing };

#define N_OF(array) (uint32_t)(sizeof(array) / sizeof((array)[0]))

/* Takes dead code out of `before`, and expects `after`. */
static void expect(const struct bpf_insn *before, uint32_t n, const struct bpf_insn *after,
		   uint32_t n_after)
{
	struct bpf_insn code[64];
	struct dead_code_program program = { .instructions = code, .n = n };

	memcpy(code, before, n * sizeof(*before));
	assert_int_equal(dead_code_remove(&program, &words), 0);
	assert_int_equal(program.n, n_after);
	assert_memory_equal(code, after, n_after * sizeof(*after));
}

static void test_branch_that_a_constant_decides(void **state)
{
	const struct bpf_insn before[] = {
		PLACE(1, 12), LOAD(2, 1, 8), IF_EQUAL(2, 5, 2), MOVE(0, 1), EXIT, MOVE(0, 2), EXIT,
	};
	const struct bpf_insn after[] = { PLACE(1, 12), LOAD(2, 1, 8), MOVE(0, 2), EXIT };
	const struct bpf_insn other[] = {
		PLACE(1, 12), LOAD(2, 1, 8), IF_EQUAL(2, 6, 2), MOVE(0, 1), EXIT, MOVE(0, 2), EXIT,
	};
	const struct bpf_insn after_other[] = { PLACE(1, 12), LOAD(2, 1, 8), MOVE(0, 1), EXIT };

	(void)state;
	expect(before, N_OF(before), after, N_OF(after));
	expect(other, N_OF(other), after_other, N_OF(after_other));
}

/* What a path leaves open stays, and jumps over what was taken out are shorter. */
static void test_jumps_over_what_is_gone(void **state)
{
	const struct bpf_insn before[] = {
		IF_EQUAL(1, 3, 4), MOVE(2, 1), IF_EQUAL(2, 0, 1), JUMP(1), MOVE(0, 9),
		MOVE(0, 8),	   EXIT,
	};
	const struct bpf_insn after[] = { IF_EQUAL(1, 3, 1), MOVE(2, 1), MOVE(0, 8), EXIT };

	(void)state;
	expect(before, N_OF(before), after, N_OF(after));
}

/* A value that two paths bring is not known, nor one that a helper may have changed. */
static void test_what_is_not_known(void **state)
{
	const struct bpf_insn two_paths[] = {
		MOVE(2, 1), IF_EQUAL(1, 3, 1), MOVE(2, 2), IF_EQUAL(2, 1, 1), MOVE(0, 0), EXIT,
	};
	const struct bpf_insn helper[] = {
		MOVE(2, 1), HELPER(5), IF_EQUAL(2, 1, 1), MOVE(0, 0), EXIT,
	};
	/* The second turn of the loop brings another value. */
	const struct bpf_insn loop[] = {
		MOVE(2, 0), IF_EQUAL(2, 3, 2), ADD(2, 1), JUMP(-3), MOVE(0, 0), EXIT,
	};
	const struct bpf_insn changes[] = {
		INSTRUCTION(BPF_LD | BPF_IMM | BPF_DW, 1, BPF_PSEUDO_MAP_VALUE, 0, MAP + 1),
		INSTRUCTION(0, 0, 0, 0, 0),
		LOAD(2, 1, 0),
		IF_EQUAL(2, 0, 1),
		MOVE(0, 0),
		EXIT,
	};

	(void)state;
	expect(two_paths, N_OF(two_paths), two_paths, N_OF(two_paths));
	expect(helper, N_OF(helper), helper, N_OF(helper));
	expect(loop, N_OF(loop), loop, N_OF(loop));
	expect(changes, N_OF(changes), changes, N_OF(changes));
}

static void test_functions_that_nothing_calls(void **state)
{
	struct bpf_insn code[] = {
		MOVE(2, 0), IF_EQUAL(2, 0, 1),
		CALL(3),    CALL(4),
		MOVE(0, 0), EXIT, /* the entry */
		MOVE(0, 1), EXIT, /* called by what is dead */
		MOVE(0, 2), EXIT, /* called */
	};
	const struct bpf_insn after[] = { MOVE(2, 0), CALL(2), MOVE(0, 0), EXIT, MOVE(0, 2), EXIT };
	struct bpf_func_info functions[] = { { 0, 11 }, { 6, 12 }, { 8, 13 } };
	struct dead_code_program program = { .instructions = code,
					     .n = N_OF(code),
					     .functions = functions,
					     .function_size = sizeof(functions[0]),
					     .n_functions = 3 };

	(void)state;
	assert_int_equal(dead_code_remove(&program, &none), 0);
	assert_int_equal(program.n, N_OF(after));
	assert_memory_equal(code, after, sizeof(after));
	assert_int_equal(program.n_functions, 2);
	assert_int_equal(functions[1].insn_off, 4);
	assert_int_equal(functions[1].type_id, 13);
}

static void test_what_is_not_understood(void **state)
{
	const struct bpf_insn wrong[][3] = {
		{ MOVE(0, 0), JUMP(7), EXIT },
		{ MOVE(0, 0), CALL(-9), EXIT },
		{ MOVE(0, 0), EXIT, MOVE(0, 0) }, /* its end is not an exit */
		{ MOVE(11, 0), MOVE(0, 0), EXIT },
		{ INSTRUCTION(BPF_LD | BPF_ABS | BPF_W, 0, 0, 0, 0), MOVE(0, 0), EXIT },
		{ INSTRUCTION(BPF_JMP32 | BPF_JA, 0, 0, 0, 1), MOVE(0, 0), EXIT },
		{ MOVE(0, 0), EXIT, INSTRUCTION(BPF_LD | BPF_IMM | BPF_DW, 0, 0, 0, 0) },
	};

	(void)state;
	for (uint32_t i = 0; i < N_OF(wrong); i++) {
		struct bpf_insn code[3];
		struct dead_code_program program = { .instructions = code, .n = 3 };

		memcpy(code, wrong[i], sizeof(code));
		assert_int_equal(dead_code_remove(&program, &words), -EINVAL);
		assert_memory_equal(code, wrong[i], sizeof(code));
	}
}

/* ---- programs made by chance ---- */

#define MADE 40

static uint32_t chance(uint64_t *seed, uint32_t below)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(*seed >> 33) % below;
}

static const uint8_t operations[] = { BPF_MOV, BPF_ADD, BPF_SUB, BPF_MUL, BPF_OR,
				      BPF_AND, BPF_XOR, BPF_LSH, BPF_RSH, BPF_ARSH };
static const uint8_t comparisons[] = { BPF_JEQ,	 BPF_JNE,  BPF_JGT,  BPF_JGE,  BPF_JLT, BPF_JLE,
				       BPF_JSGT, BPF_JSGE, BPF_JSLT, BPF_JSLE, BPF_JSET };

/* Jumps lead on only, so that the program ends; the last instruction is an exit. */
static struct bpf_insn any(uint64_t *seed, uint32_t i)
{
	static const int32_t few[] = { 0, 1, 2, 3, -1, -2, 31, 63 };
	uint8_t source = chance(seed, 3) ? BPF_K : BPF_X, wide = chance(seed, 3) ? 4 : 0;
	uint8_t to = (uint8_t)chance(seed, 5), from = (uint8_t)chance(seed, 5);
	int32_t n = source == BPF_X ? 0 : few[chance(seed, N_OF(few))];

	if (chance(seed, 3))
		return INSTRUCTION((wide ? BPF_ALU64 : BPF_ALU) | source |
					   operations[chance(seed, N_OF(operations))],
				   to, source == BPF_X ? from : 0, 0, n);
	return INSTRUCTION((wide ? BPF_JMP : BPF_JMP32) | source |
				   comparisons[chance(seed, N_OF(comparisons))],
			   to, source == BPF_X ? from : 0, (int16_t)chance(seed, MADE - i - 1), n);
}

static uint64_t shifted(uint8_t op, uint64_t a, uint32_t by, bool wide)
{
	if (op == BPF_LSH)
		return a << by;
	if (op == BPF_RSH)
		return (wide ? a : (uint32_t)a) >> by;
	return wide ? (uint64_t)((int64_t)a >> by) : (uint64_t)((int32_t)a >> by);
}

static uint64_t result(uint8_t op, uint64_t a, uint64_t b, bool wide)
{
	uint64_t r;

	switch (op) {
	case BPF_MOV:
		r = b;
		break;
	case BPF_ADD:
		r = a + b;
		break;
	case BPF_SUB:
		r = a - b;
		break;
	case BPF_MUL:
		r = a * b;
		break;
	case BPF_OR:
		r = a | b;
		break;
	case BPF_AND:
		r = a & b;
		break;
	case BPF_XOR:
		r = a ^ b;
		break;
	default:
		r = shifted(op, a, b & (wide ? 63 : 31), wide);
	}
	return wide ? r : (uint32_t)r;
}

static bool holds(uint8_t op, uint64_t a, uint64_t b, bool wide)
{
	int64_t x = wide ? (int64_t)a : (int32_t)a, y = wide ? (int64_t)b : (int32_t)b;

	a = wide ? a : (uint32_t)a;
	b = wide ? b : (uint32_t)b;
	switch (op) {
	case BPF_JEQ:
		return a == b;
	case BPF_JNE:
		return a != b;
	case BPF_JGT:
		return a > b;
	case BPF_JGE:
		return a >= b;
	case BPF_JLT:
		return a < b;
	case BPF_JLE:
		return a <= b;
	case BPF_JSGT:
		return x > y;
	case BPF_JSGE:
		return x >= y;
	case BPF_JSLT:
		return x < y;
	case BPF_JSLE:
		return x <= y;
	default:
		return a & b;
	}
}

/* What a program does with registers: r0 to r4 at its exit, mixed. */
static uint64_t run(const struct bpf_insn *code, uint32_t n, uint64_t seed)
{
	uint64_t r[11] = { 0 }, mixed = 0;

	r[1] = chance(&seed, 4);
	r[3] = seed;
	for (uint32_t i = 0; i < n; i++) {
		const struct bpf_insn *instruction = &code[i];
		uint8_t class = BPF_CLASS(instruction->code), op = BPF_OP(instruction->code);
		bool wide = class == BPF_ALU64 || class == BPF_JMP;
		uint64_t b = BPF_SRC(instruction->code) == BPF_X
				     ? r[instruction->src_reg]
				     : (uint64_t)(int64_t)instruction->imm;

		if (instruction->code == (BPF_JMP | BPF_EXIT))
			break;
		if (instruction->code == (BPF_JMP | BPF_JA))
			i += (uint32_t)instruction->off;
		else if (class == BPF_ALU || class == BPF_ALU64)
			r[instruction->dst_reg] = result(op, r[instruction->dst_reg], b, wide);
		else if (holds(op, r[instruction->dst_reg], b, wide))
			i += (uint32_t)instruction->off;
	}
	for (uint32_t i = 0; i < 5; i++)
		mixed = (mixed ^ r[i]) * 0x9fb21c651e98df25ull;
	return mixed;
}

static void test_programs_do_the_same(void **state)
{
	uint64_t seed = 20261127;
	uint32_t shorter = 0;

	(void)state;
	for (uint32_t made = 0; made < 20000; made++) {
		struct bpf_insn code[MADE], before[MADE];
		struct dead_code_program program = { .instructions = code, .n = MADE };

		for (uint32_t i = 0; i < MADE - 1; i++)
			code[i] = i == 0 ? MOVE(2, 1) : i == 1 ? MOVE(0, 0) : any(&seed, i);
		code[MADE - 1] = EXIT;
		memcpy(before, code, sizeof(code));
		assert_int_equal(dead_code_remove(&program, &none), 0);
		assert_true(program.n > 0 && code[program.n - 1].code == (BPF_JMP | BPF_EXIT));
		shorter += program.n < MADE;
		for (uint64_t input = 0; input < 20; input++)
			assert_int_equal(run(code, program.n, input), run(before, MADE, input));
	}
	assert_true(shorter > 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_branch_that_a_constant_decides),
		cmocka_unit_test(test_jumps_over_what_is_gone),
		cmocka_unit_test(test_what_is_not_known),
		cmocka_unit_test(test_functions_that_nothing_calls),
		cmocka_unit_test(test_what_is_not_understood),
		cmocka_unit_test(test_programs_do_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
