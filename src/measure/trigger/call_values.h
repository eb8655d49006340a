/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The arguments of a call, as a program that runs at the entry of a function finds them: arg1 to
 * arg6 in the registers, and those that the kernel's types name.
 */
#ifndef STACKTALLY_TRIGGER_CALL_VALUES_H
#define STACKTALLY_TRIGGER_CALL_VALUES_H

#include "trigger/value_list.h"

#define CALL_ARGUMENTS 6u

/* How the program's context has them. */
enum call_context {
	CALL_REGISTERS, /* struct pt_regs */
	CALL_ARRAY,	/* one after another: fentry's */
};

/*
 * Adds arg1 to arg6, numbers of 64 bits without a sign or addresses of strings in that memory. 0 or
 * -ENOMEM.
 */
int call_values_add(struct value_list *values, enum call_context context,
		    enum event_value_text memory);

/*
 * Adds the parameters of a kernel function by their names; none if the kernel's BTF does not know
 * it. 0 or -ENOMEM.
 */
int call_values_add_named(struct value_list *values, enum call_context context,
			  const char *function);

/*
 * Adds what a call returns, as a program that runs at the return finds it: retval, a signed number
 * of 64 bits or, of a kernel function that is known by name, of its type. 0 or -ENOMEM.
 */
int call_values_add_result(struct value_list *values, const char *function,
			   enum event_value_text memory);

#endif
