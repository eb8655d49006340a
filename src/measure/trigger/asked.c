// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/asked.h"

#include <errno.h>
#include <string.h>

#include "expression/expression.h"

int asked_compile(struct trigger *trigger, const char *condition, const char *sum,
		  struct wire_expressions *ret_expressions, struct error *err)
{
	struct event_values values;
	int r = 0;

	if (!condition && !sum)
		return 0;
	if (!trigger->ops->values)
		return error_usage(err, "argument %s: these events have no values",
				   condition ? "--if" : "--sum");
	memset(ret_expressions, 0, sizeof(*ret_expressions));
	r = trigger->ops->values(trigger, &values, err);
	if (r == 0 && condition)
		r = expression_compile(EXPRESSION_CONDITION, condition, &values, ret_expressions,
				       NULL, err);
	if (r == 0 && sum)
		r = expression_compile(EXPRESSION_VALUE, sum, &values, ret_expressions,
				       &trigger->unit, err);
	return r;
}
