/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stacks of one epoch as they arrive from the ring, until the epoch's counts are drained:
 * then each count finds its stack here, and both go into the tally, in the order in which the
 * stacks came.
 */
#ifndef STACKTALLY_SESSION_BOOK_H
#define STACKTALLY_SESSION_BOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/wire.h"
#include "process/images.h"
#include "tally/tally.h"

struct book;
struct tracepoint_frames;

struct book_options {
	struct images *images; /* borrowed */
	const char *name;      /* a wildcard that comms have to match, or NULL */
	__u64 seed[2];	       /* of the hashes */
	/*
	 * Where set, kernel stacks lose these frames when they are counted, and what is then beyond
	 * kernel_depth. Borrowed.
	 */
	struct tracepoint_frames *tracepoint_frames;
	uint32_t kernel_depth;
};

int book_new(const struct book_options *options, struct book **ret_book);
void book_free(struct book *book);

/*
 * Takes a record of the ring, of any content: -EPROTO when its sizes or its hash are wrong. Its
 * user addresses enter the tally at once, since the tally keeps those longer; its stacks do not.
 * Returns 0 or a negative errno.
 */
int book_record(struct book *book, struct tally *tally, const void *data, size_t size);

/*
 * Takes a stack that counts `count` events by itself: they are in no set of counts, and wait for
 * book_flush(). The hash is not looked at. `frames` as they follow a struct wire_stack.
 */
int book_add(struct book *book, struct tally *tally, const struct wire_stack *stack,
	     const uint64_t *frames, uint64_t count);

uint32_t book_n_stacks(const struct book *book);

/* The count of a key: it waits, too. 0, or -ENOENT for a key whose stack never came. */
int book_count(struct book *book, const struct wire_hash *hash, uint64_t count);

/*
 * Adds all that was counted to the tally, but for stacks whose comm is not wanted; `*ret_count`
 * and `*ret_unwanted` say how many events there were, and how many of them were not added.
 */
int book_flush(struct book *book, struct tally *tally, uint64_t *ret_count, uint64_t *ret_unwanted);

/*
 * The tally was reset, and the images' ids are others: `before` has its addresses as they were,
 * `images` the new id of each image. 0 or -ENOMEM.
 */
int book_rebase(struct book *book, struct tally *tally, const struct tally_address *before,
		const uint32_t *images);
/* Marks the images of the stacks here in an array by their ids. */
void book_mark_images(const struct book *book, const struct tally *tally, uint32_t *images);

/* Forgets all stacks: the epoch is drained. */
void book_clear(struct book *book);

#endif
