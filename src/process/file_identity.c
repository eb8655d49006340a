// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/file_identity.h"

#include <string.h>

#include "base/clock.h"
#include "base/index.h"

bool file_identity_has_build_id(int fd, const uint8_t *build_id, uint32_t size)
{
	uint8_t found[BUILD_ID_MAX];

	return build_id_read(fd, found) == (int)size && memcmp(found, build_id, size) == 0;
}

static int64_t mtime_of(const struct stat *status)
{
	return status->st_mtim.tv_sec * (int64_t)NS_PER_SECOND + status->st_mtim.tv_nsec;
}

void file_identity_read(int fd, const struct stat *status, struct file_identity *ret_identity)
{
	struct file_identity identity = {
		.device = status->st_dev,
		.inode = status->st_ino,
		.size = (uint64_t)status->st_size,
		.mtime_ns = mtime_of(status),
	};
	int r = build_id_read(fd, identity.build_id);

	identity.elf = r >= 0;
	identity.build_id_size = r > 0 ? (uint32_t)r : 0;
	*ret_identity = identity;
}

uint64_t file_identity_hash(const struct file_identity *identity)
{
	if (identity->build_id_size)
		return hash_u64(hash_bytes(identity->build_id, identity->build_id_size) ^
				identity->size);
	return hash_u64(hash_u64(identity->inode) ^ identity->device);
}

bool file_identity_equal(const struct file_identity *a, const struct file_identity *b)
{
	if (a->build_id_size != b->build_id_size || a->size != b->size)
		return false;
	if (a->build_id_size)
		return memcmp(a->build_id, b->build_id, a->build_id_size) == 0;
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

bool file_identity_matches(const struct file_identity *identity, int fd, const struct stat *status)
{
	if ((uint64_t)status->st_size != identity->size)
		return false;
	if (identity->build_id_size)
		return file_identity_has_build_id(fd, identity->build_id, identity->build_id_size);
	return file_identity_unwritten(identity, status);
}
