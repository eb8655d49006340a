/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What identifies a file once it is open: its build-id, else its device, inode, size and mtime.
 * So a file is known again by whatever path it is reached, and never confused with another that
 * has taken its path.
 */
#ifndef STACKTALLY_PROCESS_FILE_IDENTITY_H
#define STACKTALLY_PROCESS_FILE_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "elf/build_id.h"

struct file_identity {
	dev_t device; /* as in struct stat, which is not always what maps says */
	ino_t inode;
	uint64_t size; /* bytes */
	int64_t mtime_ns;
	uint32_t build_id_size; /* 0: none */
	uint8_t build_id[BUILD_ID_MAX];
	bool elf;
};

/* `status` is that of the file, which `fd` may be a copy of. */
void file_identity_read(int fd, const struct stat *status, struct file_identity *ret_identity);

uint64_t file_identity_hash(const struct file_identity *identity);

/* The same content: the same build-id and size, or, without build-ids, the same inode unwritten. */
bool file_identity_equal(const struct file_identity *a, const struct file_identity *b);

/* True if the open file is still what had this identity. */
bool file_identity_matches(const struct file_identity *identity, int fd, const struct stat *status);

/* The same inode, and its size and mtime have not changed. */
bool file_identity_unwritten(const struct file_identity *identity, const struct stat *status);
bool file_identity_same_inode(const struct file_identity *identity, const struct stat *status);

/* True if the open file has this build-id. */
bool file_identity_has_build_id(int fd, const uint8_t *build_id, uint32_t size);

#endif
