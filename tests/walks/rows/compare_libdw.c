/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares the rows of ELF files with those of elfutils' libdw by their results: both are evaluated
 * on made-up registers and memory, over each range for which libdw has one rule.
 *	compare_libdw FILE-OR-DIRECTORY ...
 * Go's .debug_frame does not describe frame pointers, return addresses in registers, or switches
 * between the runtime's stacks: in files with Go's table, these are not compared.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>

#include "comparison.h"

#define N_REGISTERS 17
#define N_TRIALS    2
#define FP	    6
#define SP	    7
#define RA	    16

/* Made-up memory and registers: different at any two addresses. */
static uint64_t memory(uint64_t address)
{
	return hash_u64(address + 12345);
}

static uint64_t register_value(int trial, uint64_t number, uint64_t pc)
{
	return number == RA ? pc : hash_u64((uint64_t)trial * 100 + number) & ~7ull;
}

enum outcome { VALUE, UNDEFINED, OPAQUE };

struct result {
	enum outcome outcome;
	uint64_t value;
};

/* ---- libdw's side: an evaluator of the expressions that it returns ---- */

struct machine {
	uint64_t stack[64];
	int n;
	bool failed;
};

static uint64_t pop(struct machine *machine)
{
	if (!machine->n) {
		machine->failed = true;
		return 0;
	}
	return machine->stack[--machine->n];
}

static void push(struct machine *machine, uint64_t value)
{
	if (machine->n == 64)
		machine->failed = true;
	else
		machine->stack[machine->n++] = value;
}

static void operate(struct machine *machine, const Dwarf_Op *op, int trial, uint64_t pc,
		    uint64_t cfa)
{
	uint64_t a, b;

	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
		push(machine, op->atom - DW_OP_lit0);
		return;
	}
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		push(machine, register_value(trial, op->atom - DW_OP_breg0, pc) + op->number);
		return;
	}
	switch (op->atom) {
	case DW_OP_bregx:
		push(machine, register_value(trial, op->number, pc) + op->number2);
		return;
	case DW_OP_call_frame_cfa:
		push(machine, cfa);
		return;
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts:
		push(machine, op->number);
		return;
	case DW_OP_plus_uconst:
		push(machine, pop(machine) + op->number);
		return;
	case DW_OP_deref:
		push(machine, memory(pop(machine)));
		return;
	case DW_OP_plus:
	case DW_OP_minus:
	case DW_OP_mul:
	case DW_OP_and:
	case DW_OP_shl:
	case DW_OP_ge:
		b = pop(machine);
		a = pop(machine);
		push(machine, op->atom == DW_OP_plus	? a + b
			      : op->atom == DW_OP_minus ? a - b
			      : op->atom == DW_OP_mul	? a * b
			      : op->atom == DW_OP_and	? (a & b)
			      : op->atom == DW_OP_shl	? a << (b & 63)
							: (int64_t)a >= (int64_t)b);
		return;
	case DW_OP_nop:
		return;
	default:
		machine->failed = true;
	}
}

/* `is_place`: the result is the address of the value, unless the expression says otherwise. */
static struct result evaluate(const Dwarf_Op *ops, size_t n, bool is_place, int trial, uint64_t pc,
			      uint64_t cfa)
{
	struct machine machine = { 0 };
	uint64_t value;

	if (is_place && n == 1 && ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31)
		return (struct result){ VALUE,
					register_value(trial, ops[0].atom - DW_OP_reg0, pc) };
	if (is_place && n == 1 && ops[0].atom == DW_OP_regx)
		return (struct result){ VALUE, register_value(trial, ops[0].number, pc) };
	for (size_t i = 0; i < n; i++) {
		if (ops[i].atom == DW_OP_stack_value)
			is_place = false;
		else
			operate(&machine, &ops[i], trial, pc, cfa);
	}
	value = pop(&machine);
	if (machine.failed)
		return (struct result){ OPAQUE, 0 };
	return (struct result){ VALUE, is_place ? memory(value) : value };
}

static struct result their_register(Dwarf_Frame *frame, int number, int trial, uint64_t pc,
				    uint64_t cfa)
{
	Dwarf_Op memory_for[3], *ops;
	size_t n;

	if (dwarf_frame_register(frame, number, memory_for, &ops, &n))
		return (struct result){ OPAQUE, 0 };
	if (!n && ops == memory_for)
		return (struct result){ UNDEFINED, 0 };
	if (!n)
		return (struct result){ VALUE, register_value(trial, (uint64_t)number, pc) };
	return evaluate(ops, n, true, trial, pc, cfa);
}

