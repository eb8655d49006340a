// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Constants are followed from where they are loaded through registers to branches, on the paths
 * that they leave open; what stands on no such path is dead. Registers only: clang keeps what it
 * has just loaded there, and each look at the configuration loads it again.
 */
#include "loader/dead_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"

#define N_REGISTERS 11

enum known {
	NOT_REACHED, /* by no path so far */
	KNOWN_NUMBER,
	KNOWN_PLACE, /* the address of a byte of a map's value */
	NOT_KNOWN,
};

struct value {
	uint64_t number; /* or the offset of the place, ... */
	int32_t map;	 /* ... and its map */
	enum known known;
};

struct registers {
	struct value of[N_REGISTERS];
};

/* Which ways a path leads on from an instruction. */
enum way {
	WAY_ON = 1 << 0,
	WAY_JUMP = 1 << 1,
};

struct follow {
	const struct bpf_insn *instructions;
	uint32_t n;
	const struct dead_code_constants *constants;
	uint8_t *ways; /* of each instruction, enum way; 0: it is not reached */
	uint32_t *
		places; /* of each instruction, from 1: its place in `at`; 0: no jump leads there */
	struct registers *at; /* before an instruction that jumps lead to */
	uint32_t *waiting;    /* instructions to go on from, each once */
	bool *waits;
	uint32_t n_waiting;
};

static void follow_clear(struct follow *follow)
{
	free(follow->ways);
	free(follow->places);
	free(follow->at);
	free(follow->waiting);
	free(follow->waits);
}

static bool is_jump(const struct bpf_insn *instruction)
{
	uint8_t class = BPF_CLASS(instruction->code), op = BPF_OP(instruction->code);

	return class == BPF_JMP32 || (class == BPF_JMP && op != BPF_CALL && op != BPF_EXIT);
}

static bool is_always(const struct bpf_insn *instruction)
{
	return instruction->code == (BPF_JMP | BPF_JA);
}

static bool is_wide(const struct bpf_insn *instruction)
{
	return instruction->code == (BPF_LD | BPF_IMM | BPF_DW);
}

/* Whether it has the distance to a function in `imm`. */
static bool is_of_function(const struct bpf_insn *instruction)
{
	return (instruction->code == (BPF_JMP | BPF_CALL) &&
		instruction->src_reg == BPF_PSEUDO_CALL) ||
	       (is_wide(instruction) && instruction->src_reg == BPF_PSEUDO_FUNC);
}

/* The instruction that one at `i` leads to, if it jumps or has a function. */
static int64_t target_of(const struct bpf_insn *instructions, uint32_t i)
{
	return (int64_t)i + 1 +
	       (is_jump(&instructions[i]) ? instructions[i].off : instructions[i].imm);
}

/* ---- what instructions do to registers ---- */

static const struct value not_known = { .known = NOT_KNOWN };

static struct value number(uint64_t n)
{
	return (struct value){ .number = n, .known = KNOWN_NUMBER };
}

static bool is_same(const struct value *a, const struct value *b)
{
	return a->known == b->known && a->number == b->number && a->map == b->map;
}

/* The second operand of a jump or of arithmetic. */
static struct value operand(const struct registers *registers, const struct bpf_insn *instruction)
{
	if (BPF_SRC(instruction->code) == BPF_X)
		return registers->of[instruction->src_reg];
	return number((uint64_t)(int64_t)instruction->imm);
}

/* False: not an operation whose result is known here. */
static bool calculate(uint8_t op, uint64_t a, uint64_t b, uint32_t bits, uint64_t *ret_number)
{
	uint32_t shift = b & (bits - 1);
	bool is_64 = bits == 64;

	switch (op) {
	case BPF_ADD:
		*ret_number = a + b;
		break;
	case BPF_SUB:
		*ret_number = a - b;
		break;
	case BPF_MUL:
		*ret_number = a * b;
		break;
	case BPF_OR:
		*ret_number = a | b;
		break;
	case BPF_AND:
		*ret_number = a & b;
		break;
	case BPF_XOR:
		*ret_number = a ^ b;
		break;
	case BPF_MOV:
		*ret_number = b;
		break;
	case BPF_LSH:
		*ret_number = a << shift;
		break;
	case BPF_RSH:
		*ret_number = (is_64 ? a : (uint32_t)a) >> shift;
		break;
	case BPF_ARSH:
		*ret_number =
			is_64 ? (uint64_t)((int64_t)a >> shift) : (uint64_t)((int32_t)a >> shift);
		break;
	default:
		return false;
	}
	if (!is_64)
		*ret_number = (uint32_t)*ret_number;
	return true;
}

