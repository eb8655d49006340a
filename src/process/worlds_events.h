/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel's records tell the worlds, in the order of their times. Internal to process/:
 * sideband.c reads records and calls these, tests call them as they like.
 */
#ifndef STACKTALLY_PROCESS_WORLDS_EVENTS_H
#define STACKTALLY_PROCESS_WORLDS_EVENTS_H

#include "process/worlds.h"

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

int worlds_mmap(struct worlds *worlds, const struct mapping_record *record);
int worlds_exec(struct worlds *worlds, pid_t tgid, uint64_t time);
int worlds_fork(struct worlds *worlds, pid_t tgid, pid_t parent, uint64_t time);
void worlds_exit(struct worlds *worlds, pid_t tgid, uint64_t time);
void worlds_lost(struct worlds *worlds, uint64_t n);

/* All records up to `time` were told: nothing older will come. */
void worlds_settle(struct worlds *worlds, uint64_t time);

/* Called by worlds_learn() when it is asked for a time that is not settled yet; NULL ends it. */
void worlds_follow(struct worlds *worlds, int (*catch_up)(void *context), void *context);

#endif
