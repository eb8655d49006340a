/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The insides of struct images, for the files of process/ that make it up: images.c answers
 * questions, learning.c looks at /proc, events.c takes records.
 */
#ifndef STACKTALLY_PROCESS_IMAGES_INTERNAL_H
#define STACKTALLY_PROCESS_IMAGES_INTERNAL_H

#include <pthread.h>

#include "process/cgroups.h"
#include "process/snapshot.h"
#include "process/spaces.h"

struct images {
	pthread_mutex_t *lock; /* apart, for those who only ask */
	struct capture capture;
	struct spaces spaces;
	struct cgroups *cgroups;
	struct image **ids; /* by id; [0] is not used */
	uint32_t n_ids, room_ids;
	struct images_losses losses;
	uint64_t settled; /* records up to here were told */
	int (*catch_up)(void *context);
	void *catch_up_context;
	struct images_watch watch; /* its functions are NULL when nobody watches */
};

/* The space is over, or another took its place; tells who watches if it was the latest. */
void images_retire(struct images *images, struct space *space, uint64_t time);
/* Tells who watches, if the space is what its process has now. */
void images_tell_changed(const struct images *images, const struct space *space);

/* CLOCK_MONOTONIC, ns. */
uint64_t images_now(void);

/*
 * Makes sure that something is known of the space at its beginning: from /proc, else from
 * its parent. 0, -ESRCH, -ENOMEM or another negative errno.
 */
int space_look(struct images *images, struct space *space);

#endif
