// SPDX-License-Identifier: GPL-2.0-or-later
#include "cfi/cfa_expression.h"

#include "elf/byte_reader.h"

#define STACK_DEPTH 8
#define SP_REGISTER 7
#define PC_REGISTER 16

/* DW_OP_*: the operations of compilers and linkers that lead to a form; DWARF 5, 7.7.1. */
enum {
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S,
	OP_CONST2U,
	OP_CONST2S,
	OP_CONST4U,
	OP_CONST4S,
	OP_CONST8U,
	OP_CONST8S,
	OP_CONSTU,
	OP_CONSTS,
	OP_AND = 0x1a,
	OP_MINUS = 0x1c,
	OP_MUL = 0x1e,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_GE = 0x2a,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f,
	OP_BREGX = 0x92,
	OP_NOP = 0x96,
};

/* Intermediate values: sums and dereferences as in results, and the steps to EXPRESSION_PLT. */
enum kind {
	SUM, /* of registers and a number */
	DEREF,
	SCALED,	    /* 8 * index */
	PC_LOW,	    /* pc & 15 */
	PC_REACHED, /* (pc & 15) >= threshold */
	PC_EIGHT,   /* the same, times 8 */
	PLT,
};

struct value {
	enum kind kind;
	struct expression_value is;
};

struct machine {
	struct value stack[STACK_DEPTH];
	uint32_t n;
	bool failed;
};

static struct value pop(struct machine *machine)
{
	if (!machine->n) {
		machine->failed = true;
		return (struct value){ .kind = SUM };
	}
	return machine->stack[--machine->n];
}

static void push(struct machine *machine, const struct value *value)
{
	if (machine->n == STACK_DEPTH)
		machine->failed = true;
	else
		machine->stack[machine->n++] = *value;
}

static void push_sum(struct machine *machine, uint8_t base, int64_t offset)
{
	struct value value = {
		.kind = SUM,
		.is = { .base = base, .index = EXPRESSION_NO_REGISTER, .offset = offset }
	};

	push(machine, &value);
}

static void push_register(struct machine *machine, uint64_t number, int64_t offset)
{
	if (number > PC_REGISTER)
		machine->failed = true;
	push_sum(machine, (uint8_t)number, offset);
}

static bool is_number(const struct value *value)
{
	return value->kind == SUM && value->is.base == EXPRESSION_NO_REGISTER &&
	       value->is.index == EXPRESSION_NO_REGISTER;
}

static bool is_register(const struct value *value)
{
	return value->kind == SUM && value->is.base != EXPRESSION_NO_REGISTER &&
	       value->is.index == EXPRESSION_NO_REGISTER && value->is.offset == 0;
}

