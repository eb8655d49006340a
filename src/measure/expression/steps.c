// SPDX-License-Identifier: GPL-2.0-or-later
#include "expression/steps.h"

#include <errno.h>

int steps_add(struct wire_program *program, const struct wire_step *step)
{
	if (program->n == WIRE_STEPS)
		return -E2BIG;
	program->steps[program->n++] = *step;
	return 0;
}

/* Reads a register of the context as an address, and adds its index. */
static int load_address(struct wire_program *program, const struct event_value *value, uint32_t to)
{
	const struct event_value_index *index = &value->index;
	struct wire_step step = { .op = WIRE_STEP_EVENT,
				  .to = (__u8)to,
				  .size = sizeof(uint64_t),
				  .number = value->offset };
	int r = steps_add(program, &step);

	if (r < 0 || !index->scale)
		return r;
	step.to = (__u8)(to + 1);
	step.number = index->offset;
	r = steps_add(program, &step);
	if (r == 0)
		r = steps_add(program,
			      &(struct wire_step){ .op = WIRE_STEP_MUL,
						   .flags = WIRE_STEP_SIGNED | WIRE_STEP_IMMEDIATE,
						   .to = (__u8)(to + 1),
						   .number = index->scale });
	return r < 0 ? r : steps_operate(program, WIRE_STEP_ADD, to, true);
}

/* ---- values by site ---- */

/* Puts into a register whether the event is at this site. */
static int load_is_at(struct wire_program *program, const struct event_value *value,
		      const struct event_value_site *site, uint32_t to)
{
	struct wire_step steps[] = {
		{ .op = WIRE_STEP_EVENT, .size = sizeof(uint16_t), .number = value->offset },
		{ .op = WIRE_STEP_AND,
		  .flags = WIRE_STEP_IMMEDIATE,
		  .number = EVENT_VALUE_IN_PAGE },
		{ .op = WIRE_STEP_EQ, .flags = WIRE_STEP_IMMEDIATE, .number = site->in_page },
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(steps) / sizeof(steps[0]); i++) {
		steps[i].to = (__u8)to;
		r = steps_add(program, &steps[i]);
	}
	return r;
}

/* Leaves out the steps up to a place that is known later. */
static int skip(struct wire_program *program, enum wire_step_op op, uint32_t to)
{
	return steps_add(program, &(struct wire_step){ .op = (__u8)op, .to = (__u8)to });
}

/* At one of the first `n` sites, which are alike, reads their value and goes to the end. */
static int load_if_at(struct wire_program *program, const struct event_value *value,
		      const struct event_value_site *sites, uint32_t n, uint32_t to)
{
	uint32_t checks[WIRE_STEPS], n_checks = 0;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < n; i++) {
		r = load_is_at(program, value, &sites[i], to + 1);
		if (r == 0) {
			checks[n_checks++] = program->n;
			r = skip(program, i + 1 < n ? WIRE_STEP_IF : WIRE_STEP_UNLESS, to + 1);
		}
	}
	for (uint32_t i = 0; i + 1 < n_checks; i++)
		program->steps[checks[i]].size = program->n;
	if (r == 0)
		r = steps_load(program, &sites[0].value, to);
	if (r == 0)
		r = steps_add(program, &(struct wire_step){ .op = WIRE_STEP_NUMBER,
							    .to = (__u8)(to + 1),
							    .number = 1 });
	if (r == 0)
		r = skip(program, WIRE_STEP_IF, to + 1);
	if (r == 0)
		program->steps[checks[n_checks - 1]].size = program->n;
	return r;
}

static int load_by_site(struct wire_program *program, const struct event_value *value, uint32_t to)
{
	uint32_t ends[WIRE_STEPS], n_ends = 0, first = 0;
	int r = 0;

	for (uint32_t i = 1; r == 0 && i < value->n_sites; i++) {
		if (event_value_is_alike(&value->sites[first].value, &value->sites[i].value))
			continue;
		r = load_if_at(program, value, &value->sites[first], i - first, to);
		ends[n_ends++] = program->n - 1;
		first = i;
	}
	if (r == 0)
		r = steps_load(program, &value->sites[first].value, to);
	/* No number may be the last step: steps_operate() would take it for the whole value. */
	if (r == 0)
		r = steps_add(program, &(struct wire_step){ .op = WIRE_STEP_CAST,
							    .to = (__u8)to,
							    .size = sizeof(uint64_t) });
	for (uint32_t i = 0; r == 0 && i < n_ends; i++)
		program->steps[ends[i]].size = program->n;
	return r;
}

int steps_load(struct wire_program *program, const struct event_value *value, uint32_t to)
{
	struct wire_step step = { .op = WIRE_STEP_EVENT,
				  .flags = value->is_signed ? WIRE_STEP_SIGNED : 0,
				  .to = (__u8)to,
				  .size = value->size,
				  .number = value->offset };
	int r = 0;

	switch (value->kind) {
	case EVENT_VALUE_BY_SITE:
		return load_by_site(program, value, to);
	case EVENT_VALUE_CONSTANT:
		step.op = WIRE_STEP_NUMBER;
		step.number = value->number;
		break;
	case EVENT_VALUE_CPU:
		step.op = WIRE_STEP_CPU;
		break;
	case EVENT_VALUE_THREAD:
		step.op = WIRE_STEP_THREAD;
		break;
	case EVENT_VALUE_MEMORY:
		r = load_address(program, value, to);
		step.op = WIRE_STEP_USER;
		step.number = value->number;
		break;
	default:
		break;
	}
	return r < 0 ? r : steps_add(program, &step);
}

int steps_match(struct wire_program *program, const struct event_value *value, uint32_t to,
		uint32_t pattern)
{
	struct wire_step step = {
		.to = (__u8)to, .from = (__u8)pattern, .size = value->size, .number = value->offset
	};

	if (value->kind == EVENT_VALUE_ARRAY)
		step.op = WIRE_STEP_TEXT_EVENT;
	else if (value->kind == EVENT_VALUE_LOCATION)
		step.op = WIRE_STEP_TEXT_LOCATION;
	else if (value->kind == EVENT_VALUE_COMM)
		step.op = WIRE_STEP_TEXT_COMM;
	else if (value->text == EVENT_TEXT_USER)
		step.op = WIRE_STEP_TEXT_USER;
	else
		step.op = WIRE_STEP_TEXT_KERNEL;
	return steps_add(program, &step);
}

int steps_operate(struct wire_program *program, enum wire_step_op op, uint32_t to, bool is_signed)
{
	struct wire_step step = { .op = (__u8)op,
				  .flags = is_signed ? WIRE_STEP_SIGNED : 0,
				  .to = (__u8)to,
				  .from = (__u8)(to + 1) };
	const struct wire_step *last = &program->steps[program->n - 1];

	if (last->op == WIRE_STEP_NUMBER && last->to == to + 1) {
		step.flags |= WIRE_STEP_IMMEDIATE;
		step.number = last->number;
		program->n--;
	}
	return steps_add(program, &step);
}
