/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The device and inode that the kernel states for a mapping of a file. On overlayfs and btrfs,
 * stat() states others. Must not know: who has the file mapped.
 */
#ifndef STACKTALLY_FILES_MAPPED_INODE_H
#define STACKTALLY_FILES_MAPPED_INODE_H

#include <stdint.h>

struct mapped_inode {
	uint64_t device; /* encoded as st_dev */
	uint64_t inode;
};

/*
 * Maps the file, open for reading, for a moment, reads nothing of it, and gives what
 * /proc/self/maps says. Takes some 50 us. 0 or a negative errno.
 */
int mapped_inode_of(int fd, struct mapped_inode *ret_inode);

#endif
