/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address spaces of processes and their process images over time. A space lasts from a fork or
 * an exec to the next exec or the exit. Some time after its end a space is freed, unless one of
 * its images was given an id: so a machine that starts thousands of processes a second takes
 * memory only for those that were sampled.
 *
 * Internal to process/. Times are CLOCK_MONOTONIC in ns. Must not know: /proc, records, files.
 */
#ifndef STACKTALLY_PROCESS_SPACES_H
#define STACKTALLY_PROCESS_SPACES_H

#include "files/process_view.h"
#include "process/mappings.h"

#define SPACE_BUCKETS	       4096u
#define SPACE_KEPT_NS	       10000000000ull /* after its end */
#define SPACE_MAX_SPARE_IMAGES 16u	      /* images without an id, in one space */

struct image {
	struct space *space;
	struct image *older;
	struct mapping_list *mappings;
	uint64_t from;
	uint32_t id; /* IMAGE_NONE until images_learn() returns it */
	uint32_t n;  /* of its mappings, as counted in images_bytes() */
	/*
	 * The sizes of the files that name its generated code, by enum jit_file, when it began and
	 * when they were last looked at during it; and these times, 0: never.
	 */
	uint64_t jit_from[2], jit_until[2], jit_from_ns, jit_until_ns;
	bool snapshot; /* its first mapping came from /proc, so it may be older than `from` */
};

struct space {
	struct space *older;	 /* in the same bucket; those of one tgid are in order of time */
	struct space *retired;	 /* the next in the order in which spaces ended */
	struct jit_watch *jit;	 /* images_jit_watch.c; NULL: none yet */
	struct image *newest;	 /* NULL: nothing is known of it yet */
	uint64_t from, until;	 /* until: 0 as long as it lasts */
	uint64_t snapshot;	 /* when /proc was read last: older records add nothing; 0: never */
	uint64_t next_snapshot;	 /* /proc is not read again before this time */
	uint64_t snapshot_delay; /* ns between two reads of /proc */
	uint64_t cookie;	 /* as in images_learn(); 0: not known yet */
	struct process_identity identity;
	pid_t tgid, parent;
	uint32_t root;	/* an id of roots.h */
	uint32_t n_ids; /* images with an id */
	bool expired;	/* ended SPACE_KEPT_NS ago, and is kept for its n_ids */
	bool identity_known;
	bool gone; /* had ended when it was looked for in /proc */
};

struct spaces {
	struct space *buckets[SPACE_BUCKETS]; /* by tgid */
	struct space *first_retired, *last_retired;
	uint32_t n;
};

void spaces_clear(struct spaces *spaces);

/* Sets the element of `used`, by file, of each that a process maps, or did until SPACE_KEPT_NS ago.
 */
void spaces_mark_files(const struct spaces *spaces, bool *used);

/* A new space that began at `from`. NULL: no memory. */
struct space *spaces_add(struct spaces *spaces, pid_t tgid, uint64_t from);

/* The newest space of a process that had begun at `time`, or NULL. */
struct space *spaces_at(const struct spaces *spaces, pid_t tgid, uint64_t time);
struct space *spaces_with_cookie(const struct spaces *spaces, pid_t tgid, uint64_t cookie);

/* The space ended at `time`; nothing happens if it had ended before. */
void spaces_retire(struct spaces *spaces, struct space *space, uint64_t time);

/* Frees a space without ids that was not retired. */
void spaces_discard(struct spaces *spaces, struct space *space);

/* Frees the spaces without ids that ended SPACE_KEPT_NS before `time`; the others expire. */
void spaces_expire(struct spaces *spaces, uint64_t time);

/* Frees the expired spaces whose images have lost their ids. */
void spaces_sweep(struct spaces *spaces);

/* Begins a new image; takes over one reference to `mappings`. NULL: no memory. */
struct image *space_begin(struct space *space, uint64_t from, struct mapping_list *mappings);

/* The image of the space at `time`: the oldest if all began later, NULL if it has none. */
struct image *space_image_at(const struct space *space, uint64_t time);

/*
 * Adds a mapping to the newest image; begins another image if it replaces code. 0; 1: there are
 * MAX_MAPPINGS already; or -ENOMEM.
 */
int space_map(struct space *space, uint64_t time, const struct mapping *mapping);

#endif
