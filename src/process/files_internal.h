/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files files*.c share: files.c identifies files, files_open.c holds and opens them.
 */
#ifndef STACKTALLY_PROCESS_FILES_INTERNAL_H
#define STACKTALLY_PROCESS_FILES_INTERNAL_H

#include "base/index.h"
#include "process/file_identity.h"
#include "process/files.h"

#define FILE_NONE UINT32_MAX

_Static_assert(BUILD_ID_MAX == BUILD_ID_SIZE, "one size of build-ids");

struct file {
	struct mapped_file shown;
	/* Valid once `readable`: */
	struct file_identity identity;
	struct load_segments segments;
	bool elf;
	uint32_t root;
	uint32_t same_as;     /* the file that this one turned out to be, or FILE_NONE */
	int fd;		      /* held: O_PATH, or -1 */
	enum mount_kind kind; /* of its mount; valid while held */
	uint8_t tries;	      /* failed attempts to open it */
	bool readable;	      /* was opened once */
	bool reachable;	      /* its path in our own root probably leads to it */
};

/*
 * How the kernel refers to a file. Several keys may mean the same file. The kernel says the same
 * device for all subvolumes of a btrfs and all layers of an overlay, which have inodes of their
 * own: stat() tells them apart.
 */
struct key {
	uint64_t device, inode, generation;
	dev_t part; /* of the device, as stat() has it; 0: it has none, or the file was not opened
		     */
	uint32_t file;
};

struct files {
	struct file_access access;
	struct file **files;
	uint32_t n_files, capacity;
	struct key *keys;
	uint32_t n_keys, key_capacity;
	struct index by_key, by_identity;
	uint32_t max_held, n_held;
	uint32_t clock_hand; /* the file to consider next for giving up its descriptor */
	uint64_t unreadable;
};

/* The file that an id stands for: another one if it turned out to be the same. */
const struct file *files_resolve(const struct files *files, uint32_t id);

/*
 * Holds the file if there is room; takes the descriptor of its place. That is an O_PATH one, which
 * can be closed without a call to a file system that may not respond.
 */
void files_hold(struct files *files, struct file *file, struct file_place *place);

#endif
