/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of a function's frame at one of its instructions, and how instructions change it.
 * Addresses in the frame are expressed as the number of bytes that they are below its CFA.
 */
#ifndef STACKTALLY_CFI_FLOW_STATE_H
#define STACKTALLY_CFI_FLOW_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/unwind_wire.h"
#include "cfi/instruction.h"

#define FLOW_UNKNOWN INT32_MIN

/* A callee-saved register: unchanged, lost, or (positive) the address where it is saved. */
#define FLOW_SAME 0
#define FLOW_LOST (-1)

struct flow_state {
	int32_t registers[REGISTER_N]; /* FLOW_UNKNOWN: no address in the frame */
	/* After the stack pointer was aligned: *(sp + slot) is the address `slot_value`. */
	int32_t slot, slot_value;
	int32_t fp, rbx; /* rbp and rbx, the callee-saved registers that rules tell of */
	/* FLOW_KEEPS_*: those of the two that have the caller's value, whether or not they were
	 * saved */
	uint32_t kept;
};

#define FLOW_KEEPS_FP  (1u << 0)
#define FLOW_KEEPS_RBX (1u << 1)

/* Caller-saved registers: rax, rcx, rdx, rsi, rdi, r8 to r11. */
#define FLOW_SCRATCH 0x0fc7

/* The state at a function's first instruction. */
struct flow_state flow_entry(void);

/*
 * Changes the state as the instruction does, jumps and calls not taken; a call's `written` are the
 * registers that the callee may change. False: no function contains this instruction here.
 */
bool flow_step(struct flow_state *state, const struct instruction *instruction);

/* Whether a function may return in this state, or jump to another one. */
bool flow_may_leave(const struct flow_state *state);

/* What holds on both of two paths that meet. False: they contradict each other. */
bool flow_meet(const struct flow_state *a, const struct flow_state *b,
	       struct flow_state *ret_state);

/* The rule of a state. False: the CFA is not known. */
bool flow_rule(const struct flow_state *state, struct wire_rule *ret_rule);

#endif
