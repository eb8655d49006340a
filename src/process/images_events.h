/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel's records tell the images, in the order of their times. Internal to process/:
 * sideband.c reads records and calls these, tests call them as they like.
 */
#ifndef STACKTALLY_PROCESS_IMAGES_EVENTS_H
#define STACKTALLY_PROCESS_IMAGES_EVENTS_H

#include "process/images.h"

/* Something executable was mapped. */
struct mapping_record {
	pid_t tgid;
	uint64_t time; /* CLOCK_MONOTONIC, ns */
	uint64_t start, end, offset;
	uint64_t device, inode, generation; /* 0 when there is a build-id */
	uint8_t build_id[BUILD_ID_SIZE];
	uint32_t build_id_size;
	const char *name; /* as the kernel writes it, not terminated */
	size_t name_size;
};

int images_mmap(struct images *images, const struct mapping_record *record);
int images_exec(struct images *images, pid_t tgid, uint64_t time);
int images_fork(struct images *images, pid_t tgid, pid_t parent, uint64_t time);
void images_exit(struct images *images, pid_t tgid, uint64_t time);
void images_lost(struct images *images, uint64_t n);

/* All records up to `time` were told: nothing older will come. */
void images_settle(struct images *images, uint64_t time);

/* Called by images_learn() when it is asked for a time that is not settled yet; NULL ends it. */
void images_follow(struct images *images, int (*catch_up)(void *context), void *context);

#endif
