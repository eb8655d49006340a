// SPDX-License-Identifier: GPL-2.0-or-later
#include "drain/epochs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

struct epochs {
	struct wire_counts *counts;
	uint64_t sets;
	volatile uint32_t *epoch;
	int inner, outer; /* a map of maps, updated in order to wait; -1 until it is needed */
};

int epochs_new(struct wire_counts *counts, uint64_t sets, volatile uint32_t *epoch,
	       struct epochs **ret_epochs)
{
	struct epochs *epochs = calloc(1, sizeof(*epochs));

	if (!epochs)
		return -ENOMEM;
	*epochs = (struct epochs){
		.counts = counts, .sets = sets, .epoch = epoch, .inner = -1, .outer = -1
	};
	*ret_epochs = epochs;
	return 0;
}

void epochs_free(struct epochs *epochs)
{
	if (!epochs)
		return;
	if (epochs->inner >= 0)
		close(epochs->inner);
	if (epochs->outer >= 0)
		close(epochs->outer);
	free(epochs);
}

uint32_t epochs_now(const struct epochs *epochs)
{
	return *epochs->epoch;
}

static int make_map_of_maps(struct epochs *epochs)
{
	LIBBPF_OPTS(bpf_map_create_opts, options);

	if (epochs->outer >= 0)
		return 0;
	epochs->inner = bpf_map_create(BPF_MAP_TYPE_ARRAY, "wait_inner", sizeof(uint32_t),
				       sizeof(uint32_t), 1, NULL);
	if (epochs->inner < 0)
		return epochs->inner;
	options.inner_map_fd = (uint32_t)epochs->inner;
	epochs->outer = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "wait", sizeof(uint32_t),
				       sizeof(uint32_t), 1, &options);
	return epochs->outer < 0 ? epochs->outer : 0;
}

/*
 * An update of a map of maps waits for a grace period, so no program that ran before it still runs
 * (1ae80cf31938, Linux 4.18). The map serves no other purpose.
 */
int epochs_wait(struct epochs *epochs, struct error *err)
{
	uint32_t zero = 0;
	int r = make_map_of_maps(epochs);

	if (r >= 0)
		r = bpf_map_update_elem(epochs->outer, &zero, &epochs->inner, BPF_ANY);
	if (r < 0)
		return error_set(err, r, "cannot wait for the programs in the kernel: %s",
				 strerror(-r));
	return 0;
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
