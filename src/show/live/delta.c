// SPDX-License-Identifier: GPL-2.0-or-later
#include "live/delta.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/own.h"

DEFINE_OWN(struct delta, delta_free)

void delta_free(struct delta *delta)
{
	if (!delta)
		return;
	free(delta->addresses);
	free(delta->entries);
	free(delta->frames);
	free(delta->counts);
	free(delta);
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

static bool has_more(const struct tally_entry *entry, const struct delta_sent *sent)
{
	return entry->count != sent->count || entry->events != sent->events;
}

static int make_room(struct delta *delta, const struct delta_tracker *tracker,
		     const struct tally *tally)
{
	const struct tally_entry *entries = tally_entries(tally);
	uint32_t n = tally_n_entries(tally), n_counts = 0;
	size_t n_frames = 0;

	for (uint32_t i = 0; i < tracker->n_sent; i++)
		n_counts += has_more(&entries[i], &tracker->sent[i]);
	for (uint32_t i = tracker->n_sent; i < n; i++)
		n_frames += frames_of(tally, entries[i].kernel) + frames_of(tally, entries[i].user);
	delta->addresses =
		reallocarray(NULL, (size_t)tally_n_addresses(tally) - tracker->n_addresses + 1,
			     sizeof(*delta->addresses));
	delta->entries =
		reallocarray(NULL, (size_t)n - tracker->n_sent + 1, sizeof(*delta->entries));
	delta->frames = reallocarray(NULL, n_frames + 1, sizeof(*delta->frames));
	delta->counts = reallocarray(NULL, (size_t)n_counts + 1, sizeof(*delta->counts));
	if (!delta->addresses || !delta->entries || !delta->frames || !delta->counts)
		return -ENOMEM;
	return 0;
}

static uint32_t put_stack(struct delta *delta, const struct tally *tally, uint32_t id,
			  uint32_t *ret_flags)
{
	const struct tally_stack *stack = stack_of(tally, id);

	*ret_flags = 0;
	if (!stack)
		return 0;
	*ret_flags = stack->flags;
	memcpy(delta->frames + delta->n_frames, tally_frames(tally, stack),
	       stack->n_frames * sizeof(*delta->frames));
	delta->n_frames += stack->n_frames;
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
		.due = now->due - before->due,
		.due_throttled = now->due_throttled - before->due_throttled,
		.due_stolen = now->due_stolen - before->due_stolen,
		.due_late = now->due_late - before->due_late,
		.lost_time = now->lost_time - before->lost_time,
		.lost_threads = now->lost_threads - before->lost_threads,
		.lost_ends = now->lost_ends - before->lost_ends,
		.unwalked = now->unwalked - before->unwalked,
		.failed = now->failed - before->failed,
		.unread = now->unread - before->unread,
		.unreturned = now->unreturned - before->unreturned,
		.unentered = now->unentered - before->unentered,
		.lost_calls = now->lost_calls - before->lost_calls,
		.unallocated = now->unallocated - before->unallocated,
		.lost_blocks = now->lost_blocks - before->lost_blocks,
		.lost_bytes = now->lost_bytes - before->lost_bytes,
		.replaced_blocks = now->replaced_blocks - before->replaced_blocks,
		.unmapped = now->unmapped - before->unmapped,
		.lost_values = now->lost_values - before->lost_values,
		.unsampled = now->unsampled - before->unsampled,
		.lost_memory = now->lost_memory - before->lost_memory,
		.counts_full = now->counts_full,
		.memory_full = now->memory_full,
		.saturated = now->saturated,
	};
}

