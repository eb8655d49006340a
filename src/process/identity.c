// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>

#include "base/index.h"
#include "base/own.h"

static bool has_build_id(int fd, const uint8_t *build_id, uint32_t size)
{
	uint8_t found[BUILD_ID_MAX];

	return build_id_read(fd, found) == (int)size && memcmp(found, build_id, size) == 0;
}

/* Is what was opened the file that was sighted? `exact`: it was opened by its mapping. */
static bool verify(int fd, const struct stat *status, const struct file_sighting *sighting,
		   bool exact)
{
	bool stacked = major(sighting->device) == 0 || major(status->st_dev) == 0;
	int generation;

	if (sighting->build_id_size)
		return has_build_id(fd, sighting->build_id, sighting->build_id_size);
	/*
	 * overlayfs and btrfs tell one device in maps and another in stat, and overlayfs may do
	 * so with inodes; such a file is taken only through its mapping.
	 */
	if (status->st_ino != sighting->inode)
		return exact && stacked;
	if (status->st_dev != sighting->device && !stacked)
		return false;
	if (sighting->generation && ioctl(fd, FS_IOC_GETVERSION, &generation) == 0)
		return (uint32_t)generation == (uint32_t)sighting->generation;
	return true;
}

/* What an O_PATH descriptor stands for, unless that would wait for ever or is another file. */
static int open_place(struct sighting_access *access, const struct file_sighting *sighting,
		      const struct process_view *view, int path_fd, bool exact,
		      struct stat *ret_status, struct sighting_place *ret_place)
{
	own(own_fd) int path = path_fd, fd = -1;
	enum mount_kind kind = answering_kind(access->answering, path, view->dir);

	fd = answering_open(access->answering, path, kind, ANSWERING_HEAD, ret_status);
	if (fd < 0)
		return fd;
	if (!verify(fd, ret_status, sighting, exact))
		return -ESTALE;
	*ret_place = (struct sighting_place){ .fd = take_fd(&path), .kind = kind };
	return take_fd(&fd);
}

static int open_mapping(struct sighting_access *access, const struct file_sighting *sighting,
			const struct process_view *view, struct stat *ret_status,
			struct sighting_place *ret_place)
{
	char name[64];
	int path;

	if (view->dir < 0 || access->map_files_denied)
		return -ENOENT;
	snprintf(name, sizeof(name), "map_files/%llx-%llx", (unsigned long long)sighting->start,
		 (unsigned long long)sighting->end);
	path = openat(view->dir, name, O_PATH | O_CLOEXEC);
	if (path < 0) {
		access->map_files_denied = errno == EPERM;
		return -errno;
	}
	return open_place(access, sighting, view, path, true, ret_status, ret_place);
}

/* A root directory, and which one that is. */
struct way {
	int directory;
	uint32_t root;
};

static int open_path(struct sighting_access *access, const struct file_sighting *sighting,
		     const struct process_view *view, const struct way *way, const char *path,
		     struct stat *ret_status, struct sighting_place *ret_place)
{
	bool local = roots_path_is_local(access->roots, way->root, path);
	int found = answering_place(access->answering, way->directory, path, true, local);

	if (found < 0)
		return found;
	return open_place(access, sighting, view, found, false, ret_status, ret_place);
}

/* The program itself is there without the capability that map_files takes. */
static int open_program(struct sighting_access *access, const struct file_sighting *sighting,
			const struct process_view *view, struct stat *ret_status,
			struct sighting_place *ret_place)
{
	int path = view->dir < 0 ? -1 : openat(view->dir, "exe", O_PATH | O_CLOEXEC);

	if (path < 0)
		return -ENOENT;
	return open_place(access, sighting, view, path, false, ret_status, ret_place);
}

int sighting_open(struct sighting_access *access, const struct file_sighting *sighting,
		  const struct process_view *view, struct stat *ret_status,
		  struct sighting_place *ret_place)
{
	bool own = sighting->root == ROOT_OWN;
	const struct way ways[] = {
		{ view->root, sighting->root },
		{ roots_directory(access->roots, sighting->root), sighting->root },
		{ roots_directory(access->roots, ROOT_OWN), ROOT_OWN },
	};
	int fd = open_mapping(access, sighting, view, ret_status, ret_place);

	for (size_t i = 0; fd < 0 && fd != -ETIMEDOUT && i < sizeof(ways) / sizeof(*ways); i++) {
		if (i > 0 && own && ways[0].directory >= 0)
			break; /* all of them are ours */
		fd = open_path(access, sighting, view, &ways[i], sighting->path, ret_status,
			       ret_place);
		/* The link that was used is gone, but the file may have another, or it back. */
		if (fd < 0 && fd != -ETIMEDOUT && sighting->undeleted != sighting->path)
			fd = open_path(access, sighting, view, &ways[i], sighting->undeleted,
				       ret_status, ret_place);
	}
	if (fd >= 0 || fd == -ETIMEDOUT)
		return fd;
	return open_program(access, sighting, view, ret_status, ret_place);
}

static int64_t mtime_of(const struct stat *status)
{
	return status->st_mtim.tv_sec * 1000000000ll + status->st_mtim.tv_nsec;
}

void identity_read(int fd, const struct stat *status, struct file_identity *ret_identity)
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

uint64_t identity_hash(const struct file_identity *identity)
{
	if (identity->build_id_size)
		return hash_u64(hash_bytes(identity->build_id, identity->build_id_size) ^
				identity->size);
	return hash_u64(hash_u64(identity->inode) ^ identity->device);
}

bool identity_equal(const struct file_identity *a, const struct file_identity *b)
{
	if (a->build_id_size != b->build_id_size || a->size != b->size)
		return false;
	if (a->build_id_size)
		return memcmp(a->build_id, b->build_id, a->build_id_size) == 0;
	return a->device == b->device && a->inode == b->inode && a->mtime_ns == b->mtime_ns;
}

bool identity_same_inode(const struct file_identity *identity, const struct stat *status)
{
	return status->st_dev == identity->device && status->st_ino == identity->inode;
}

bool identity_unwritten(const struct file_identity *identity, const struct stat *status)
{
	return identity_same_inode(identity, status) &&
	       (uint64_t)status->st_size == identity->size &&
	       mtime_of(status) == identity->mtime_ns;
}

bool identity_holds(const struct file_identity *identity, int fd, const struct stat *status)
{
	if ((uint64_t)status->st_size != identity->size)
		return false;
	if (identity->build_id_size)
		return has_build_id(fd, identity->build_id, identity->build_id_size);
	return identity_unwritten(identity, status);
}
