// SPDX-License-Identifier: GPL-2.0-or-later
/* Values of events, which the kernel side adds to the event's stack (bpf/capture.bpf.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gauge/gauge.h"
#include "gauge/sum_sets.h"

struct values {
	struct gauge gauge;
	struct sum_sets sums;
};

static struct values *values_of(struct gauge *gauge)
{
	return (struct values *)gauge;
}

static void configure(const struct plan *plan, struct stacktally *skeleton,
		      struct wire_config *config, uint32_t sets)
{
	(void)plan, (void)config;
	sum_sets_configure(skeleton, sets);
}

static void close_values(struct gauge *gauge)
{
	sum_sets_close(&values_of(gauge)->sums);
	free(gauge);
}

static int open_values(const struct plan *plan, struct stacktally *skeleton, struct drain *drain,
		       struct gauge **ret_gauge, struct error *err)
{
	struct values *values = calloc(1, sizeof(*values));
	int r;

	(void)plan;
	if (!values)
		return error_set(err, -ENOMEM, "out of memory");
	values->gauge.ops = &gauge_values;
	r = sum_sets_open(&values->sums, skeleton, drain, err);
	if (r < 0) {
		close_values(&values->gauge);
		return r;
	}
	*ret_gauge = &values->gauge;
	return 0;
}

static int drain_values(struct gauge *gauge, const struct gauge_epoch *epoch, struct tally *tally,
			struct error *err)
{
	struct values *values = values_of(gauge);
	int r = sum_sets_drain(&values->sums, epoch->number);

	if (r < 0)
		return error_set(err, r, "cannot add up the values: %s", strerror(-r));
	if (epoch->final)
		tally_losses(tally)->lost_values += sum_sets_lose(&values->sums);
	return 0;
}

const struct gauge_ops gauge_values = {
	.keeping = { .n_sets = 1,
		     .of_event = 0,
		     .add = sum_sets_add_stack,
		     .end = epoch_stacks_keep },
	/* Each has a set of sums beside it. */
	.least_sets = 128,
	.may_stop_command = true,
	.configure = configure,
	.open = open_values,
	.close = close_values,
	.drain = drain_values,
};
