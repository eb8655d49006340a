/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files images*.c share: images.c answers queries, images_learn.c reads /proc,
 * images_events.c applies side-band records, images_jit.c opens files about generated code.
 */
#ifndef STACKTALLY_PROCESS_IMAGES_INTERNAL_H
#define STACKTALLY_PROCESS_IMAGES_INTERNAL_H

#include <pthread.h>

#include "process/cgroups.h"
#include "process/snapshot.h"
#include "process/spaces.h"

struct images {
	pthread_mutex_t *lock; /* allocated: it is taken through a const struct images */
	struct snapshot_context context;
	struct spaces spaces;
	struct cgroups *cgroups;
	struct image **ids; /* by id; [0] is not used */
	uint32_t n_ids, ids_capacity;
	uint64_t bytes; /* images_bytes() */
	bool full;
	struct images_losses losses;
	uint64_t drained;      /* side-band records up to this time were applied */
	uint64_t next_release; /* images_release_files() does nothing before this time of `drained`
				*/
	int (*drain)(void *context);
	void *drain_context;
	struct images_watch watch; /* its functions are NULL if no watch is set */
};

/* The image with this id, or NULL. */
const struct image *images_by_id(const struct images *images, uint32_t id);

/* Ends a space at `time`; calls watch.ended() if it was its process's current one. */
void images_retire(struct images *images, struct space *space, uint64_t time);

/* Calls watch.changed() if the space is its process's current one. */
void images_notify_changed(const struct images *images, const struct space *space);

#endif
