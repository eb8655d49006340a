/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a plan asks of each event (--if, --sum), as expressions about the values that a trigger's
 * events have.
 */
#ifndef STACKTALLY_TRIGGER_ASKED_H
#define STACKTALLY_TRIGGER_ASKED_H

#include "bpf/expression_wire.h"
#include "trigger/trigger.h"

/* What functions return. */
#define ASKED_RETURNED "retval"

/* Whether an expression, which may be NULL, is about what functions return. */
bool asked_of_return(const char *expression);

/*
 * Compiles both, of which either may be NULL; after the trigger's select(), which decides how its
 * programs see an event. Sets trigger->unit, and in *flags those of enum wire_flags. 0; -EINVAL: a
 * usage error; or another negative errno, with `err` set.
 */
int asked_compile(struct trigger *trigger, const char *condition, const char *sum,
		  struct wire_expressions *ret_expressions, uint32_t *flags, struct error *err);

#endif