/* ---- our side ---- */

static uint64_t our_cfa(const struct wire_rule *rule, int trial, uint64_t pc)
{
	uint64_t sp = register_value(trial, SP, pc), fp = register_value(trial, FP, pc);
	uint64_t reg = register_value(trial, rule->reg, pc);
	uint64_t offset = (uint64_t)(int64_t)rule->cfa_offset;
	uint64_t extra = (uint64_t)(int64_t)rule->extra;

	switch (rule->cfa) {
	case WIRE_CFA_SP:
		return sp + offset;
	case WIRE_CFA_FP:
		return fp + offset;
	case WIRE_CFA_REG:
		return reg + offset;
	case WIRE_CFA_PLT:
		return sp + 8 + ((pc & 15) >= offset ? 8 : 0);
	case WIRE_CFA_SP_DEREF:
		return memory(sp + offset) + extra;
	case WIRE_CFA_FP_DEREF:
		return memory(fp + offset) + extra;
	case WIRE_CFA_REG_DEREF:
		return memory(reg + offset) + extra;
	case WIRE_CFA_SP_INDEX:
		return memory(sp + offset + 8 * reg) + extra;
	default:
		return 0;
	}
}

static struct result our_fp(const struct wire_rule *rule, int trial, uint64_t pc, uint64_t cfa)
{
	uint64_t offset = (uint64_t)(int64_t)rule->fp_offset;

	switch (WIRE_RULE_FP(rule)) {
	case WIRE_FP_SAME:
		return (struct result){ VALUE, register_value(trial, FP, pc) };
	case WIRE_FP_CFA:
		return (struct result){ VALUE, memory(cfa + offset) };
	case WIRE_FP_FP:
		return (struct result){ VALUE, memory(register_value(trial, FP, pc) + offset) };
	case WIRE_FP_REG:
		return (struct result){ VALUE, register_value(trial, offset, pc) };
	default:
		return (struct result){ UNDEFINED, 0 };
	}
}

static struct result our_ra(const struct wire_rule *rule, int trial, uint64_t pc, uint64_t cfa)
{
	switch (WIRE_RULE_RA(rule)) {
	case WIRE_RA_CFA:
		return (struct result){ VALUE, memory(cfa - 8) };
	case WIRE_RA_CFA_OFFSET:
		return (struct result){ VALUE, memory(cfa + (uint64_t)(int64_t)rule->extra) };
	case WIRE_RA_REG:
		return (struct result){ VALUE, register_value(trial, rule->reg, pc) };
	default:
		return (struct result){ UNDEFINED, 0 };
	}
}

static bool same(struct result ours, struct result theirs)
{
	return ours.outcome == theirs.outcome &&
	       (ours.outcome != VALUE || ours.value == theirs.value);
}

static bool has_pc(const Dwarf_Op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (ops[i].atom == DW_OP_breg16)
			return true;
	}
	return false;
}

/* Compares the rule at one address. True: equal. */
static bool compare_at(Dwarf_Frame *frame, const struct wire_rule *rule, const Dwarf_Op *ops,
		       size_t n, uint64_t pc)
{
	for (int trial = 0; trial < N_TRIALS; trial++) {
		uint64_t cfa = our_cfa(rule, trial, pc);
		struct result theirs = evaluate(ops, n, false, trial, pc, 0);

		if (theirs.outcome == OPAQUE || theirs.value != cfa) {
			differs(pc, "CFA: kind %u, offset %d; theirs has %zu operations", rule->cfa,
				rule->cfa_offset, n);
			return false;
		}
		if (!all.rows.counts.ranges[UNWIND_GO] &&
		    !same(our_fp(rule, trial, pc, cfa),
			  their_register(frame, FP, trial, pc, cfa))) {
			differs(pc, "frame pointer: kind %u, offset %d", rule->fp, rule->fp_offset);
			return false;
		}
		if (!same(our_ra(rule, trial, pc, cfa),
			  their_register(frame, RA, trial, pc, cfa))) {
			differs(pc, "return address: kind %u", rule->ra);
			return false;
		}
	}
	return true;
}

