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
	int counts;
	int tables[WIRE_EPOCHS];
	volatile uint32_t *epoch, *full;
};

static int make_table(struct epochs *epochs, uint32_t i, uint32_t entries, struct error *err)
{
	/* Preallocated: programs of perf events may use no other before 6.1 (01ff3d57a6ae). */
	epochs->tables[i] = bpf_map_create(BPF_MAP_TYPE_HASH, "epoch", sizeof(struct wire_hash),
					   sizeof(uint64_t), entries, NULL);
	if (epochs->tables[i] < 0)
		return error_set(err, epochs->tables[i],
				 "cannot make a table of %u counts in the kernel: %s", entries,
				 strerror(-epochs->tables[i]));
	if (bpf_map_update_elem(epochs->counts, &i, &epochs->tables[i], BPF_ANY) < 0)
		return error_set(err, -errno, "cannot put a table of counts into its place: %s",
				 strerror(errno));
	return 0;
}

int epochs_new(int counts, uint32_t entries, volatile uint32_t *epoch, volatile uint32_t *full,
	       struct epochs **ret_epochs, struct error *err)
{
	struct epochs *epochs = calloc(1, sizeof(*epochs));
	int r = 0;

	if (!epochs)
		return error_set(err, -ENOMEM, "out of memory");
	*epochs = (struct epochs){ .counts = counts, .epoch = epoch, .full = full };
	for (uint32_t i = 0; i < WIRE_EPOCHS; i++)
		epochs->tables[i] = -1;
	for (uint32_t i = 0; r == 0 && i < WIRE_EPOCHS; i++)
		r = make_table(epochs, i, entries, err);
	if (r < 0) {
		epochs_free(epochs);
		return r;
	}
	*ret_epochs = epochs;
	return 0;
}

void epochs_free(struct epochs *epochs)
{
	if (!epochs)
		return;
	for (uint32_t i = 0; i < WIRE_EPOCHS; i++)
		if (epochs->tables[i] >= 0)
			close(epochs->tables[i]);
	free(epochs);
}

uint32_t epochs_now(const struct epochs *epochs)
{
	return *epochs->epoch;
}

/*
 * An update of a map of maps returns after a grace period, once no program can still use what
 * it found there (1ae80cf31938, 4.18): that is what is wanted of it, so a table is put where it
 * is already.
 */
int epochs_settle(struct epochs *epochs, struct error *err)
{
	uint32_t now = *epochs->epoch;

	if (bpf_map_update_elem(epochs->counts, &now, &epochs->tables[now], BPF_ANY) < 0)
		return error_set(err, -errno, "cannot turn the tables of counts: %s",
				 strerror(errno));
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
	return 0;
}
