/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What identifies a file once it is open. So a file is known again by whatever path it is reached,
 * and never confused with another that has taken its path.
 *
 * A file is known by its device, inode, size and mtime. Copies of one file, as containers have
 * them, are known by their build-id and size, but only if nobody but root can write to them: for
 * users can give a file of theirs any build-id, and it would name and unwind the code of others.
 */
#ifndef STACKTALLY_FILES_FILE_IDENTITY_H
#define STACKTALLY_FILES_FILE_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "files/file_outline.h"

struct file_identity {
	dev_t device; /* as in struct stat, which is not always what maps says */
	ino_t inode;
	uint64_t size; /* bytes */
	int64_t mtime_ns;
	bool protected;		/* only root can write to it, on a local file system */
	uint32_t build_id_size; /* 0: none */
	uint8_t build_id[BUILD_ID_MAX];
};

/* `status` is that of the file, which `fd` may be a copy of. */
void file_identity_make(int fd, const struct stat *status, const struct file_outline *outline,
			struct file_identity *ret_identity);

uint64_t file_identity_hash(const struct file_identity *identity);

/* The same content. */
bool file_identity_equal(const struct file_identity *a, const struct file_identity *b);

/* True if the open file is still what had this identity. `readers` read its build-id. */
bool file_identity_matches(const struct file_identity *identity, struct confined *readers, int fd,
			   const struct stat *status);

/* The same inode, and its size and mtime have not changed. */
bool file_identity_unwritten(const struct file_identity *identity, const struct stat *status);
bool file_identity_same_inode(const struct file_identity *identity, const struct stat *status);

#endif