/* One row of ours holds in [begin, end), which is a part of their range. */
static void compare_row(Dwarf_Frame *frame, uint64_t begin, uint64_t end, bool is_signal)
{
	const struct wire_rule *rule = rule_at(begin);
	Dwarf_Op memory_for[3], *ops, *cfa_ops;
	size_t n, n_cfa;

	all.compared++;
	if (all.rows.counts.ranges[UNWIND_GO] &&
	    (rule->cfa == WIRE_CFA_UNSUPPORTED || WIRE_RULE_RA(rule) == WIRE_RA_SIGNAL ||
	     WIRE_RULE_RA(rule) == WIRE_RA_ENTRY || WIRE_RULE_RA(rule) == WIRE_RA_REG ||
	     rule->ra & WIRE_RULE_NEW_STACK))
		return;
	if (is_overruled(rule))
		return;
	if (WIRE_RULE_RA(rule) == WIRE_RA_SIGNAL) {
		if (!is_signal)
			differs(begin, "signal frame: kind %u", rule->ra);
		return;
	}
	if (WIRE_RULE_RA(rule) == WIRE_RA_END) {
		if (dwarf_frame_register(frame, RA, memory_for, &ops, &n) || n || ops != memory_for)
			differs(begin, "ours ends here, theirs does not");
		return;
	}
	if (is_unsupported(rule)) {
		all.unsupported++;
		return;
	}
	if (dwarf_frame_cfa(frame, &cfa_ops, &n_cfa)) {
		differs(begin, "theirs has no CFA: %s", dwarf_errmsg(-1));
		return;
	}
	if (!has_pc(cfa_ops, n_cfa)) {
		compare_at(frame, rule, cfa_ops, n_cfa, begin);
		return;
	}
	for (uint64_t pc = begin; pc < end && pc < begin + 256; pc++)
		if (!compare_at(frame, rule, cfa_ops, n_cfa, pc))
			return;
}

/* ---- all of a file ---- */

static uint64_t row_end(uint32_t i, uint64_t end_of_all)
{
	return i + 1 < all.rows.n ? all.rows.rows[i + 1].address : end_of_all;
}

static int their_frame(Dwarf_CFI *eh, Dwarf_CFI *debug, uint64_t address, Dwarf_Frame **frame)
{
	if (eh && !dwarf_cfi_addrframe(eh, address, frame))
		return 0;
	return debug && !dwarf_cfi_addrframe(debug, address, frame) ? 0 : -1;
}

static void compare_ours(uint32_t i, Dwarf_CFI *eh, Dwarf_CFI *debug)
{
	const struct wire_rule *rule = &all.rules[all.rows.rows[i].rule];
	uint64_t at = all.rows.rows[i].address, end = row_end(i, at + 1);
	bool gap = rule->cfa == WIRE_CFA_NONE;

	while (at < end) {
		Dwarf_Addr begin = 0, until = 0;
		Dwarf_Frame *frame = NULL;
		bool is_signal = false;

		if (their_frame(eh, debug, at, &frame)) {
			/* libdw may cover only the end of a gap. */
			if (gap && at + 1 < end) {
				at = end - 1;
				continue;
			}
			if (gap) {
				at++;
				continue;
			}
			if (WIRE_RULE_RA(rule) != WIRE_RA_SIGNAL) {
				only_ours(at);
				break;
			}
			at++; /* signal frames begin a byte early */
			continue;
		}
		dwarf_frame_info(frame, &begin, &until, &is_signal);
		if (until <= at)
			until = at + 1;
		if (until > end)
			until = end;
		if (gap)
			differs(at, "a gap of ours, not theirs");
		else
			compare_row(frame, at, until, is_signal);
		free(frame);
		at = until;
	}
}

static void compare_file(int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	Dwarf *dwarf = elf ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
	Dwarf_CFI *eh = elf ? dwarf_getcfi_elf(elf) : NULL;
	Dwarf_CFI *debug = dwarf ? dwarf_getcfi(dwarf) : NULL;

	for (uint32_t i = 0; i < all.rows.n; i++)
		compare_ours(i, eh, debug);
	if (eh)
		dwarf_cfi_end(eh);
	dwarf_end(dwarf);
	elf_end(elf);
}

int main(int argc, char **argv)
{
	elf_version(EV_CURRENT);
	return compare_all(argv + 1, argc - 1, "elfutils");
}
