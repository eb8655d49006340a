/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The steps of a program, as they are made one after another. */
#ifndef STACKTALLY_EXPRESSION_STEPS_H
#define STACKTALLY_EXPRESSION_STEPS_H

#include "bpf/expression_wire.h"
#include "expression/event_value.h"

/* 0, or -E2BIG: there are WIRE_STEPS already. */
int steps_add(struct wire_program *program, const struct wire_step *step);

/* Reads a number of the event to a register; the one behind it is used, too. 0 or -E2BIG. */
int steps_load(struct wire_program *program, const struct event_value *value, uint32_t to);

/* Compares a string with a pattern; an address to one is in `to`. 0 or -E2BIG. */
int steps_match(struct wire_program *program, const struct event_value *value, uint32_t to,
		uint32_t pattern);

/*
 * An operation of a register and the one behind it. A number that was put there last becomes part
 * of it. 0 or -E2BIG.
 */
int steps_operate(struct wire_program *program, enum wire_step_op op, uint32_t to, bool is_signed);

#endif
