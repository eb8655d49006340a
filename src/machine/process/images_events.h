/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Applies the kernel's side-band records to process images. Records must come in the order of
 * their times. Internal to process/ (sideband.c) and to tests.
 */
#ifndef STACKTALLY_PROCESS_IMAGES_EVENTS_H
#define STACKTALLY_PROCESS_IMAGES_EVENTS_H

#include "process/images.h"

/* PERF_RECORD_MMAP2: something executable was mapped. */
struct mapping_record {
	pid_t tgid;
	uint64_t time; /* CLOCK_MONOTONIC, ns */
	uint64_t start, end, offset;
	uint64_t device, inode, generation;
	const char *name; /* as the kernel wrote it, not terminated; borrowed */
	size_t name_size;
};

/* 0 or a negative errno. */
int images_mmap(struct images *images, const struct mapping_record *record);
int images_exec(struct images *images, pid_t tgid, uint64_t time);
int images_fork(struct images *images, pid_t tgid, pid_t parent, uint64_t time);
void images_exit(struct images *images, pid_t tgid, uint64_t time);

/* The kernel dropped `n` records. */
void images_lost(struct images *images, uint64_t n);

/* All records up to `time` have been applied: no older one will come. */
void images_set_drained(struct images *images, uint64_t time);

/*
 * Sets the function that drains the records, which images_learn() calls for a time that was not
 * drained yet. 0 or a negative errno is its result. NULL: records are not followed.
 */
void images_set_drain(struct images *images, int (*drain)(void *context), void *context);

#endif
