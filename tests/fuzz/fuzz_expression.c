// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Expressions of --if and --sum, and lines of tracepoints' formats. What compiles is evaluated: its
 * steps stay within the registers, the context and the patterns.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/evaluate.h"
#include "expression/expression.h"
#include "trigger/tracepoint_fields.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CONTEXT_SIZE 64u

static const struct event_value_site sites[] = {
	{ 0x263, { .kind = EVENT_VALUE_CONSTANT, .size = 4, .number = -1, .is_signed = true } },
	{ 0x261, { .kind = EVENT_VALUE_CONSTANT, .size = 4, .number = -1, .is_signed = true } },
	{ 0x262, { .offset = 16, .size = 2 } },
	{ 0x264, { .kind = EVENT_VALUE_CONSTANT, .size = 4, .number = 7 } },
};

static int find(const void *context, const char *name, struct event_value *ret_value,
		struct error *err)
{
	(void)context, (void)err;
	*ret_value = (struct event_value){ .offset = 8, .size = 8 };
	if (strcmp(name, "s") == 0)
		*ret_value = (struct event_value){ .kind = EVENT_VALUE_ARRAY, .size = 16 };
	else if (strcmp(name, "i") == 0)
		*ret_value = (struct event_value){ .offset = 16, .size = 4, .is_signed = true };
	else if (strcmp(name, "c") == 0)
		*ret_value = (struct event_value){ .kind = EVENT_VALUE_COMM };
	else if (strcmp(name, "b") == 0)
		*ret_value = (struct event_value){ .kind = EVENT_VALUE_BY_SITE,
						   .offset = 1,
						   .size = 4,
						   .is_signed = true,
						   .sites = sites,
						   .n_sites = sizeof(sites) / sizeof(sites[0]) };
	else if (strcmp(name, "u") != 0)
		return -ENOENT;
	return 0;
}

static void list(const void *context, void (*each)(void *to, const char *name), void *to)
{
	(void)context;
	each(to, "s");
	each(to, "i");
}

static void check(const struct wire_program *program)
{
	if (program->n == 0 || program->n > WIRE_STEPS)
		abort();
	for (uint32_t i = 0; i < program->n; i++) {
		const struct wire_step *step = &program->steps[i];
		bool skips = step->op == WIRE_STEP_UNLESS || step->op == WIRE_STEP_IF;
		bool matches = step->op >= WIRE_STEP_TEXT_EVENT && step->op <= WIRE_STEP_TEXT_COMM;

		if (step->op >= WIRE_N_STEPS || step->to >= WIRE_REGISTERS ||
		    (!matches && step->from >= WIRE_REGISTERS) ||
		    (matches && step->from >= WIRE_PATTERNS) ||
		    (skips && (step->size <= i || step->size > program->n)) ||
		    (step->op == WIRE_STEP_EVENT && step->number + step->size > CONTEXT_SIZE))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct event_values values = { .find = find, .list = list };
	static const char context[CONTEXT_SIZE] = "abc";
	struct wire_expressions expressions = { 0 };
	struct error err = { 0 };
	struct event_value value = { 0 };
	char *text, name[16];
	int64_t result;

	if (size > 4096)
		return 0;
	text = calloc(1, size + 1);
	if (!text)
		return 0;
	memcpy(text, data, size);
	if (expression_compile(EXPRESSION_CONDITION, text, &values, &expressions, NULL, &err) ==
	    0) {
		check(&expressions.condition);
		evaluate(&expressions, &expressions.condition, context, &result);
	} else if (err.exit_class != EXIT_CLASS_USAGE || strchr(err.text, '\n') != NULL) {
		/* A line of the expression's may be shown. */
		if (!strchr(text, '\n'))
			abort();
	}
	if (expression_compile(EXPRESSION_VALUE, text, &values, &expressions, NULL, NULL) == 0)
		check(&expressions.value);
	if (tracepoint_field_parse(text, "syscalls", name, sizeof(name), &value) &&
	    (strlen(name) == 0 || value.offset < 8 || value.size == 0))
		abort();
	free(text);
	return 0;
}