static void do_arithmetic(struct registers *registers, const struct bpf_insn *instruction)
{
	struct value *to = &registers->of[instruction->dst_reg];
	struct value other = operand(registers, instruction);
	uint8_t op = BPF_OP(instruction->code);
	bool is_64 = BPF_CLASS(instruction->code) == BPF_ALU64;
	uint64_t n;

	/* Moves that extend a sign, and divisions with one, have an offset. */
	if (instruction->off)
		*to = not_known;
	else if (op == BPF_MOV && is_64)
		*to = other;
	else if (op == BPF_ADD && is_64 && to->known == KNOWN_PLACE && other.known == KNOWN_NUMBER)
		to->number += other.number;
	else if (other.known == KNOWN_NUMBER && (op == BPF_MOV || to->known == KNOWN_NUMBER) &&
		 calculate(op, to->number, other.number, is_64 ? 64 : 32, &n))
		*to = number(n);
	else
		*to = not_known;
}

static uint32_t size_of(const struct bpf_insn *instruction)
{
	switch (BPF_SIZE(instruction->code)) {
	case BPF_B:
		return 1;
	case BPF_H:
		return 2;
	case BPF_W:
		return 4;
	default:
		return 8;
	}
}

static void do_load(const struct follow *follow, struct registers *registers,
		    const struct bpf_insn *instruction)
{
	const struct value from = registers->of[instruction->src_reg];
	uint64_t at = from.number + (uint64_t)(int64_t)instruction->off, n;

	registers->of[instruction->dst_reg] =
		BPF_MODE(instruction->code) == BPF_MEM && from.known == KNOWN_PLACE &&
				at <= UINT32_MAX &&
				follow->constants->read(follow->constants->context, from.map,
							(uint32_t)at, size_of(instruction), &n)
			? number(n)
			: not_known;
}

static void do_wide(struct registers *registers, const struct bpf_insn *instruction)
{
	struct value *to = &registers->of[instruction->dst_reg];
	uint32_t high = (uint32_t)instruction[1].imm;

	*to = not_known;
	if (instruction->src_reg == 0)
		*to = number((uint64_t)high << 32 | (uint32_t)instruction->imm);
	else if (instruction->src_reg == BPF_PSEUDO_MAP_VALUE)
		*to = (struct value){ .number = high,
				      .map = instruction->imm,
				      .known = KNOWN_PLACE };
}

static void do_store(struct registers *registers, const struct bpf_insn *instruction)
{
	if (BPF_CLASS(instruction->code) != BPF_STX || BPF_MODE(instruction->code) != BPF_ATOMIC)
		return;
	/* Some return what was there before, some load. */
	registers->of[instruction->src_reg] = not_known;
	registers->of[instruction->dst_reg] = not_known;
	registers->of[BPF_REG_0] = not_known;
}

static void do_call(struct registers *registers)
{
	for (uint32_t i = BPF_REG_0; i <= BPF_REG_5; i++)
		registers->of[i] = not_known;
}

static bool compares(uint8_t op, uint64_t a, uint64_t b, int64_t signed_a, int64_t signed_b)
{
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
		return signed_a > signed_b;
	case BPF_JSGE:
		return signed_a >= signed_b;
	case BPF_JSLT:
		return signed_a < signed_b;
	case BPF_JSLE:
		return signed_a <= signed_b;
	default:
		return a & b;
	}
}

static uint8_t ways_of_jump(const struct registers *registers, const struct bpf_insn *instruction)
{
	struct value a = registers->of[instruction->dst_reg], b = operand(registers, instruction);
	uint8_t op = BPF_OP(instruction->code);
	bool holds;

	if (is_always(instruction))
		return WAY_JUMP;
	if (a.known != KNOWN_NUMBER || b.known != KNOWN_NUMBER)
		return WAY_ON | WAY_JUMP;
	if (BPF_CLASS(instruction->code) == BPF_JMP32)
		holds = compares(op, (uint32_t)a.number, (uint32_t)b.number, (int32_t)a.number,
				 (int32_t)b.number);
	else
		holds = compares(op, a.number, b.number, (int64_t)a.number, (int64_t)b.number);
	return holds ? WAY_JUMP : WAY_ON;
}

/* ---- paths ---- */

