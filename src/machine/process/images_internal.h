/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files images*.c share: images.c answers queries, images_learn.c reads /proc,
 * images_events.c applies side-band records, images_jit.c opens files about generated code,
 * images_jit_watch.c watches them, images_heal.c finds files that could not be opened at first.
 */
#ifndef STACKTALLY_PROCESS_IMAGES_INTERNAL_H
#define STACKTALLY_PROCESS_IMAGES_INTERNAL_H

#include <pthread.h>

#include "containers/containers.h"
#include "process/cgroups.h"
#include "process/snapshot.h"
#include "process/spaces.h"

struct images {
	pthread_mutex_t *lock; /* allocated: it is taken through a const struct images */
	struct snapshot_context context;
	struct spaces spaces;
	struct cgroups *cgroups;
	struct containers *containers;
	struct image **ids; /* by id; [0] is not used */
	uint32_t n_ids, ids_capacity;
	uint64_t bytes; /* images_bytes() */
	bool full;
	struct images_losses losses;
	uint64_t healed;       /* files_healed() that the watch was told of */
	uint64_t next_heal;    /* images_heal() does nothing before this time */
	uint64_t drained;      /* side-band records up to this time were applied */
	uint64_t next_release; /* images_release_files() does nothing before this time of `drained`
				*/
	uint64_t next_jit;     /* images_watch_jit() does nothing before this time */
	uint32_t jit_id;       /* of the image that it has looked at last */
	uint32_t n_jit_images; /* that it has begun, since the last report */
	int (*drain)(void *context);
	void *drain_context;
	struct images_watch watch; /* its functions are NULL if no watch is set */
};

/* The image with this id, or NULL. */
const struct image *images_by_id(const struct images *images, uint32_t id);

/* Ends a space at `time`; calls watch.ended() if it was its process's current one. */
void images_retire(struct images *images, struct space *space, uint64_t time);

/* Reads a process from /proc into its space. 0, -ESRCH, -ENOMEM or another negative errno. */
int images_read_space(struct images *images, struct space *space);

/* ---- images_heal.c ---- */
/* The root of a process: its own if it runs, else that of the next ancestor where it is known. */
uint32_t images_root_of(struct images *images, const struct space *space,
			const struct process_view *view);
/* Looks for the files that could not be opened in the processes that run. 0 or -ENOMEM. */
int images_heal(struct images *images, uint64_t now);
/* Tells the watch of processes that map a file which can be opened since. */
void images_notify_healed(struct images *images);

/* ---- images_jit.c ---- */
/* images_stat_jit(), of an image that may have no id. */
int images_stat_jit_of(const struct images *images, const struct image *image, enum jit_file kind,
		       struct stat *ret_status);

/* ---- images.c ---- */
/* Calls watch.changed() if the space is its process's current one. */
void images_notify_changed(const struct images *images, const struct space *space);

#endif
