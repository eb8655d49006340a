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

int steps_load(struct wire_program *program, const struct event_value *value, uint32_t to)
{
	struct wire_step step = { .op = WIRE_STEP_EVENT,
				  .flags = value->is_signed ? WIRE_STEP_SIGNED : 0,
				  .to = (__u8)to,
				  .size = value->size,
				  .number = value->offset };
	int r = 0;

	switch (value->kind) {
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
