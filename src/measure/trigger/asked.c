// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/asked.h"

#include <errno.h>
#include <string.h>

#include "bpf/wire.h"
#include "expression/expression.h"

bool asked_of_return(const char *expression)
{
	return expression && expression_has_name(expression, ASKED_RETURNED);
}

static int compile(struct trigger *trigger, enum expression_kind kind, const char *text,
		   struct wire_expressions *expressions, struct error *err)
{
	struct event_values values;
	int r = trigger->ops->values(trigger, asked_of_return(text), &values, err);

	return r < 0 ? r
		     : expression_compile(kind, text, &values, expressions,
					  kind == EXPRESSION_VALUE ? &trigger->unit : NULL, err);
}

/* Returns are known of calls only, whose values are of their returns. */
static int check_returns(const struct trigger *trigger, const char *condition, const char *sum,
			 struct error *err)
{
	if (!trigger->scope.calls && asked_of_return(condition))
		return error_usage(err, "argument --if: what functions return is known with --time "
					"or --sum retval only");
	if (trigger->scope.calls && sum && !asked_of_return(sum))
		return error_usage(err, "argument --sum: it is no value of a return");
	return 0;
}

int asked_compile(struct trigger *trigger, const char *condition, const char *sum,
		  struct wire_expressions *ret_expressions, uint32_t *flags, struct error *err)
{
	int r = check_returns(trigger, condition, sum, err);

	if (r < 0 || (!condition && !sum))
		return r;
	if (!trigger->ops->values)
		return error_usage(err, "argument %s: these events have no values",
				   condition ? "--if" : "--sum");
	memset(ret_expressions, 0, sizeof(*ret_expressions));
	if (condition) {
		r = compile(trigger, EXPRESSION_CONDITION, condition, ret_expressions, err);
		*flags |= asked_of_return(condition) ? WIRE_IF_RETURNED : WIRE_IF;
	}
	if (r == 0 && sum) {
		r = compile(trigger, EXPRESSION_VALUE, sum, ret_expressions, err);
		*flags |= WIRE_VALUES;
	}
	return r;
}
