/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stacks of a profile as paths from the root of a flame graph: lists of small numbers that
 * sort like the names they stand for. For flame_build.c alone; borrows the profile.
 */
#ifndef STACKTALLY_FLAME_FLAME_PATHS_H
#define STACKTALLY_FLAME_FLAME_PATHS_H

#include "flame/flame_tree.h"

/* Boxes around a stack: cgroup, process, and what stands for a missing part on each side. */
#define FLAME_PATH_EXTRA   6u
#define FLAME_PATH_LONGEST (2u * PROFILE_MAX_FRAMES + FLAME_PATH_EXTRA)

struct flame_paths {
	const struct profile *profile;
	const struct flame_options *options;
	struct flame_frames *frames;
	uint32_t *frame_of; /* for each rank its frame's number; rank 0 is the root */
	uint32_t n_ranks;
	/* While they are collected frame numbers, then ranks. */
	uint32_t *of_frame; /* for each frame of the profile */
	struct flame_paths_who {
		uint32_t cgroup, process;
	} * of_entry; /* for each entry */
	uint32_t of_marker[4];
};

/* 0 or a negative errno; flame_paths_clear() is due in both cases. */
int flame_paths_make(struct flame_paths *paths, struct flame_frames *frames,
		     const struct profile *profile, const struct flame_options *options);
void flame_paths_clear(struct flame_paths *paths);

/*
 * The ranks on the path of an entry, without the root and with a 0 behind; `path` has room for
 * FLAME_PATH_LONGEST and that. Returns how many.
 */
uint32_t flame_paths_put(const struct flame_paths *paths, uint32_t entry, uint32_t *path);

#endif
