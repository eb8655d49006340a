/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of a function's frame at one of its instructions, and what instructions make of
 * it. Addresses in a frame are so many bytes below its CFA.
 */
#ifndef STACKTALLY_CFI_FLOW_STATE_H
#define STACKTALLY_CFI_FLOW_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/unwind_wire.h"
#include "cfi/instruction.h"

#define FLOW_UNKNOWN INT32_MIN

/* Of a register that functions give back: it is as it was, or what it was is lost; else where. */
#define FLOW_SAME 0
#define FLOW_LOST (-1)

struct flow_state {
	int32_t registers[REGISTER_N]; /* FLOW_UNKNOWN: no address in the frame */
	/* Where the stack pointer was aligned: *(sp + slot) is so many bytes below the CFA. */
	int32_t slot, slot_value;
	int32_t fp, kept; /* rbp, and rbx: the registers that rules tell of */
};

/* Registers that functions called may change: rax, rcx, rdx, rsi, rdi, r8 to r11. */
#define FLOW_SCRATCH 0x0fc7

/* As a function begins. */
struct flow_state flow_entry(void);

/*
 * What the instruction makes of it, before it goes anywhere; false: no function does that. Of a
 * call, `written` is what is lost behind it.
 */
bool flow_step(struct flow_state *state, const struct instruction *instruction);

/* Whether a function may return, or go on in another one. */
bool flow_may_leave(const struct flow_state *state);

/* What holds on both of two ways; false: they do not belong together. */
bool flow_meet(const struct flow_state *a, const struct flow_state *b,
	       struct flow_state *ret_state);

/* Its rule; false: the CFA is not known. */
bool flow_rule(const struct flow_state *state, struct wire_rule *ret_rule);

#endif
