// SPDX-License-Identifier: GPL-2.0-or-later
#include "live/batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"

DEFINE_OWN(struct batch, batch_free)

void batch_free(struct batch *batch)
{
	if (!batch)
		return;
	free(batch->addresses);
	free(batch->entries);
	free(batch->frames);
	free(batch->counts);
	free(batch);
}

static const struct tally_stack *stack_of(const struct tally *tally, uint32_t id)
{
	return id < tally_n_stacks(tally) ? &tally_stacks(tally)[id] : NULL;
}

static size_t frames_of(const struct tally *tally, uint32_t id)
{
	const struct tally_stack *stack = stack_of(tally, id);

	return stack ? stack->n_frames : 0;
}

static int make_room(struct batch *batch, const struct batcher *batcher, const struct tally *tally)
{
	const struct tally_entry *entries = tally_entries(tally);
	uint32_t n = tally_n_entries(tally), n_counts = 0;
	size_t n_frames = 0;

	for (uint32_t i = 0; i < batcher->n_seen; i++)
		n_counts += entries[i].count != batcher->seen[i];
	for (uint32_t i = batcher->n_seen; i < n; i++)
		n_frames += frames_of(tally, entries[i].kernel) + frames_of(tally, entries[i].user);
	batch->addresses =
		reallocarray(NULL, (size_t)tally_n_addresses(tally) - batcher->n_addresses + 1,
			     sizeof(*batch->addresses));
	batch->entries =
		reallocarray(NULL, (size_t)n - batcher->n_seen + 1, sizeof(*batch->entries));
	batch->frames = reallocarray(NULL, n_frames + 1, sizeof(*batch->frames));
	batch->counts = reallocarray(NULL, (size_t)n_counts + 1, sizeof(*batch->counts));
	if (!batch->addresses || !batch->entries || !batch->frames || !batch->counts)
		return -ENOMEM;
	return 0;
}

static uint32_t put_stack(struct batch *batch, const struct tally *tally, uint32_t id,
			  uint32_t *ret_flags)
{
	const struct tally_stack *stack = stack_of(tally, id);

	*ret_flags = 0;
	if (!stack)
		return 0;
	*ret_flags = stack->flags;
	memcpy(batch->frames + batch->n_frames, tally_frames(tally, stack),
	       stack->n_frames * sizeof(*batch->frames));
	batch->n_frames += stack->n_frames;
	return stack->n_frames;
}

static struct tally_losses difference(const struct tally_losses *now,
				      const struct tally_losses *before)
{
	return (struct tally_losses){
		.events = now->events - before->events,
		.lost_ring = now->lost_ring - before->lost_ring,
		.lost_counts = now->lost_counts - before->lost_counts,
		.lost_nested = now->lost_nested - before->lost_nested,
		.throttled = now->throttled - before->throttled,
		.unseen = now->unseen - before->unseen,
		.counts_full = now->counts_full,
	};
}

static void fill(struct batch *batch, struct batcher *batcher, const struct tally *tally,
		 const char *(*cgroup)(void *context, uint64_t id), void *context)
{
	const struct tally_entry *entries = tally_entries(tally);
	uint32_t n = tally_n_entries(tally);

	batch->n_addresses = tally_n_addresses(tally) - batcher->n_addresses;
	if (batch->n_addresses)
		memcpy(batch->addresses, tally_addresses(tally) + batcher->n_addresses,
		       batch->n_addresses * sizeof(*batch->addresses));
	for (uint32_t i = 0; i < batcher->n_seen; i++) {
		uint64_t more = entries[i].count - batcher->seen[i];

		if (more)
			batch->counts[batch->n_counts++] = (struct batch_count){ more, i };
		batcher->seen[i] = entries[i].count;
	}
	for (uint32_t i = batcher->n_seen; i < n; i++) {
		struct batch_entry *entry = &batch->entries[batch->n_entries++];

		*entry = (struct batch_entry){ .entry = entries[i] };
		entry->n_kernel = put_stack(batch, tally, entries[i].kernel, &entry->kernel_flags);
		entry->n_user = put_stack(batch, tally, entries[i].user, &entry->user_flags);
		entry->cgroup = entries[i].cgroup ? cgroup(context, entries[i].cgroup) : NULL;
		batcher->seen[i] = entries[i].count;
	}
	batch->losses = difference(tally_losses_of(tally), &batcher->losses);
	batch->fresh = batcher->fresh;
	batcher->fresh = false;
	batcher->n_seen = n;
	batcher->n_addresses = tally_n_addresses(tally);
	batcher->losses = *tally_losses_of(tally);
}

int batcher_take(struct batcher *batcher, const struct tally *tally, uint64_t at_ns,
		 const char *(*cgroup)(void *context, uint64_t id), void *context,
		 struct batch **ret_batch)
{
	own(own_batch_free) struct batch *batch = calloc(1, sizeof(*batch));
	uint32_t n = tally_n_entries(tally);

	if (!batch || make_room(batch, batcher, tally) < 0)
		return -ENOMEM;
	if (n > batcher->room) {
		uint32_t room = n + n / 2;
		uint64_t *grown = reallocarray(batcher->seen, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		batcher->seen = grown;
		batcher->room = room;
	}
	batch->at_ns = at_ns;
	fill(batch, batcher, tally, cgroup, context);
	*ret_batch = take_ptr(batch);
	return 0;
}

void batcher_forget(struct batcher *batcher)
{
	batcher->n_seen = 0;
	batcher->losses = (struct tally_losses){ 0 };
	batcher->fresh = true;
}

void batcher_clear(struct batcher *batcher)
{
	free(batcher->seen);
	*batcher = (struct batcher){ 0 };
}
