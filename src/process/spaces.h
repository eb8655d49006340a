/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address spaces and their states over time. A space lasts from a fork or an exec to the next
 * exec or the exit; its images are its states, newest first. What nobody asked for
 * (no image with an id) is forgotten some time after it ended, so that a machine that starts
 * thousands of processes a second needs memory only for those that were sampled.
 *
 * Internal to process/. Must not know: /proc, records, files.
 */
#ifndef STACKTALLY_PROCESS_SPACES_H
#define STACKTALLY_PROCESS_SPACES_H

#include "process/mappings.h"
#include "process/namespaces.h"

#define SPACE_BUCKETS	       4096u
#define SPACE_KEPT_NS	       10000000000ull /* after its end */
#define SPACE_MAX_SPARE_IMAGES 16u	      /* images of a space that nobody asked for */

struct image {
	struct space *space;
	struct image *older;
	struct mapping_list *mappings;
	uint64_t from;
	uint32_t id;   /* IMAGE_NONE until somebody asks */
	bool snapshot; /* began with a look at /proc, so it may be older than `from` */
};

struct space {
	struct space *older;   /* in the same bucket; of one tgid, newest first */
	struct space *retired; /* the next that ended */
	struct image *newest;  /* NULL: nothing is known of it yet */
	uint64_t from, until;  /* CLOCK_MONOTONIC; until: 0 as long as it lasts */
	uint64_t snapshot;     /* when /proc was read last, or 0: records before that are in it */
	uint64_t next_look;    /* no look at /proc before that */
	uint64_t patience;     /* ns from one look to the next */
	uint64_t cookie;       /* 0: not told yet */
	struct process_identity identity;
	pid_t tgid, parent;
	uint32_t root;
	uint32_t n_asked; /* images with an id */
	bool over;	  /* it ended long ago, and is there only because of n_asked */
	bool identity_known;
	bool gone; /* was looked for, and was not there any more */
};

struct spaces {
	struct space *buckets[SPACE_BUCKETS];
	struct space *first_retired, *last_retired;
	uint32_t n;
};

void spaces_clear(struct spaces *spaces);

struct space *spaces_add(struct spaces *spaces, pid_t tgid, uint64_t from);
/* The newest space of a process that had begun at `time`. */
struct space *spaces_at(const struct spaces *spaces, pid_t tgid, uint64_t time);
struct space *spaces_with_cookie(const struct spaces *spaces, pid_t tgid, uint64_t cookie);
/* It is over, or another took its place. */
void spaces_retire(struct spaces *spaces, struct space *space, uint64_t time);
/* Forgets one that nobody asked for and that was not retired. */
void spaces_discard(struct spaces *spaces, struct space *space);
/* Forgets what ended long before `time` and was never asked for. */
void spaces_forget(struct spaces *spaces, uint64_t time);

/* Forgets what would have been before, had it not been asked for. */
void spaces_sweep(struct spaces *spaces);

/* A new state, with a reference to `mappings` that becomes its own. NULL: no memory. */
struct image *space_begin(struct space *space, uint64_t from, struct mapping_list *mappings);
struct image *space_image_at(const struct space *space, uint64_t time);
/* Something was mapped: changes the newest image, or begins another. 0, -ENOMEM, or 1: no room. */
int space_map(struct space *space, uint64_t time, const struct mapping *mapping);

#endif