/* A path leads to the instruction `i` with these registers, which begins a piece. */
static void arrive(struct follow *follow, uint32_t i, const struct registers *registers)
{
	struct registers *at = &follow->at[follow->places[i] - 1];
	bool changes = false;

	for (uint32_t r = 0; r < N_REGISTERS; r++) {
		struct value *value = &at->of[r];

		if (value->known == NOT_KNOWN || is_same(value, &registers->of[r]))
			continue;
		*value = value->known == NOT_REACHED ? registers->of[r] : not_known;
		changes = true;
	}
	if (!changes || follow->waits[i])
		return;
	follow->waits[i] = true;
	follow->waiting[follow->n_waiting++] = i;
}

/* At the start of a function nothing is known. */
static void arrive_in_function(struct follow *follow, uint32_t i)
{
	struct registers registers;

	for (uint32_t r = 0; r < N_REGISTERS; r++)
		registers.of[r] = not_known;
	arrive(follow, i, &registers);
}

/* Goes through one instruction, which is no jump. False: it ends the function. */
static bool do_instruction(struct follow *follow, uint32_t i, struct registers *registers)
{
	const struct bpf_insn *instruction = &follow->instructions[i];

	if (is_of_function(instruction))
		arrive_in_function(follow, (uint32_t)target_of(follow->instructions, i));
	switch (BPF_CLASS(instruction->code)) {
	case BPF_LD:
		do_wide(registers, instruction);
		return true;
	case BPF_LDX:
		do_load(follow, registers, instruction);
		return true;
	case BPF_ST:
	case BPF_STX:
		do_store(registers, instruction);
		return true;
	case BPF_ALU:
	case BPF_ALU64:
		do_arithmetic(registers, instruction);
		return true;
	default:
		do_call(registers);
		return BPF_OP(instruction->code) != BPF_EXIT;
	}
}

/* Follows a path from `i` to where another piece begins, or to its end. */
static void follow_piece(struct follow *follow, uint32_t i)
{
	struct registers registers = follow->at[follow->places[i] - 1];

	for (;;) {
		const struct bpf_insn *instruction = &follow->instructions[i];

		if (is_jump(instruction)) {
			uint8_t ways = ways_of_jump(&registers, instruction);

			follow->ways[i] |= ways;
			if (ways & WAY_JUMP)
				arrive(follow, (uint32_t)target_of(follow->instructions, i),
				       &registers);
			if (!(ways & WAY_ON))
				return;
		} else {
			follow->ways[i] = WAY_ON;
			if (!do_instruction(follow, i, &registers))
				return;
		}
		i += is_wide(instruction) ? 2 : 1;
		if (!follow->places[i])
			continue;
		arrive(follow, i, &registers);
		return;
	}
}

/* ---- the program ---- */

/* Whether nothing is in the instruction that is not understood above. */
static bool is_understood(const struct dead_code_program *program, uint32_t i)
{
	const struct bpf_insn *instruction = &program->instructions[i];
	uint8_t class = BPF_CLASS(instruction->code);
	bool ends = instruction->code == (BPF_JMP | BPF_EXIT) || is_always(instruction);
	int64_t target;

	if (instruction->dst_reg >= N_REGISTERS)
		return false;
	/* A wide instruction or a call may have the kind of its operand in the place of a register.
	 */
	if (!is_wide(instruction) && instruction->code != (BPF_JMP | BPF_CALL) &&
	    instruction->src_reg >= N_REGISTERS)
		return false;
	if (class == BPF_LD &&
	    (!is_wide(instruction) || i + 2 >= program->n || instruction[1].code != 0))
		return false;
	if (!ends && i + 1 >= program->n)
		return false;
	/* JA with 32 bits or to a register, and what newer kernels may have. */
	if (BPF_OP(instruction->code) == BPF_JA &&
	    (class == BPF_JMP32 || (class == BPF_JMP && instruction->code != (BPF_JMP | BPF_JA))))
		return false;
	if (is_jump(instruction) && (BPF_OP(instruction->code) > BPF_JSLE))
		return false;
	if (!is_jump(instruction) && !is_of_function(instruction))
		return true;
	target = target_of(program->instructions, i);
	return target >= 0 && target < program->n;
}

/* Numbers the instructions that paths lead to other than from the one before. */
static int number_places(const struct dead_code_program *program, struct follow *follow,
			 uint32_t *ret_places)
{
	uint32_t places = 1;

	follow->places[0] = 1;
	for (uint32_t i = 0; i < program->n; i++) {
		const struct bpf_insn *instruction = &program->instructions[i];
		uint32_t target;

		if (!is_understood(program, i))
			return -EINVAL;
		if (is_jump(instruction) || is_of_function(instruction)) {
			target = (uint32_t)target_of(program->instructions, i);
			if (!follow->places[target])
				follow->places[target] = ++places;
		}
		i += is_wide(instruction);
	}
	*ret_places = places;
	return 0;
}

