// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/call_values.h"

#include <stddef.h>
#include <stdio.h>
#include <sys/user.h>

#include "kernel/function_types.h"

_Static_assert(CALL_ARGUMENTS == KERNEL_PARAMETERS_MAX, "as many are in registers");

static uint32_t offset_of(enum call_context context, uint32_t argument)
{
#if defined(__x86_64__)
	/* The kernel's struct pt_regs has the same members up to `ss`. */
	static const uint32_t registers[CALL_ARGUMENTS] = {
		offsetof(struct user_regs_struct, rdi), offsetof(struct user_regs_struct, rsi),
		offsetof(struct user_regs_struct, rdx), offsetof(struct user_regs_struct, rcx),
		offsetof(struct user_regs_struct, r8),	offsetof(struct user_regs_struct, r9),
	};

	return context == CALL_ARRAY ? argument * 8 : registers[argument];
#else
	/* x0 to x5, with which it begins. */
	(void)context;
	return argument * 8;
#endif
}

int call_values_add(struct value_list *values, enum call_context context,
		    enum event_value_text memory)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < CALL_ARGUMENTS; i++) {
		const struct event_value value = { .size = sizeof(uint64_t),
						   .offset = offset_of(context, i),
						   .text = memory };
		char name[16];

		snprintf(name, sizeof(name), "arg%u", i + 1);
		r = value_list_add(values, name, &value);
	}
	return r;
}

int call_values_add_named(struct value_list *values, enum call_context context,
			  const char *function)
{
	struct kernel_parameter parameters[KERNEL_PARAMETERS_MAX];
	uint32_t n = kernel_function_parameters(function, parameters);
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < n; i++) {
		const struct kernel_parameter *is = &parameters[i];

		r = value_list_add(values, is->name,
				   &(struct event_value){ .size = is->size,
							  .offset = offset_of(context, i),
							  .is_signed = is->is_signed,
							  .text = is->is_string ? EVENT_TEXT_KERNEL
										: EVENT_TEXT_NONE,
							  .unit = is->is_size ? "bytes" : NULL });
	}
	return r;
}

int call_values_add_result(struct value_list *values, const char *function,
			   enum event_value_text memory)
{
	struct event_value value = { .size = sizeof(uint64_t), .is_signed = true, .text = memory };
	struct kernel_parameter is;

#if defined(__x86_64__)
	value.offset = offsetof(struct user_regs_struct, rax);
#endif
	if (function && kernel_function_result(function, &is)) {
		value.size = is.size;
		value.is_signed = is.is_signed;
		value.unit = is.is_size ? "bytes" : NULL;
	}
	return value_list_add(values, "retval", &value);
}
