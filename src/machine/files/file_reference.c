// SPDX-License-Identifier: GPL-2.0-or-later
#include "files/file_reference.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>

#include "base/own.h"
#include "files/mapped_inode.h"

/* What is being opened, and the results. */
struct attempt {
	struct file_access *access;
	const struct file_reference *reference;
	const struct process_view *view;
	struct stat status;
	struct file_place place;
};

/* True if a mapping of the open file is described as in the reference. */
static bool is_mapped_as(const struct file_reference *reference, int fd)
{
	struct mapped_inode inode;

	return mapped_inode_of(fd, &inode) == 0 && inode.device == reference->device &&
	       inode.inode == reference->inode;
}

/* True if the open file is the one of the reference. `by_mapping`: map_files led to it. */
static bool is_meant(const struct file_reference *reference, int fd, const struct stat *status,
		     bool by_mapping, bool copy)
{
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

static int judge_mapped(void *reference, int fd, const struct stat *status, bool copy)
{
	return is_meant(reference, fd, status, true, copy) ? 0 : -ESTALE;
}

static int judge_found(void *reference, int fd, const struct stat *status, bool copy)
{
	return is_meant(reference, fd, status, false, copy) ? 0 : -ESTALE;
}

/* Opens what a way leads to, if it is the file. */
static int open_by(struct attempt *attempt, struct file_way way, uint32_t root,
		   int (*judge)(void *, int, const struct stat *, bool))
{
	const struct file_check check = { judge, (void *)attempt->reference };
	int fd;

	way.process_dir = attempt->view->dir;
	fd = file_opener_open(attempt->access->opener, &way, FILE_HEAD, &check, &attempt->status,
			      &attempt->place.found);
	if (fd >= 0)
		attempt->place.root = root;
	return fd;
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
	const struct file_way way = { .directory = path, .process_dir = view->dir };

	return path < 0 ? path : file_opener_look(access->opener, &way, ret_status);
}

static int open_mapping(struct attempt *attempt)
{
	own(own_fd) int path = find_mapping(attempt->access, attempt->reference, attempt->view);

	return path < 0 ? path
			: open_by(attempt, (struct file_way){ .directory = path },
				  attempt->reference->root, judge_mapped);
}

/* A root to look for the path in. */
struct root_choice {
	uint32_t root;
	bool live;    /* as the process has it now */
	bool at_once; /* only where no path lookup may have to wait */
};

static int open_path(struct attempt *attempt, const struct root_choice *in, const char *path)
{
	struct file_way way = roots_way(attempt->access->roots, in->root, path);

	if (in->live)
		way.directory = attempt->view->root;
	way.at_once = in->at_once;
	return open_by(attempt, way, in->root, judge_found);
}

/* In one root. A deleted file may have another link under its old path, or be back. */
static int open_in_root(struct attempt *attempt, const struct root_choice *in)
{
	const struct file_reference *reference = attempt->reference;
	int fd = open_path(attempt, in, reference->path);

	if (fd < 0 && fd != -ETIMEDOUT && reference->undeleted != reference->path)
		fd = open_path(attempt, in, reference->undeleted);
	return fd;
}

/* Unlike map_files, exe can be opened without CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN. */
static int open_program(struct attempt *attempt)
{
	int dir = attempt->view->dir;
	own(own_fd) int path = dir < 0 ? -1 : openat(dir, "exe", O_PATH | O_CLOEXEC);

	return path < 0 ? -ENOENT
			: open_by(attempt, (struct file_way){ .directory = path },
				  attempt->reference->root, judge_found);
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
		const struct root_choice in = { .root = id, .at_once = true };

		fd = open_in_root(attempt, &in);
	}
	return fd;
}

static int try_all(struct attempt *attempt)
{
	uint32_t root = attempt->reference->root;
	const struct root_choice choices[] = { { .root = root, .live = true },
					       { .root = root },
					       { .root = ROOT_OWN } };
	int fd = open_mapping(attempt);

	for (size_t i = 0; i < sizeof(choices) / sizeof(*choices); i++) {
		if (fd >= 0 || fd == -ETIMEDOUT)
			return fd;
		if (i > 0 && root == ROOT_OWN && attempt->view->root >= 0)
			break; /* all three are the same */
		fd = open_in_root(attempt, &choices[i]);
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