static int follow_all(const struct dead_code_program *program, struct follow *follow)
{
	uint32_t places;
	int r;

	follow->ways = calloc(program->n, sizeof(*follow->ways));
	follow->places = calloc(program->n, sizeof(*follow->places));
	follow->waiting = calloc(program->n, sizeof(*follow->waiting));
	follow->waits = calloc(program->n, sizeof(*follow->waits));
	if (!follow->ways || !follow->places || !follow->waiting || !follow->waits)
		return -ENOMEM;
	r = number_places(program, follow, &places);
	if (r < 0)
		return r;
	follow->at = calloc(places, sizeof(*follow->at));
	if (!follow->at)
		return -ENOMEM;
	arrive_in_function(follow, 0);
	while (follow->n_waiting) {
		uint32_t i = follow->waiting[--follow->n_waiting];

		follow->waits[i] = false;
		follow_piece(follow, i);
	}
	return 0;
}

/* Whether an instruction that is reached does nothing but lead to the one that follows it. */
static bool does_nothing(const struct bpf_insn *instructions, const uint8_t *ways, uint32_t i,
			 const uint32_t *next)
{
	if (!is_jump(&instructions[i]))
		return false;
	return ways[i] == WAY_ON || (ways[i] == WAY_JUMP && target_of(instructions, i) > i &&
				     next[target_of(instructions, i)] == next[i + 1]);
}

/*
 * Sets next[] of each instruction: the first one that stays, from it on; after that, to[] is how
 * many stay before it.
 */
static void choose(const struct bpf_insn *instructions, uint32_t n, const uint8_t *ways,
		   uint32_t *next, uint32_t *to)
{
	uint32_t stay = 0;

	next[n] = n;
	for (uint32_t i = n; i-- > 0;) {
		bool second = i > 0 && is_wide(&instructions[i - 1]) && ways[i - 1];

		next[i] = second || (ways[i] && !does_nothing(instructions, ways, i, next))
				  ? i
				  : next[i + 1];
	}
	for (uint32_t i = 0; i < n; i++) {
		to[i] = stay;
		stay += next[i] == i;
	}
	to[n] = stay;
}

/* The second half of a wide instruction has no code, and moves as it is. */
static void move_instructions(struct dead_code_program *program, const uint8_t *ways,
			      const uint32_t *next, const uint32_t *to)
{
	for (uint32_t i = 0; i < program->n; i++) {
		struct bpf_insn instruction = program->instructions[i];

		if (next[i] != i)
			continue;
		if (is_jump(&instruction)) {
			int64_t off = (int64_t)to[target_of(program->instructions, i)] - to[i] - 1;

			if (ways[i] == WAY_JUMP)
				instruction = (struct bpf_insn){ .code = BPF_JMP | BPF_JA };
			instruction.off = (int16_t)off;
		} else if (is_of_function(&instruction)) {
			instruction.imm =
				(int32_t)(to[target_of(program->instructions, i)] - to[i] - 1);
		}
		program->instructions[to[i]] = instruction;
	}
}

static void move_functions(struct dead_code_program *program, const uint8_t *ways,
			   const uint32_t *to)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < program->n_functions; i++) {
		char *from = (char *)program->functions + (size_t)i * program->function_size;
		struct bpf_func_info info;

		memcpy(&info, from, sizeof(info));
		if (info.insn_off >= program->n || !ways[info.insn_off])
			continue;
		info.insn_off = to[info.insn_off];
		memmove((char *)program->functions + (size_t)n * program->function_size, from,
			program->function_size);
		memcpy((char *)program->functions + (size_t)n * program->function_size, &info,
		       sizeof(info));
		n++;
	}
	program->n_functions = n;
}

int dead_code_remove(struct dead_code_program *program, const struct dead_code_constants *constants)
{
	own(follow_clear) struct follow follow = { .instructions = program->instructions,
						   .n = program->n,
						   .constants = constants };
	own(own_free) uint32_t *next = calloc((size_t)program->n + 1, sizeof(*next));
	own(own_free) uint32_t *to = calloc((size_t)program->n + 1, sizeof(*to));
	int r;

	if (!next || !to)
		return -ENOMEM;
	if (!program->n)
		return -EINVAL;
	r = follow_all(program, &follow);
	if (r < 0)
		return r;
	choose(program->instructions, program->n, follow.ways, next, to);
	move_functions(program, follow.ways, to);
	move_instructions(program, follow.ways, next, to);
	program->n = to[program->n];
	return 0;
}
