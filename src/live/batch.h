/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is new in a tally that grows: how it crosses from the thread that measures to the one that
 * keeps what is shown. Entries are told in full once, and later by their number alone, so a batch
 * is as large as what happened and not as what is known.
 */
#ifndef STACKTALLY_LIVE_BATCH_H
#define STACKTALLY_LIVE_BATCH_H

#include "tally/tally.h"

/* The first sight of an entry. Its stacks are frames[...] of the batch, kernel before user. */
struct batch_entry {
	struct tally_entry entry; /* count: since the last batch. kernel, user: as in the tally if
				     they are no stacks; meaningless otherwise */
	uint32_t n_kernel, n_user;
	uint32_t kernel_flags, user_flags;
	const char *cgroup; /* its path, which lives on; or NULL */
};

struct batch_count {
	uint64_t count;
	uint32_t entry; /* number: entries are numbered in the order of their first sight */
};

struct batch {
	uint64_t at_ns; /* until when all is in it, since the start */
	bool fresh;	/* the tally was cleared: entries are numbered from 0 again */
	struct tally_address *addresses; /* new ones, numbered on */
	uint32_t n_addresses;
	struct batch_entry *entries;
	uint32_t n_entries;
	uint32_t *frames; /* numbers of addresses, leaf first */
	size_t n_frames;
	struct batch_count *counts;
	uint32_t n_counts;
	struct tally_losses losses; /* since the last batch */
};

void batch_free(struct batch *batch);

/* What was told so far. All zero at the start; batcher_clear() at the end. */
struct batcher {
	uint64_t *seen; /* the count of each entry as it was told */
	uint32_t n_seen, room;
	uint32_t n_addresses;
	struct tally_losses losses;
	bool fresh;
};

/*
 * What is new. `cgroup` finds the path of a cgroup id. 0, or -ENOMEM: then nothing counts as told,
 * and the next batch has it.
 */
int batcher_take(struct batcher *batcher, const struct tally *tally, uint64_t at_ns,
		 const char *(*cgroup)(void *context, uint64_t id), void *context,
		 struct batch **ret_batch);
/* The tally is about to be cleared, everything in it having been taken. */
void batcher_forget(struct batcher *batcher);
void batcher_clear(struct batcher *batcher);

#endif
