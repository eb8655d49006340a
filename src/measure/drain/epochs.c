// SPDX-License-Identifier: GPL-2.0-or-later
#include "drain/epochs.h"

#include <errno.h>
#include <stdlib.h>

#include "drain/grace_period.h"

struct epochs {
	struct wire_counts *counts;
	uint64_t sets;
	volatile uint32_t *epoch;
	struct grace_period period;
};

int epochs_new(struct wire_counts *counts, uint64_t sets, volatile uint32_t *epoch,
	       struct epochs **ret_epochs)
{
	struct epochs *epochs = calloc(1, sizeof(*epochs));

	if (!epochs)
		return -ENOMEM;
	*epochs = (struct epochs){
		.counts = counts, .sets = sets, .epoch = epoch, .period = GRACE_PERIOD_NONE
	};
	*ret_epochs = epochs;
	return 0;
}

void epochs_free(struct epochs *epochs)
{
	if (!epochs)
		return;
	grace_period_close(&epochs->period);
	free(epochs);
}

uint32_t epochs_now(const struct epochs *epochs)
{
	return *epochs->epoch;
}

int epochs_wait(struct epochs *epochs, struct error *err)
{
	return grace_period_wait(&epochs->period, err);
}

int epochs_switch(struct epochs *epochs, struct error *err)
{
	uint32_t ended = *epochs->epoch;
	int r;

	*epochs->epoch = !ended;
	r = epochs_wait(epochs, err);
	return r < 0 ? r : (int)ended;
}

int epochs_drain(struct epochs *epochs, uint32_t epoch,
		 int (*take)(void *context, const struct wire_hash *hash, uint64_t count),
		 void *context)
{
	struct wire_counts *counts = epochs->counts + epoch * epochs->sets;

	for (uint64_t i = 0; i < epochs->sets; i++) {
		for (uint32_t way = 0; way < WIRE_WAYS; way++) {
			struct wire_hash hash = { counts[i].low[way], counts[i].high[way] };
			int r = counts[i].count[way] ? take(context, &hash, counts[i].count[way])
						     : 0;

			if (r < 0)
				return r;
			if (counts[i].count[way])
				counts[i].count[way] = 0;
		}
	}
	return 0;
}
