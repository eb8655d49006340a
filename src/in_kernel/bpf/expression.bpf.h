/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Evaluates expressions about the event, before any stack is walked: whether it counts (--if), and
 * what it adds to the sum of its stack (--sum). Those about what a call returns, when it does.
 *
 * The steps are constants, so the verifier knows each of them and follows one path through it;
 * where there are no expressions, it drops all this. docs/decisions.md says why they are
 * interpreted.
 */
#ifndef STACKTALLY_BPF_EXPRESSION_BPF_H
#define STACKTALLY_BPF_EXPRESSION_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/count.bpf.h"
#include "bpf/expression_step.h"
#include "bpf/expression_wire.h"
#include "bpf/hints.h"
#include "bpf/scratch.bpf.h"
#include "bpf/wire.h"

const volatile struct wire_expressions expressions;

/* Whether the slot's text matches a pattern. */
__noinline int expression_matches(__u32 number, __u32 pattern)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	const volatile struct wire_pattern *is;
	__u64 positions = 1;

	pattern &= WIRE_PATTERNS - 1;
	is = &expressions.patterns[pattern];
	if (!slot)
		return 0;
	for (__u32 i = 0; i < WIRE_TEXT; i++) {
		__u64 character = slot->event.text[i];

		if (!character)
			break;
		positions = expression_follow(is->accepts[character], is->stays, positions);
	}
	return (positions & is->end) != 0;
}

/* Copies the string of a step to the slot. False: it cannot be read. */
static __always_inline bool expression_text(struct wire_event *event,
					    const volatile struct wire_step *step)
{
	__u64 place = event->context + (__u64)step->number;
	__u64 value = (__u64)event->registers[step->to & (WIRE_REGISTERS - 1)];
	__u32 size = step->size, location = 0;

	switch (step->op) {
	case WIRE_STEP_TEXT_USER:
		return bpf_probe_read_user_str(event->text, WIRE_TEXT, (void *)value) >= 0;
	case WIRE_STEP_TEXT_KERNEL:
		return bpf_probe_read_kernel_str(event->text, WIRE_TEXT, (void *)value) >= 0;
	case WIRE_STEP_TEXT_COMM:
		return bpf_get_current_comm(event->text, WIRE_COMM_SIZE) == 0;
	case WIRE_STEP_TEXT_LOCATION:
		if (bpf_probe_read_kernel(&location, sizeof(location), (void *)place))
			return false;
		/* Its size is in the upper half; the string has a NUL. */
		return bpf_probe_read_kernel_str(event->text, WIRE_TEXT,
						 (void *)(event->context + (location & 0xffff))) >=
		       0;
	default:
		/* A comm that fills its array has none. */
		if (size >= WIRE_TEXT)
			size = WIRE_TEXT - 1;
		event->text[size] = 0;
		return bpf_probe_read_kernel(event->text, size, (void *)place) == 0;
	}
}

/* Reads the value of a step. False: it cannot be read. */
static __always_inline bool expression_load(struct wire_event *event,
					    const volatile struct wire_step *step, __s64 *to)
{
	__u64 base = step->op == WIRE_STEP_USER ? (__u64)*to : event->context;
	void *from = (void *)(base + (__u64)step->number);
	__u32 size = step->size;
	long r;

	if (size > sizeof(event->loaded))
		return false;
	event->loaded = 0;
	if (step->op == WIRE_STEP_USER)
		r = bpf_probe_read_user(&event->loaded, size, from);
	else
		r = bpf_probe_read_kernel(&event->loaded, size, from);
	*to = expression_extend(event->loaded, size, step->flags & WIRE_STEP_SIGNED);
	return r == 0;
}

