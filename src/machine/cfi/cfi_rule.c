// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Expresses the state that call frame instructions describe as a rule, or as one that says why
 * there is none.
 */
#include "cfi/cfa_expression.h"
#include "cfi/cfi_program.h"

/* Bytes. No rule expresses longer expressions; each row may take the evaluation of two. */
#define MAX_EVALUATED 64

static bool fits(int64_t value)
{
	return value == (int32_t)value;
}

static bool evaluate(const uint8_t *bytes, uint32_t size, bool with_cfa,
		     struct expression_value *ret_value)
{
	return size <= MAX_EVALUATED && expression_evaluate(bytes, size, with_cfa, ret_value);
}

static bool set_cfa_base(struct wire_rule *rule, const struct cfi_machine *machine, uint64_t number,
			 int64_t offset, bool deref)
{
	if (number >= machine->n_registers || !fits(offset))
		return false;
	rule->cfa_offset = (int32_t)offset;
	if (number == machine->sp) {
		rule->cfa = deref ? WIRE_CFA_SP_DEREF : WIRE_CFA_SP;
	} else if (number == machine->fp) {
		rule->cfa = deref ? WIRE_CFA_FP_DEREF : WIRE_CFA_FP;
	} else {
		rule->cfa = deref ? WIRE_CFA_REG_DEREF : WIRE_CFA_REG;
		rule->reg = (uint8_t)number;
	}
	return true;
}

static bool set_cfa_expression(struct wire_rule *rule, const struct cfi_machine *machine,
			       const struct cfi_state *state)
{
	struct expression_value value;

	if (!evaluate(state->cfa_bytes, state->cfa_size, false, &value) || !fits(value.add) ||
	    !fits(value.offset))
		return false;
	if (value.form == EXPRESSION_PLT) {
		/* A rule of this kind has no room for the offset: it is 8. */
		if (value.offset != 8)
			return false;
		rule->cfa = WIRE_CFA_PLT;
		rule->cfa_offset = value.threshold;
		return true;
	}
	if (value.index != EXPRESSION_NO_REGISTER) {
		if (value.form != EXPRESSION_DEREF || value.base != machine->sp)
			return false;
		rule->cfa = WIRE_CFA_SP_INDEX;
		rule->reg = value.index;
		rule->cfa_offset = (int32_t)value.offset;
		rule->extra = (int32_t)value.add;
		return true;
	}
	rule->extra = (int32_t)value.add;
	return set_cfa_base(rule, machine, value.base, value.offset,
			    value.form == EXPRESSION_DEREF);
}

static void set_cfa(struct wire_rule *rule, const struct cfi_machine *machine,
		    const struct cfi_state *state)
{
	if (state->cfa_bytes
		    ? set_cfa_expression(rule, machine, state)
		    : set_cfa_base(rule, machine, state->cfa_register, state->cfa_offset, false))
		return;
	*rule = (struct wire_rule){ .cfa = WIRE_CFA_UNSUPPORTED,
				    .extra = state->cfa_bytes ? RULE_UNSUPPORTED_EXPRESSION
							      : RULE_UNSUPPORTED_OTHER };
}

static void set_fp(struct wire_rule *rule, const struct cfi_machine *machine,
		   const struct cfi_register *fp)
{
	struct expression_value value;

	switch (fp->rule) {
	case CFI_UNSPECIFIED: /* preserved, by the ABI */
	case CFI_SAME:
		rule->fp = WIRE_FP_SAME;
		return;
	case CFI_UNDEFINED:
		rule->fp = WIRE_FP_UNDEFINED;
		return;
	case CFI_OFFSET:
		if (!fits(fp->value))
			break;
		rule->fp = WIRE_FP_CFA;
		rule->fp_offset = (int32_t)fp->value;
		return;
	case CFI_REGISTER:
		if (fp->value < 0 || fp->value >= machine->n_registers)
			break;
		rule->fp = fp->value == machine->fp ? WIRE_FP_SAME : WIRE_FP_REG;
		rule->fp_offset = fp->value == machine->fp ? 0 : (int32_t)fp->value;
		return;
	case CFI_EXPRESSION:
		if (!evaluate(fp->bytes, fp->size, true, &value) || value.form != EXPRESSION_SUM ||
		    value.index != EXPRESSION_NO_REGISTER || !fits(value.offset))
			break;
		if (value.base != machine->fp && value.base != EXPRESSION_CFA)
			break;
		rule->fp = value.base == machine->fp ? WIRE_FP_FP : WIRE_FP_CFA;
		rule->fp_offset = (int32_t)value.offset;
		return;
	case CFI_VALUE:
		break;
	}
	rule->fp = WIRE_FP_UNSUPPORTED;
}

/* Whether the rule's CFA uses neither `extra` nor, with `reg`, the register. */
static bool has_room(const struct wire_rule *rule, bool reg)
{
	if (rule->cfa == WIRE_CFA_SP_INDEX || rule->cfa == WIRE_CFA_REG_DEREF)
		return false;
	return reg ? rule->cfa != WIRE_CFA_REG
		   : rule->cfa != WIRE_CFA_SP_DEREF && rule->cfa != WIRE_CFA_FP_DEREF;
}