void delta_add_losses(struct tally_losses *to, const struct tally_losses *more)
{
	to->events += more->events;
	to->lost_ring += more->lost_ring;
	to->lost_counts += more->lost_counts;
	to->lost_nested += more->lost_nested;
	to->throttled += more->throttled;
	to->unseen += more->unseen;
	to->due += more->due;
	to->due_throttled += more->due_throttled;
	to->due_stolen += more->due_stolen;
	to->due_late += more->due_late;
	to->lost_time += more->lost_time;
	to->lost_threads += more->lost_threads;
	to->lost_ends += more->lost_ends;
	to->unwalked += more->unwalked;
	to->failed += more->failed;
	to->unread += more->unread;
	to->unreturned += more->unreturned;
	to->unentered += more->unentered;
	to->lost_calls += more->lost_calls;
	to->unallocated += more->unallocated;
	to->lost_blocks += more->lost_blocks;
	to->lost_bytes += more->lost_bytes;
	to->replaced_blocks += more->replaced_blocks;
	to->unmapped += more->unmapped;
	to->lost_values += more->lost_values;
	to->unsampled += more->unsampled;
	to->lost_memory += more->lost_memory;
	to->counts_full |= more->counts_full;
	to->memory_full |= more->memory_full;
	to->saturated |= more->saturated;
}

static void fill(struct delta *delta, struct delta_tracker *tracker, const struct tally *tally,
		 const struct names_cgroup *(*cgroup)(void *context, uint64_t id), void *context)
{
	const struct tally_entry *entries = tally_entries(tally);
	uint32_t n = tally_n_entries(tally);

	delta->n_addresses = tally_n_addresses(tally) - tracker->n_addresses;
	if (delta->n_addresses)
		memcpy(delta->addresses, tally_addresses(tally) + tracker->n_addresses,
		       delta->n_addresses * sizeof(*delta->addresses));
	for (uint32_t i = 0; i < tracker->n_sent; i++) {
		struct delta_sent *sent = &tracker->sent[i];

		if (has_more(&entries[i], sent))
			delta->counts[delta->n_counts++] = (struct delta_count){
				.count = entries[i].count - sent->count,
				.events = entries[i].events - sent->events,
				.largest = entries[i].largest,
				.entry = i,
			};
		*sent = (struct delta_sent){ entries[i].count, entries[i].events };
	}
	for (uint32_t i = tracker->n_sent; i < n; i++) {
		struct delta_entry *entry = &delta->entries[delta->n_entries++];

		*entry = (struct delta_entry){ .entry = entries[i] };
		entry->n_kernel = put_stack(delta, tally, entries[i].kernel, &entry->kernel_flags);
		entry->n_user = put_stack(delta, tally, entries[i].user, &entry->user_flags);
		entry->cgroup = entries[i].cgroup ? cgroup(context, entries[i].cgroup) : NULL;
		tracker->sent[i] = (struct delta_sent){ entries[i].count, entries[i].events };
	}
	delta->losses = difference(tally_losses_of(tally), &tracker->losses);
	delta->cleared = tracker->cleared;
	tracker->cleared = false;
	tracker->n_sent = n;
	tracker->n_addresses = tally_n_addresses(tally);
	tracker->losses = *tally_losses_of(tally);
}

int delta_take(struct delta_tracker *tracker, const struct tally *tally, uint64_t at_ns,
	       const struct names_cgroup *(*cgroup)(void *context, uint64_t id), void *context,
	       struct delta **ret_batch)
{
	own(own_delta_free) struct delta *delta = calloc(1, sizeof(*delta));
	uint32_t n = tally_n_entries(tally);

	if (!delta || make_room(delta, tracker, tally) < 0)
		return -ENOMEM;
	if (grow(&tracker->sent, &tracker->capacity, n) < 0)
		return -ENOMEM;
	delta->at_ns = at_ns;
	fill(delta, tracker, tally, cgroup, context);
	*ret_batch = take_ptr(delta);
	return 0;
}

void delta_tracker_reset(struct delta_tracker *tracker)
{
	tracker->n_sent = 0;
	tracker->losses = (struct tally_losses){ 0 };
	tracker->cleared = true;
}

void delta_tracker_clear(struct delta_tracker *tracker)
{
	free(tracker->sent);
	*tracker = (struct delta_tracker){ 0 };
}
