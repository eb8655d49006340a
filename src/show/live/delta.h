/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was added to a tally since the last delta, as plain data that can be handed to another
 * thread. An entry is sent in full once and later by its number, so that the size of a delta
 * depends on what happened since, not on the size of the tally.
 */
#ifndef STACKTALLY_LIVE_DELTA_H
#define STACKTALLY_LIVE_DELTA_H

#include "tally/names.h"
#include "tally/tally.h"

/* A new entry. Its frames follow those of the entry before in delta.frames, kernel before user. */
struct delta_entry {
	/* `kernel` and `user` only mean something if they are TALLY_STACK_NONE or _MISSED: the
	 * other ids are those of the tally it comes from. */
	struct tally_entry entry;
	uint32_t n_kernel, n_user; /* frames */
	uint32_t kernel_flags, user_flags;
	const struct names_cgroup *cgroup; /* that of entry.cgroup, borrowed; or NULL */
};

/* What a known entry counted. Entries are numbered in the order in which they were sent. */
struct delta_count {
	uint64_t count;
	uint64_t events;  /* of how many the count is the sum */
	uint64_t largest; /* of all of the entry so far */
	uint32_t entry;
};

struct delta {
	uint64_t at_ns; /* all that was counted until then, since the start of the measurement */
	bool cleared;	/* the tally was cleared before: entries are numbered from 0 again */
	struct tally_address *addresses; /* new ones; numbered on, cleared or not */
	uint32_t n_addresses;
	struct delta_entry *entries;
	uint32_t n_entries;
	uint32_t *frames; /* numbers of addresses, leaf first */
	size_t n_frames;
	struct delta_count *counts;
	uint32_t n_counts;
	struct tally_losses losses; /* since the last delta */
};

/* NULL is allowed. */
void delta_free(struct delta *delta);

/* Adds the losses of one time to those of another. */
void delta_add_losses(struct tally_losses *to, const struct tally_losses *more);

/* What the deltas taken so far have of an entry. */
struct delta_sent {
	uint64_t count, events;
};

/* What the deltas taken so far contain. All zero at the start; ends with delta_tracker_clear(). */
struct delta_tracker {
	struct delta_sent *sent; /* of each entry */
	uint32_t n_sent, capacity;
	uint32_t n_addresses;
	struct tally_losses losses;
	bool cleared;
};

/*
 * Makes the delta of a tally, which has to be the same one in each call. `cgroup` returns the
 * cgroup with an id or NULL; it must outlive the delta. The caller frees `ret_delta`. 0, or
 * -ENOMEM: the tracker is then unchanged, and the next delta has all of it.
 */
int delta_take(struct delta_tracker *tracker, const struct tally *tally, uint64_t at_ns,
	       const struct names_cgroup *(*cgroup)(void *context, uint64_t id), void *context,
	       struct delta **ret_delta);
/* The tally is about to be cleared; what was not taken by now is in no delta. */
void delta_tracker_reset(struct delta_tracker *tracker);
void delta_tracker_clear(struct delta_tracker *tracker);

#endif
