// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts of events: the drain takes all that there is. */
#include <errno.h>
#include <stdlib.h>

#include "gauge/gauge.h"

static void configure(const struct plan *plan, struct stacktally *skeleton,
		      struct wire_config *config, uint32_t sets)
{
	(void)plan, (void)skeleton, (void)config, (void)sets;
}

static int open_counts(const struct plan *plan, struct stacktally *skeleton, struct drain *drain,
		       struct gauge **ret_gauge, struct error *err)
{
	struct gauge *gauge = malloc(sizeof(*gauge));

	(void)plan, (void)skeleton, (void)drain;
	if (!gauge)
		return error_set(err, -ENOMEM, "out of memory");
	*gauge = (struct gauge){ .ops = &gauge_counts };
	*ret_gauge = gauge;
	return 0;
}

static void close_counts(struct gauge *gauge)
{
	free(gauge);
}

const struct gauge_ops gauge_counts = {
	.keeping = { .n_sets = WIRE_EPOCHS,
		     .of_event = 1,
		     .add = epoch_stacks_add,
		     .end = epoch_stacks_clear },
	.least_sets = 256,
	.may_stop_command = true,
	.configure = configure,
	.open = open_counts,
	.close = close_counts,
};
