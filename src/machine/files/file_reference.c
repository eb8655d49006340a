// SPDX-License-Identifier: GPL-2.0-or-later
#include "files/file_reference.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>

#include "base/own.h"
#include "files/mapped_inode.h"
#include "files/path.h"

/* What is being opened, and the results. */
struct attempt {
	struct file_access *access;
	const struct file_reference *reference;
	const struct process_view *view;
	struct stat status;
	struct file_place place;
};

/* A root directory to resolve paths in. */
struct root_directory {
	int fd;
	uint32_t root;
};

/* True if a mapping of the open file is described as in the reference. */
static bool is_mapped_as(const struct file_reference *reference, int fd)
{
	struct mapped_inode inode;

	return mapped_inode_of(fd, &inode) == 0 && inode.device == reference->device &&
	       inode.inode == reference->inode;
}

/*
 * True if the open file is the one of the reference. `by_mapping`: map_files led to it. `copy`:
 * what is open is a copy of it.
 */
static bool verify(const struct attempt *attempt, int fd, bool by_mapping, bool copy)
{
	const struct file_reference *reference = attempt->reference;
	const struct stat *status = &attempt->status;
	bool anonymous_device = major(reference->device) == 0 || major(status->st_dev) == 0;
	bool same_inode = status->st_ino == reference->inode;
	int generation;

	/*
	 * maps and stat disagree about the device on overlayfs and btrfs, and on overlayfs about
	 * the inode, too. A path in some root may there lead to a file of another layer or
	 * subvolume that has the same inode number; a mapping of ours is described as theirs.
	 */
	if (!same_inode || status->st_dev != reference->device) {
		if (!anonymous_device)
			return false;
		if (!by_mapping && !(copy ? same_inode : is_mapped_as(reference, fd)))
			return false;
	}
	if (reference->generation && ioctl(fd, FS_IOC_GETVERSION, &generation) == 0)
		return (uint32_t)generation == (uint32_t)reference->generation;
	return true;
}

/* Opens what an O_PATH descriptor stands for, if it is the file; takes the descriptor. */
static int open_found(struct attempt *attempt, int path_fd, bool by_mapping)
{
	struct file_opener *opener = attempt->access->opener;
	own(own_fd) int path = path_fd, fd = -1;
	enum mount_kind kind = file_opener_mount_kind(opener, path, attempt->view->dir);

	fd = file_opener_open(opener, path, kind, FILE_HEAD, &attempt->status);
	if (fd < 0)
		return fd;
	if (!verify(attempt, fd, by_mapping, kind != MOUNT_LOCAL))
		return -ESTALE;
	attempt->place = (struct file_place){
		.fd = take_fd(&path),
		.kind = kind,
		.root = attempt->reference->root,
	};
	return take_fd(&fd);
}

/* An O_PATH descriptor of what the mapping leads to. */
static int find_mapping(struct file_access *access, const struct file_reference *reference,
			const struct process_view *view)
{
	char name[64];
	int path;

	if (view->dir < 0 || access->map_files_denied)
		return -ENOENT;
	snprintf(name, sizeof(name), "map_files/%llx-%llx", (unsigned long long)reference->start,
		 (unsigned long long)reference->end);
	path = openat(view->dir, name, O_PATH | O_CLOEXEC);
	if (path < 0) {
		access->map_files_denied = errno == EPERM;
		return -errno;
	}
	return path;
}

int file_reference_stat_mapping(struct file_access *access, const struct file_reference *reference,
				const struct process_view *view, struct stat *ret_status)
{
	own(own_fd) int path = find_mapping(access, reference, view);

	if (path < 0)
		return path;
	if (file_opener_mount_kind(access->opener, path, view->dir) != MOUNT_LOCAL)
		return -EREMOTE;
	return path_stat_cached(path, ret_status);
}

static int open_mapping(struct attempt *attempt)
{
	int path = find_mapping(attempt->access, attempt->reference, attempt->view);

	return path < 0 ? path : open_found(attempt, path, true);
}

static int open_path(struct attempt *attempt, const struct root_directory *root, const char *path)
{
	bool local = roots_path_is_local(attempt->access->roots, root->root, path);
	int found = file_opener_resolve(attempt->access->opener, root->fd, path, true, local);

	return found < 0 ? found : open_found(attempt, found, false);
}

/* In one root. A deleted file may have another link under its old path, or be back. */
static int open_in_root(struct attempt *attempt, const struct root_directory *root)
{
	const struct file_reference *reference = attempt->reference;
	int fd = open_path(attempt, root, reference->path);

	if (fd < 0 && fd != -ETIMEDOUT && reference->undeleted != reference->path)
		fd = open_path(attempt, root, reference->undeleted);
	if (fd >= 0)
		attempt->place.root = root->root;
	return fd;
}

/* Unlike map_files, exe can be opened without CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN. */
static int open_program(struct attempt *attempt)
{
	int path =
		attempt->view->dir < 0 ? -1 : openat(attempt->view->dir, "exe", O_PATH | O_CLOEXEC);

	return path < 0 ? -ENOENT : open_found(attempt, path, false);
}

/*
 * The process has ended, and nothing is known of its root: those of other processes may have the
 * file, for instance that of its parent. Only where no path lookup has to wait.
 */
static int open_in_any_root(struct attempt *attempt)
{
	const struct roots *roots = attempt->access->roots;
	int fd = -ENOENT;

	for (uint32_t id = ROOT_OWN + 1; fd < 0 && id < roots_n(roots); id++) {
		const struct root_directory root = { roots_directory(roots, id), id };

		if (roots_path_is_local(roots, id, attempt->reference->undeleted))
			fd = open_in_root(attempt, &root);
	}
	return fd;
}

static int try_all(struct attempt *attempt)
{
	const struct roots *roots = attempt->access->roots;
	uint32_t root = attempt->reference->root;
	const struct root_directory directories[] = {
		{ attempt->view->root, root },
		{ roots_directory(roots, root), root },
		{ roots_directory(roots, ROOT_OWN), ROOT_OWN },
	};
	int fd = open_mapping(attempt);

	for (size_t i = 0; i < sizeof(directories) / sizeof(*directories); i++) {
		if (fd >= 0 || fd == -ETIMEDOUT)
			return fd;
		if (i > 0 && root == ROOT_OWN && attempt->view->root >= 0)
			break; /* all three are the same */
		fd = open_in_root(attempt, &directories[i]);
	}
	if (fd >= 0 || fd == -ETIMEDOUT)
		return fd;
	fd = open_program(attempt);
	return fd < 0 && root == ROOT_UNKNOWN ? open_in_any_root(attempt) : fd;
}

int file_reference_open(struct file_access *access, const struct file_reference *reference,
			const struct process_view *view, struct stat *ret_status,
			struct file_place *ret_place)
{
	struct attempt attempt = { .access = access, .reference = reference, .view = view };
	int fd = try_all(&attempt);

	if (fd < 0)
		return fd;
	*ret_status = attempt.status;
	*ret_place = attempt.place;
	return fd;
}
