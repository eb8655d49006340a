/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files files*.c share: files.c identifies files, files_keys.c finds
 * them by what the kernel says, files_open.c holds and opens them.
 */
#ifndef STACKTALLY_FILES_FILES_INTERNAL_H
#define STACKTALLY_FILES_FILES_INTERNAL_H

#include "base/index.h"
#include "files/file_identity.h"
#include "files/files.h"

#define FILE_NONE UINT32_MAX

struct file {
	struct mapped_file shown;
	/* Valid once `readable`: */
	struct file_identity identity;
	struct load_segments segments;
	bool elf;
	uint32_t root;
	uint32_t mapped_in;	/* the root of the processes that have mapped it */
	bool shared;		/* ... which are of several roots, or of some that is not known */
	uint32_t same_as;	/* the file that this one turned out to be, or FILE_NONE */
	struct found_file held; /* fd -1: it is not */
	uint8_t tries;		/* failed attempts to open it */
	uint8_t tries_alive;	/* of these, while a process had it mapped */
	uint64_t next_try_ms; /* CLOCK_MONOTONIC: it is not tried again before, but for the first */
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
	/* Where the file was found last: known again there when the process has ended. */
	uint32_t root;
	const char *path;
	uint32_t file;
};

struct files {
	struct file_access access;
	file_marker *marker; /* or NULL */
	struct file **files;
	uint32_t n_files, capacity;
	struct key *keys;
	uint32_t n_keys, key_capacity;
	struct index by_key, by_identity;
	uint32_t max_held, n_held;
	uint32_t clock_hand; /* the file to consider next for giving up its descriptor */
	uint64_t unreadable; /* files that could not be opened */
	uint64_t healed;     /* files that could not be opened at first */
};

/* The file that an id stands for: another one if it turned out to be the same. */
const struct file *files_resolve(const struct files *files, uint32_t id);

/*
 * Holds the file if there is room; takes over the descriptor of its place.
 */
void files_hold(struct files *files, struct file *file, const struct file_place *place);

/* ---- files_keys.c ---- */
struct key files_key_of(const struct file_reference *reference);
/* A part of a device, if the kernel and stat() disagree about it because it has several. */
dev_t files_part_of(const struct file_reference *reference, dev_t device);
/* The key of a reference, or NULL; `view` as for files_identify(). */
struct key *files_find_key(struct files *files, const struct file_reference *reference, pid_t tgid,
			   struct process_view *view);
/* Enters what a key means, or means now. 0 or -ENOMEM. */
int files_enter_key(struct files *files, const struct key *key);
/* The key of a file that could not be opened is now one of this part of the device. */
void files_set_part(struct files *files, const struct key *key, uint32_t id);

#endif
