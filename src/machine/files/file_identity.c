// SPDX-License-Identifier: GPL-2.0-or-later
#include "files/file_identity.h"

#include <string.h>

#include "base/clock.h"
#include "base/index.h"

static int64_t mtime_of(const struct stat *status)
{
	return status->st_mtim.tv_sec * (int64_t)NS_PER_SECOND + status->st_mtim.tv_nsec;
}

void file_identity_make(int fd, const struct stat *status, const struct file_outline *outline,
			struct file_identity *ret_identity)
{
	struct file_identity identity = {
		.device = status->st_dev,
		.inode = status->st_ino,
		.size = (uint64_t)status->st_size,
		.mtime_ns = mtime_of(status),
		/* Of the descriptor: a remote file system says what it likes, and a copy is ours.
		 */
		.protected = confined_owner(fd) == 0,
		.build_id_size = outline->build_id_size,
	};

	memcpy(identity.build_id, outline->build_id, sizeof(identity.build_id));
	*ret_identity = identity;
}

/* Known by its build-id. */
static bool by_build_id(const struct file_identity *identity)
{
	return identity->protected && identity->build_id_size > 0;
}

uint64_t file_identity_hash(const struct file_identity *identity)
{
	if (by_build_id(identity))
		return hash_u64(hash_bytes(identity->build_id, identity->build_id_size) ^
				identity->size);
	return hash_u64(hash_u64(identity->inode) ^ identity->device);
}

bool file_identity_equal(const struct file_identity *a, const struct file_identity *b)
{
	if (by_build_id(a) != by_build_id(b) || a->size != b->size)
		return false;
	if (by_build_id(a))
		return a->build_id_size == b->build_id_size &&
		       memcmp(a->build_id, b->build_id, a->build_id_size) == 0;
	return a->device == b->device && a->inode == b->inode && a->mtime_ns == b->mtime_ns;
}

bool file_identity_same_inode(const struct file_identity *identity, const struct stat *status)
{
	return status->st_dev == identity->device && status->st_ino == identity->inode;
}

bool file_identity_unwritten(const struct file_identity *identity, const struct stat *status)
{
	return file_identity_same_inode(identity, status) &&
	       (uint64_t)status->st_size == identity->size &&
	       mtime_of(status) == identity->mtime_ns;
}

static bool has_build_id(const struct file_identity *identity, struct confined *readers, int fd)
{
	struct file_outline found;

	file_outline_read(readers, fd, NULL, &found);
	return found.build_id_size == identity->build_id_size &&
	       memcmp(found.build_id, identity->build_id, found.build_id_size) == 0;
}

bool file_identity_matches(const struct file_identity *identity, struct confined *readers, int fd,
			   const struct stat *status)
{
	if (file_identity_unwritten(identity, status))
		return true;
	return by_build_id(identity) && confined_owner(fd) == 0 &&
	       (uint64_t)status->st_size == identity->size && has_build_id(identity, readers, fd);
}
