// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/epochs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "base/own.h"

/* Large enough for any bucket of a hash table that is not under attack; grown when it is not. */
#define DRAIN_BATCH 4096u

struct epochs {
	int tables[WIRE_EPOCHS];
	volatile uint32_t *epoch, *full, *keys;
	int inner, outer; /* of the map of maps that is updated to wait; -1 until then */
};

int epochs_new(const int tables[WIRE_EPOCHS], volatile uint32_t *epoch, volatile uint32_t *full,
	       volatile uint32_t *keys, struct epochs **ret_epochs)
{
	struct epochs *epochs = calloc(1, sizeof(*epochs));

	if (!epochs)
		return -ENOMEM;
	*epochs = (struct epochs){
		.epoch = epoch, .full = full, .keys = keys, .inner = -1, .outer = -1
	};
	memcpy(epochs->tables, tables, sizeof(epochs->tables));
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
	epochs->inner = bpf_map_create(BPF_MAP_TYPE_ARRAY, "settle_inner", sizeof(uint32_t),
				       sizeof(uint32_t), 1, NULL);
	if (epochs->inner < 0)
		return epochs->inner;
	options.inner_map_fd = (uint32_t)epochs->inner;
	epochs->outer = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "settle", sizeof(uint32_t),
				       sizeof(uint32_t), 1, &options);
	return epochs->outer < 0 ? epochs->outer : 0;
}

/*
 * An update of a map of maps returns after a grace period, once no program that ran before can
 * still be running (1ae80cf31938, 4.18): that is all this map is for.
 */
int epochs_settle(struct epochs *epochs, struct error *err)
{
	uint32_t zero = 0;
	int r = make_map_of_maps(epochs);

	if (r == 0)
		r = bpf_map_update_elem(epochs->outer, &zero, &epochs->inner, BPF_ANY);
	if (r < 0)
		return error_set(err, r, "cannot wait for the programs in the kernel: %s",
				 strerror(-r));
	return 0;
}

int epochs_turn(struct epochs *epochs, struct error *err)
{
	uint32_t ended = *epochs->epoch;
	int r;

	*epochs->epoch = !ended;
	r = epochs_settle(epochs, err);
	return r < 0 ? r : (int)ended;
}

static int take_batch(const struct wire_hash *keys, const uint64_t *values, uint32_t n,
		      int (*take)(void *, const struct wire_hash *, uint64_t), void *context)
{
	for (uint32_t i = 0; i < n; i++) {
		int r = take(context, &keys[i], values[i]);

		if (r < 0)
			return r;
	}
	return 0;
}

int epochs_drain(struct epochs *epochs, uint32_t epoch,
		 int (*take)(void *context, const struct wire_hash *hash, uint64_t count),
		 void *context, struct error *err)
{
	own(own_free) struct wire_hash *keys = NULL;
	own(own_free) uint64_t *values = NULL;
	uint32_t room = DRAIN_BATCH, cursor = 0;
	bool first = true;
	int r;

	for (;;) {
		uint32_t n = room;

		free(keys);
		free(values);
		keys = malloc((size_t)room * sizeof(*keys));
		values = malloc((size_t)room * sizeof(*values));
		if (!keys || !values)
			return error_set(err, -ENOMEM, "out of memory");
		r = bpf_map_lookup_and_delete_batch(epochs->tables[epoch], first ? NULL : &cursor,
						    &cursor, keys, values, &n, NULL);
		if (r == -ENOSPC && n == 0) {
			/* One bucket holds more than the batch: the same again with more room. */
			room *= 2;
			continue;
		}
		if (r < 0 && r != -ENOENT)
			return error_set(err, r, "cannot read the counts: %s", strerror(-r));
		first = false;
		if (take_batch(keys, values, n, take, context) < 0)
			return error_set(err, -ENOMEM, "out of memory");
		if (r == -ENOENT)
			break;
	}
	epochs->full[epoch] = 0;
	epochs->keys[epoch] = 0;
	return 0;
}
