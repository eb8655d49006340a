/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a plan asks of each event (--if, --sum), as expressions about the values that a trigger's
 * events have.
 */
#ifndef STACKTALLY_TRIGGER_ASKED_H
#define STACKTALLY_TRIGGER_ASKED_H

#include "bpf/expression_wire.h"
#include "trigger/trigger.h"

/*
 * Compiles both, of which either may be NULL; after the trigger's select(), which decides how its
 * programs see an event. Sets trigger->unit. 0; -EINVAL: a usage error; or another negative errno,
 * with `err` set.
 */
int asked_compile(struct trigger *trigger, const char *condition, const char *sum,
		  struct wire_expressions *ret_expressions, struct error *err);

#endif
