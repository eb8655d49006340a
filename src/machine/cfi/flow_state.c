// SPDX-License-Identifier: GPL-2.0-or-later
#include "cfi/flow_state.h"

#define WORD	  8
#define AT_ENTRY  WORD	    /* only the return address is below the CFA */
#define MAX_DEPTH (1 << 28) /* bytes of a frame */

/* DWARF numbers of the processor's registers. */
static const uint8_t dwarf_numbers[REGISTER_N] = { 0, 2, 1,  3,	 7,  6,	 4,  5,
						   8, 9, 10, 11, 12, 13, 14, 15 };

struct flow_state flow_entry(void)
{
	struct flow_state state = { .slot = FLOW_UNKNOWN, .kept = FLOW_KEEPS_FP | FLOW_KEEPS_RBX };

	for (int i = 0; i < REGISTER_N; i++)
		state.registers[i] = FLOW_UNKNOWN;
	state.registers[REGISTER_SP] = AT_ENTRY;
	return state;
}

static int32_t *saved(struct flow_state *state, uint8_t reg)
{
	return reg == REGISTER_BP ? &state->fp : reg == REGISTER_BX ? &state->rbx : NULL;
}

static uint32_t kept_bit(uint8_t reg)
{
	return reg == REGISTER_BP ? FLOW_KEEPS_FP : reg == REGISTER_BX ? FLOW_KEEPS_RBX : 0;
}

/* The address `bytes` below another one. */
static int32_t below(int32_t value, int64_t bytes)
{
	int64_t sum = value + bytes;

	return value == FLOW_UNKNOWN || sum > MAX_DEPTH || sum < -MAX_DEPTH ? FLOW_UNKNOWN
									    : (int32_t)sum;
}

/* Gives a register another value. */
static void overwrite(struct flow_state *state, uint8_t reg, int32_t value)
{
	int32_t *of = saved(state, reg);

	if (of && *of == FLOW_SAME)
		*of = FLOW_LOST;
	state->kept &= ~kept_bit(reg);
	state->registers[reg] = value;
}

/* Loads a register from an address in the frame. */
static void restore(struct flow_state *state, uint8_t reg, int32_t at)
{
	int32_t *of = saved(state, reg);

	overwrite(state, reg, FLOW_UNKNOWN);
	if (of && *of > 0 && *of == at) {
		*of = FLOW_SAME;
		state->kept |= kept_bit(reg);
	}
}

static void save(struct flow_state *state, uint8_t reg, int32_t at)
{
	int32_t *of = saved(state, reg);

	if (of && *of == FLOW_SAME && at > AT_ENTRY)
		*of = at;
}

static bool move_sp(struct flow_state *state, int64_t down)
{
	int32_t *sp = &state->registers[REGISTER_SP];

	if (*sp == FLOW_UNKNOWN) {
		if (state->slot != FLOW_UNKNOWN)
			state->slot = below(state->slot, down);
		return true;
	}
	*sp = below(*sp, down);
	return *sp != FLOW_UNKNOWN && *sp >= AT_ENTRY;
}

static bool set_sp(struct flow_state *state, int32_t value)
{
	state->registers[REGISTER_SP] = value;
	state->slot = FLOW_UNKNOWN;
	return value != FLOW_UNKNOWN && value >= AT_ENTRY;
}

static bool pop(struct flow_state *state, uint8_t reg)
{
	int32_t at = state->registers[REGISTER_SP];

	if (reg == REGISTER_SP)
		return false;
	if (reg != REGISTER_NONE)
		restore(state, reg, at);
	return move_sp(state, -WORD);
}

static bool load(struct flow_state *state, const struct instruction *of)
{
	int32_t from = of->base == REGISTER_NONE
			       ? FLOW_UNKNOWN
			       : below(state->registers[of->base], -(int64_t)of->offset);

	if (of->reg != REGISTER_SP) {
		restore(state, of->reg, from);
		return true;
	}
	/* Restores the stack pointer that was saved before it was aligned. */
	return of->base == REGISTER_SP && state->slot == of->offset &&
	       set_sp(state, state->slot_value);
}

static void store(struct flow_state *state, const struct instruction *of)
{
	if (of->base == REGISTER_NONE)
		return;
	save(state, of->reg, below(state->registers[of->base], -(int64_t)of->offset));
	if (of->base == REGISTER_SP && state->registers[REGISTER_SP] == FLOW_UNKNOWN &&
	    state->registers[of->reg] != FLOW_UNKNOWN) {
		state->slot = of->offset;
		state->slot_value = state->registers[of->reg];
	}
}

static bool address(struct flow_state *state, const struct instruction *of)
{
	int32_t value = of->base == REGISTER_NONE
				? FLOW_UNKNOWN
				: below(state->registers[of->base], -(int64_t)of->offset);

	if (of->reg != REGISTER_SP) {
		overwrite(state, of->reg, value);
		return true;
	}
	if (of->base == REGISTER_SP)
		return move_sp(state, -(int64_t)of->offset);
	return set_sp(state, value);
}