/* One step; `skip` becomes the next one that is not left out. False: there is no result. */
static __always_inline bool expression_step(struct wire_event *event, __u32 number,
					    const volatile struct wire_step *step, __u32 *skip)
{
	__s64 *to = &event->registers[step->to & (WIRE_REGISTERS - 1)];
	__u32 op = step->op;

	switch (op) {
	case WIRE_STEP_NUMBER:
		*to = step->number;
		return true;
	case WIRE_STEP_EVENT:
	case WIRE_STEP_USER:
		return expression_load(event, step, to);
	case WIRE_STEP_CPU:
		*to = bpf_get_smp_processor_id();
		return true;
	case WIRE_STEP_THREAD:
		*to = (__u32)bpf_get_current_pid_tgid();
		return true;
	case WIRE_STEP_NOT:
		*to = *to == 0;
		return true;
	case WIRE_STEP_CAST:
		*to = expression_extend((__u64)*to, step->size, step->flags & WIRE_STEP_SIGNED);
		return true;
	case WIRE_STEP_TEXT_EVENT:
	case WIRE_STEP_TEXT_LOCATION:
	case WIRE_STEP_TEXT_USER:
	case WIRE_STEP_TEXT_KERNEL:
	case WIRE_STEP_TEXT_COMM:
		if (!expression_text(event, step))
			return false;
		*to = expression_matches(number, step->from);
		return true;
	case WIRE_STEP_UNLESS:
	case WIRE_STEP_IF:
		if ((*to != 0) == (op == WIRE_STEP_IF))
			*skip = step->size;
		return true;
	default:
		return expression_operate(
			op, step->flags & WIRE_STEP_SIGNED, *to,
			step->flags & WIRE_STEP_IMMEDIATE
				? step->number
				: event->registers[step->from & (WIRE_REGISTERS - 1)],
			to);
	}
}

/* Leaves the result in register 0. False: there is none. */
static __always_inline bool expression_run(struct wire_event *event, __u32 number,
					   const volatile struct wire_program *program)
{
	__u32 skip = 0;

	for (__u32 i = 0; i < WIRE_STEPS; i++) {
		if (i >= program->n)
			break;
		if (i < skip)
			continue;
		if (!expression_step(event, number, &program->steps[i], &skip))
			return false;
	}
	return true;
}

enum expression_result {
	EXPRESSION_FALSE,
	EXPRESSION_TRUE,
	EXPRESSION_UNREAD, /* a value could not be read, or is too large */
};

/* Whether the event of the slot counts: enum expression_result. Checked by itself once. */
__noinline int event_counts(__u32 number)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);

	if (!slot || !config_has(WIRE_IF | WIRE_IF_RETURNED))
		return EXPRESSION_TRUE;
	if (!expression_run(&slot->event, number, &expressions.condition))
		return EXPRESSION_UNREAD;
	return slot->event.registers[0] != 0;
}

/*
 * Puts the value of the event into its slot: enum expression_result. EXPRESSION_FALSE: it is below
 * 0, and 0 is put there. Checked by itself once.
 */
__noinline int event_value(__u32 number)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	__s64 value;

	if (!slot || !config_has(WIRE_VALUES))
		return EXPRESSION_TRUE;
	slot->event.value = 0;
	if (!expression_run(&slot->event, number, &expressions.value))
		return EXPRESSION_UNREAD;
	value = slot->event.registers[0];
	if (expressions.value.is_signed && value < 0)
		return EXPRESSION_FALSE;
	slot->event.value = (__u64)value;
	return EXPRESSION_TRUE;
}

/* In memory the context's address is a number, with which the verifier allows arithmetic. */
static __always_inline void event_is(struct scratch *slot, const void *ctx)
{
	*(const void *volatile *)&slot->event.context = ctx;
}

/* Whether the event does not meet the condition, which is counted. */
static __always_inline bool is_unmet(__u32 number)
{
	__u32 zero = 0;
	struct wire_counters *counter = bpf_map_lookup_elem(&counters, &zero);
	int result = event_counts(number);

	if (result == EXPRESSION_TRUE || !counter)
		return false;
	__sync_fetch_and_add(&counter->unmet, 1);
	if (result == EXPRESSION_UNREAD)
		__sync_fetch_and_add(&counter->unread, 1);
	return true;
}

/* Puts the value of the event into its slot; 0 if it has none, which is counted. */
static __always_inline void take_value(__u32 number)
{
	__u32 zero = 0;
	struct wire_counters *counter = bpf_map_lookup_elem(&counters, &zero);
	int result = event_value(number);

	if (result == EXPRESSION_TRUE || !counter)
		return;
	if (result == EXPRESSION_FALSE)
		__sync_fetch_and_add(&counter->failed, 1);
	else
		__sync_fetch_and_add(&counter->unread, 1);
}

/*
 * Whether an event with a slot is left out, as it does not meet the condition: then the slot is
 * free again.
 */
static __always_inline bool is_left_out(const void *ctx, struct scratch *slot, __u32 number)
{
	if (!config_has(WIRE_IF))
		return false;
	event_is(slot, ctx);
	if (!is_unmet(number))
		return false;
	scratch_release(slot);
	return true;
}

#endif