static bool set_ra_offset(struct wire_rule *rule, const struct cfi_machine *machine, int64_t offset)
{
	bool links = machine->link != CFI_NO_REGISTER;

	if (!links && offset == -8) {
		rule->ra = WIRE_RA_CFA;
		return true;
	}
	if (!fits(offset) || !has_room(rule, false))
		return false;
	rule->ra = links ? WIRE_RA_CFA : WIRE_RA_CFA_OFFSET;
	rule->extra = (int32_t)offset;
	return true;
}

static bool set_ra_register(struct wire_rule *rule, const struct cfi_machine *machine,
			    int64_t number)
{
	if (number < 0 || number >= machine->n_registers || !has_room(rule, true))
		return false;
	rule->ra = WIRE_RA_REG;
	rule->reg = (uint8_t)number;
	return true;
}

static void set_ra(struct wire_rule *rule, const struct cfi_machine *machine,
		   const struct cfi_register *ra)
{
	struct expression_value value;
	bool known = false;

	if (ra->rule == CFI_OFFSET)
		known = set_ra_offset(rule, machine, ra->value);
	else if (ra->rule == CFI_REGISTER)
		known = set_ra_register(rule, machine, ra->value);
	else if (ra->rule == CFI_EXPRESSION)
		known = evaluate(ra->bytes, ra->size, true, &value) &&
			value.form == EXPRESSION_SUM && value.base == EXPRESSION_CFA &&
			value.index == EXPRESSION_NO_REGISTER &&
			set_ra_offset(rule, machine, value.offset);
	else if (machine->link != CFI_NO_REGISTER && ra->rule != CFI_VALUE)
		known = set_ra_register(rule, machine, machine->link);
	if (!known)
		rule->ra = WIRE_RA_UNSUPPORTED;
}

/* Whether `extra` is free for the offset at which rbx is saved. */
static bool has_room_for_rbx(const struct wire_rule *rule)
{
	return rule->ra == WIRE_RA_CFA &&
	       (rule->cfa == WIRE_CFA_SP || rule->cfa == WIRE_CFA_FP || rule->cfa == WIRE_CFA_REG);
}

static void set_rbx(struct wire_rule *rule, const struct cfi_register *rbx)
{
	if (rbx->rule == CFI_UNSPECIFIED || rbx->rule == CFI_SAME ||
	    rule->ra == WIRE_RA_UNSUPPORTED)
		return;
	if (rbx->rule == CFI_OFFSET && fits(rbx->value) && has_room_for_rbx(rule)) {
		rule->extra = (int32_t)rbx->value;
		rule->ra |= WIRE_RULE_RBX_SAVED;
	} else {
		rule->ra |= WIRE_RULE_RBX_LOST;
	}
}

/* Walks take the CFA for the caller's stack pointer. CFI rarely says otherwise (longjmp). */
static bool sp_is_cfa(const struct cfi_register *sp)
{
	return sp->rule == CFI_UNSPECIFIED || (sp->rule == CFI_VALUE && !sp->bytes && !sp->value);
}

/*
 * The kernel's signal frame, as glibc describes it for its trampoline: the stack pointer is at 160
 * bytes of it, the interrupted address at 168.
 */
static bool is_signal_frame(const struct cfi_machine *machine, const struct cfi_state *state)
{
	struct expression_value value;

	return machine->signal_pc && state->cfa_bytes && state->ra.rule == CFI_EXPRESSION &&
	       evaluate(state->cfa_bytes, state->cfa_size, false, &value) &&
	       value.form == EXPRESSION_DEREF && value.base == machine->sp &&
	       value.index == EXPRESSION_NO_REGISTER && value.offset == machine->signal_sp &&
	       !value.add && evaluate(state->ra.bytes, state->ra.size, true, &value) &&
	       value.form == EXPRESSION_SUM && value.base == machine->sp &&
	       value.index == EXPRESSION_NO_REGISTER && value.offset == machine->signal_pc;
}

void cfi_rule(const struct cfi_frame *frame, const struct cfi_state *state,
	      struct wire_rule *ret_rule)
{
	const struct cfi_machine *machine = frame->machine;
	struct wire_rule rule = { 0 };

	/* In these frames no walk uses the CFA: one rule for all. */
	if (frame->is_signal && is_signal_frame(machine, state)) {
		*ret_rule = (struct wire_rule){ .cfa = WIRE_CFA_SP, .ra = WIRE_RA_SIGNAL };
		return;
	}
	if (state->ra.rule == CFI_UNDEFINED) {
		*ret_rule = (struct wire_rule){ .cfa = WIRE_CFA_SP, .ra = WIRE_RA_END };
		return;
	}
	set_cfa(&rule, machine, state);
	set_fp(&rule, machine, &state->fp);
	if (rule.cfa != WIRE_CFA_UNSUPPORTED) {
		set_ra(&rule, machine, &state->ra);
		if (!sp_is_cfa(&state->sp))
			rule.ra = WIRE_RA_UNSUPPORTED;
		set_rbx(&rule, &state->rbx);
		if (frame->is_signal && rule.cfa != WIRE_CFA_SP)
			rule.ra |= WIRE_RULE_NEW_STACK;
	}
	*ret_rule = rule;
}
