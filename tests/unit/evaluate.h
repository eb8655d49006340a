/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Evaluates a compiled expression as the BPF program does (bpf/expression.bpf.h), in a context that
 * is plain memory. User memory and the kernel's are this process's.
 */
#ifndef STACKTALLY_TESTS_EVALUATE_H
#define STACKTALLY_TESTS_EVALUATE_H

#include <stdint.h>
#include <string.h>

#include "bpf/expression_step.h"

#define EVALUATE_CPU	3
#define EVALUATE_THREAD 77
#define EVALUATE_COMM	"worker/1"

static inline bool evaluate_matches(const struct wire_pattern *pattern, const char *text)
{
	uint64_t positions = 1;

	for (; *text; text++)
		positions = expression_follow(pattern->accepts[(unsigned char)*text],
					      pattern->stays, positions);
	return positions & pattern->end;
}

static inline bool evaluate_text(const struct wire_step *step, const unsigned char *context,
				 int64_t value, char ret_text[WIRE_TEXT])
{
	uint32_t location;

	memset(ret_text, 0, WIRE_TEXT);
	switch (step->op) {
	case WIRE_STEP_TEXT_USER:
	case WIRE_STEP_TEXT_KERNEL:
		if (!value)
			return false;
		strncpy(ret_text, (const char *)(uintptr_t)value, WIRE_TEXT - 1);
		return true;
	case WIRE_STEP_TEXT_COMM:
		memcpy(ret_text, EVALUATE_COMM, sizeof(EVALUATE_COMM));
		return true;
	case WIRE_STEP_TEXT_LOCATION:
		memcpy(&location, context + step->number, sizeof(location));
		strncpy(ret_text, (const char *)context + (location & 0xffff), WIRE_TEXT - 1);
		return true;
	default:
		memcpy(ret_text, context + step->number,
		       step->size < WIRE_TEXT ? step->size : WIRE_TEXT - 1);
		return true;
	}
}

static inline bool evaluate_load(const struct wire_step *step, const unsigned char *context,
				 __s64 *to)
{
	const void *from = step->op == WIRE_STEP_USER ? (const void *)(uintptr_t)*to : context;
	uint64_t word = 0;

	if (!from || step->size > sizeof(word))
		return false;
	memcpy(&word, (const char *)from + step->number, step->size);
	*to = expression_extend(word, step->size, step->flags & WIRE_STEP_SIGNED);
	return true;
}

/* False: there is no result. */
static inline bool evaluate(const struct wire_expressions *expressions,
			    const struct wire_program *program, const void *context,
			    int64_t *ret_result)
{
	__s64 registers[WIRE_REGISTERS] = { 0 };
	uint32_t skip = 0;

	for (uint32_t i = 0; i < program->n; i++) {
		const struct wire_step *step = &program->steps[i];
		__s64 *to = &registers[step->to];
		char text[WIRE_TEXT];
		bool done = true;

		if (i < skip)
			continue;
		switch (step->op) {
		case WIRE_STEP_NUMBER:
			*to = step->number;
			break;
		case WIRE_STEP_EVENT:
		case WIRE_STEP_USER:
			done = evaluate_load(step, context, to);
			break;
		case WIRE_STEP_CPU:
			*to = EVALUATE_CPU;
			break;
		case WIRE_STEP_THREAD:
			*to = EVALUATE_THREAD;
			break;
		case WIRE_STEP_NOT:
			*to = *to == 0;
			break;
		case WIRE_STEP_CAST:
			*to = expression_extend((uint64_t)*to, step->size,
						step->flags & WIRE_STEP_SIGNED);
			break;
		case WIRE_STEP_TEXT_EVENT:
		case WIRE_STEP_TEXT_LOCATION:
		case WIRE_STEP_TEXT_USER:
		case WIRE_STEP_TEXT_KERNEL:
		case WIRE_STEP_TEXT_COMM:
			done = evaluate_text(step, context, *to, text);
			*to = done && evaluate_matches(&expressions->patterns[step->from], text);
			break;
		case WIRE_STEP_UNLESS:
		case WIRE_STEP_IF:
			if ((*to != 0) == (step->op == WIRE_STEP_IF))
				skip = step->size;
			break;
		default:
			done = expression_operate(step->op, step->flags & WIRE_STEP_SIGNED, *to,
						  step->flags & WIRE_STEP_IMMEDIATE
							  ? step->number
							  : registers[step->from],
						  to);
		}
		if (!done)
			return false;
	}
	*ret_result = registers[0];
	return true;
}

#endif
