/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stacks of a profile as paths from the root of a flame graph. A path is a list of ranks:
 * numbers of frames in the order of siblings. Internal to flame/; borrows the profile.
 */
#ifndef STACKTALLY_FLAME_FLAME_PATHS_H
#define STACKTALLY_FLAME_FLAME_PATHS_H

#include "flame/flame_tree.h"

/* Boxes of a path besides frames: cgroup, process, and marks for missing parts of both stacks. */
#define FLAME_PATH_EXTRA   6u
#define FLAME_PATH_LONGEST (2u * PROFILE_MAX_FRAMES + FLAME_PATH_EXTRA)

struct flame_paths {
	const struct profile *profile;
	const struct flame_options *options;
	struct flame_frames *frames;
	uint32_t *frame_of; /* for each rank its frame's number; rank 0 is the root */
	uint32_t n_ranks;
	/* Frame numbers while paths are collected; then ranks. */
	uint32_t *of_frame; /* for each frame of the profile */
	struct flame_paths_who {
		uint32_t cgroup, process;
	} * of_entry; /* for each entry */
	uint32_t of_marker[4];
};

/* 0 or a negative errno; call flame_paths_clear() in both cases. */
int flame_paths_make(struct flame_paths *paths, struct flame_frames *frames,
		     const struct profile *profile, const struct flame_options *options);
void flame_paths_clear(struct flame_paths *paths);

/*
 * The ranks on the path of an entry, without the root, followed by a 0. `path` has room for
 * FLAME_PATH_LONGEST + 1 of them. Returns their number without the 0.
 */
uint32_t flame_paths_put(const struct flame_paths *paths, uint32_t entry, uint32_t *path);

#endif