static void forget(struct flow_state *state, uint16_t written)
{
	for (uint8_t reg = 0; reg < REGISTER_N; reg++) {
		if (written >> reg & 1)
			overwrite(state, reg, FLOW_UNKNOWN);
	}
	if (written >> REGISTER_SP & 1)
		state->slot = FLOW_UNKNOWN;
}

bool flow_step(struct flow_state *state, const struct instruction *of)
{
	switch ((enum instruction_kind)of->kind) {
	case INSTRUCTION_PUSH:
		if (!move_sp(state, WORD))
			return false;
		if (of->reg != REGISTER_NONE)
			save(state, of->reg, state->registers[REGISTER_SP]);
		return true;
	case INSTRUCTION_POP:
		return pop(state, of->reg);
	case INSTRUCTION_ADD_SP:
		return move_sp(state, -(int64_t)of->offset);
	case INSTRUCTION_MOVE:
		if (of->reg == REGISTER_SP)
			return set_sp(state, state->registers[of->base]);
		overwrite(state, of->reg, state->registers[of->base]);
		return true;
	case INSTRUCTION_ADDRESS:
		return address(state, of);
	case INSTRUCTION_LOAD:
		return load(state, of);
	case INSTRUCTION_STORE:
		store(state, of);
		return true;
	case INSTRUCTION_LEAVE:
		return set_sp(state, state->registers[REGISTER_BP]) && pop(state, REGISTER_BP);
	case INSTRUCTION_UNKNOWN:
		return false;
	default:
		forget(state, of->written);
		return true;
	}
}

bool flow_may_leave(const struct flow_state *state)
{
	return state->registers[REGISTER_SP] == AT_ENTRY &&
	       state->kept == (FLOW_KEEPS_FP | FLOW_KEEPS_RBX);
}

static int32_t meet_saved(int32_t a, int32_t b)
{
	return a == b ? a : FLOW_LOST;
}

bool flow_meet(const struct flow_state *a, const struct flow_state *b, struct flow_state *ret_state)
{
	if (a->registers[REGISTER_SP] != b->registers[REGISTER_SP] || a->slot != b->slot ||
	    (a->slot != FLOW_UNKNOWN && a->slot_value != b->slot_value))
		return false;
	*ret_state = *a;
	for (int i = 0; i < REGISTER_N; i++) {
		if (a->registers[i] != b->registers[i])
			ret_state->registers[i] = FLOW_UNKNOWN;
	}
	ret_state->fp = meet_saved(a->fp, b->fp);
	ret_state->rbx = meet_saved(a->rbx, b->rbx);
	ret_state->kept = a->kept & b->kept;
	return true;
}

static bool find_cfa(const struct flow_state *state, struct wire_rule *rule)
{
	if (state->registers[REGISTER_SP] != FLOW_UNKNOWN) {
		rule->cfa = WIRE_CFA_SP;
		rule->cfa_offset = state->registers[REGISTER_SP];
		return true;
	}
	if (state->registers[REGISTER_BP] != FLOW_UNKNOWN) {
		rule->cfa = WIRE_CFA_FP;
		rule->cfa_offset = state->registers[REGISTER_BP];
		return true;
	}
	if (state->slot != FLOW_UNKNOWN) {
		rule->cfa = WIRE_CFA_SP_DEREF;
		rule->cfa_offset = state->slot;
		rule->extra = state->slot_value;
		return true;
	}
	for (int i = 0; i < REGISTER_N; i++) {
		if (state->registers[i] != FLOW_UNKNOWN) {
			rule->cfa = WIRE_CFA_REG;
			rule->reg = dwarf_numbers[i];
			rule->cfa_offset = state->registers[i];
			return true;
		}
	}
	return false;
}

bool flow_rule(const struct flow_state *state, struct wire_rule *ret_rule)
{
	struct wire_rule rule = { .ra = WIRE_RA_CFA };

	if (!find_cfa(state, &rule))
		return false;
	rule.fp = state->fp == FLOW_SAME   ? WIRE_FP_SAME
		  : state->fp == FLOW_LOST ? WIRE_FP_UNDEFINED
					   : WIRE_FP_CFA;
	if (rule.fp == WIRE_FP_CFA)
		rule.fp_offset = -state->fp;
	if (state->rbx > 0 && rule.cfa != WIRE_CFA_SP_DEREF) {
		rule.ra |= WIRE_RULE_RBX_SAVED;
		rule.extra = -state->rbx;
	} else if (state->rbx != FLOW_SAME) {
		rule.ra |= WIRE_RULE_RBX_LOST;
	}
	*ret_rule = rule;
	return true;
}