/* Wraps as the machine does; the caller checks whether the result fits in a rule. */
static int64_t sum(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static void add_number(struct value *value, int64_t number, struct machine *machine)
{
	if (value->kind == SUM)
		value->is.offset = sum(value->is.offset, number);
	else if (value->kind == DEREF)
		value->is.add = sum(value->is.add, number);
	else
		machine->failed = true;
}

static void add(struct machine *machine)
{
	struct value b = pop(machine), a = pop(machine);

	if (is_number(&a)) {
		struct value swap = a;

		a = b;
		b = swap;
	}
	/* The scaled operand second, in whichever order they came. */
	if (a.kind == SCALED || a.kind == PC_EIGHT) {
		struct value swap = a;

		a = b;
		b = swap;
	}
	if (is_number(&b)) {
		add_number(&a, b.is.offset, machine);
	} else if (a.kind == SUM && a.is.index == EXPRESSION_NO_REGISTER && b.kind == SCALED) {
		a.is.index = b.is.index;
	} else if (a.kind == SUM && a.is.base == SP_REGISTER && b.kind == PC_EIGHT &&
		   a.is.index == EXPRESSION_NO_REGISTER) {
		a.kind = PLT;
		a.is.threshold = b.is.threshold;
	} else {
		machine->failed = true;
	}
	push(machine, &a);
}

/* Operations of two operands but addition; the second one must be a number. */
static void combine(struct machine *machine, uint8_t op)
{
	struct value b = pop(machine), a = pop(machine);
	int64_t number = b.is.offset;

	if (!is_number(&b)) {
		machine->failed = true;
		return;
	}
	if (op == OP_MINUS)
		add_number(&a, (int64_t)(0 - (uint64_t)number), machine);
	else if (op == OP_AND && is_register(&a) && a.is.base == PC_REGISTER && number == 15)
		a.kind = PC_LOW;
	else if (op == OP_GE && a.kind == PC_LOW && number > 0 && number < 16)
		a = (struct value){ .kind = PC_REACHED, .is.threshold = (uint8_t)number };
	else if (op == OP_SHL && a.kind == PC_REACHED && number == 3)
		a.kind = PC_EIGHT;
	else if ((op == OP_SHL && number == 3) || (op == OP_MUL && number == 8)) {
		if (!is_register(&a) || a.is.base >= PC_REGISTER)
			machine->failed = true;
		a = (struct value){ .kind = SCALED, .is.index = a.is.base };
	} else {
		machine->failed = true;
	}
	push(machine, &a);
}

static void dereference(struct machine *machine)
{
	struct value value = pop(machine);

	if (value.kind != SUM || value.is.base == EXPRESSION_NO_REGISTER)
		machine->failed = true;
	value.kind = DEREF;
	push(machine, &value);
}

static int64_t read_constant(struct byte_reader *reader, uint8_t op)
{
	switch (op) {
	case OP_CONST1U:
		return read_u8(reader);
	case OP_CONST1S:
		return (int8_t)read_u8(reader);
	case OP_CONST2U:
		return read_u16(reader);
	case OP_CONST2S:
		return (int16_t)read_u16(reader);
	case OP_CONST4U:
		return read_u32(reader);
	case OP_CONST4S:
		return (int32_t)read_u32(reader);
	case OP_CONSTU:
		return (int64_t)read_uleb(reader);
	case OP_CONSTS:
		return read_sleb(reader);
	default:
		return (int64_t)read_u64(reader);
	}
}

static void step(struct machine *machine, struct byte_reader *reader)
{
	uint8_t op = read_u8(reader);
	struct value value;
	uint64_t number;

	if (op >= OP_LIT0 && op <= OP_LIT31) {
		push_sum(machine, EXPRESSION_NO_REGISTER, op - OP_LIT0);
	} else if (op >= OP_BREG0 && op <= OP_BREG31) {
		push_register(machine, op - OP_BREG0, read_sleb(reader));
	} else if (op == OP_BREGX) {
		number = read_uleb(reader);
		push_register(machine, number, read_sleb(reader));
	} else if (op >= OP_CONST1U && op <= OP_CONSTS) {
		push_sum(machine, EXPRESSION_NO_REGISTER, read_constant(reader, op));
	} else if (op == OP_PLUS) {
		add(machine);
	} else if (op == OP_PLUS_UCONST) {
		value = pop(machine);
		add_number(&value, (int64_t)read_uleb(reader), machine);
		push(machine, &value);
	} else if (op == OP_DEREF) {
		dereference(machine);
	} else if (op == OP_AND || op == OP_MINUS || op == OP_MUL || op == OP_SHL || op == OP_GE) {
		combine(machine, op);
	} else if (op != OP_NOP) {
		machine->failed = true;
	}
}

bool expression_evaluate(const uint8_t *bytes, size_t size, bool with_cfa,
			 struct expression_value *ret_value)
{
	struct byte_reader reader = { .at = bytes, .end = bytes + size };
	struct machine machine = { 0 };
	struct value value;

	if (with_cfa)
		push_sum(&machine, EXPRESSION_CFA, 0);
	while (reader.at < reader.end && !machine.failed)
		step(&machine, &reader);
	value = pop(&machine);
	if (machine.failed || reader.failed || value.is.base == EXPRESSION_NO_REGISTER)
		return false;
	if (value.kind == SUM)
		value.is.form = EXPRESSION_SUM;
	else if (value.kind == DEREF)
		value.is.form = EXPRESSION_DEREF;
	else if (value.kind == PLT)
		value.is.form = EXPRESSION_PLT;
	else
		return false;
	*ret_value = value.is;
	return true;
}
