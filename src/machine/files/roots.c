// SPDX-License-Identifier: GPL-2.0-or-later
#include "files/roots.h"

#include <errno.h>
#include <fcntl.h>

#include "base/clock.h"
#include "base/own.h"
#include "files/mountinfo.h"
#include "files/path.h"

#define MAX_ROOTS	256u
#define MOUNTS_VALID_MS 10000u

struct root {
	dev_t device;
	ino_t inode;
	ino_t mount_namespace;
	int directory;
	int tmp;
	char *remote;		 /* mounts_remote_points() */
	uint64_t remote_read_ms; /* when; 0: never */
};

struct roots {
	struct file_opener *opener;
	struct root *at;
	uint32_t n;
};

int roots_new(struct file_opener *opener, struct roots **ret_roots)
{
	own(process_view_close) struct process_view self = PROCESS_VIEW_NONE;
	struct roots *roots = calloc(1, sizeof(*roots));

	if (!roots)
		return -ENOMEM;
	roots->at = calloc(MAX_ROOTS, sizeof(*roots->at));
	if (!roots->at) {
		free(roots);
		return -ENOMEM;
	}
	roots->opener = opener;
	if (process_view_open(getpid(), &self) == 0)
		roots_intern(roots, &self); /* the first one: ROOT_OWN */
	if (roots->n == 0) {
		roots->at[roots->n++] = (struct root){
			.directory = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC),
			.tmp = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC),
		};
	}
	*ret_roots = roots;
	return 0;
}

void roots_free(struct roots *roots)
{
	if (!roots)
		return;
	for (uint32_t i = 0; i < roots->n; i++) {
		own_fd(&roots->at[i].directory);
		own_fd(&roots->at[i].tmp);
		free(roots->at[i].remote);
	}
	free(roots->at);
	free(roots);
}

/* Reads the remote mounts again if that was long ago: those of a container may change. */
static void refresh_mounts(const struct roots *roots, struct root *root, int process_dir)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC_COARSE) / NS_PER_MS;

	if (root->remote_read_ms && now - root->remote_read_ms < MOUNTS_VALID_MS)
		return;
	root->remote_read_ms = now;
	free(root->remote);
	root->remote = mounts_remote_points(file_opener_mounts(roots->opener), process_dir);
}

/* Its mount points that are not local; NULL: not known. */
static const char *remote_of(const struct roots *roots, uint32_t root)
{
	if (root == ROOT_OWN)
		return mounts_own_remote_points(file_opener_mounts(roots->opener));
	return root < roots->n ? roots->at[root].remote : NULL;
}

struct file_way roots_way(const struct roots *roots, uint32_t root, const char *path)
{
	return (struct file_way){ .directory = root < roots->n ? roots->at[root].directory : -1,
				  .path = path,
				  .remote = remote_of(roots, root),
				  .process_dir = -1 };
}

struct file_way roots_way_in_tmp(const struct roots *roots, uint32_t root, const char *name)
{
	return (struct file_way){ .directory = root < roots->n ? roots->at[root].tmp : -1,
				  .path = name,
				  .links = LINKS_REFUSED,
				  .remote = remote_of(roots, root),
				  .within = "tmp",
				  .process_dir = -1 };
}

uint32_t roots_intern(struct roots *roots, const struct process_view *view)
{
	struct stat directory, mount_namespace;
	struct root *root;

	if (view->root < 0 || path_stat_cached(view->root, &directory) < 0 ||
	    fstatat(view->dir, "ns/mnt", &mount_namespace, 0) < 0)
		return ROOT_UNKNOWN;
	for (uint32_t i = 0; i < roots->n; i++) {
		root = &roots->at[i];
		if (root->inode != directory.st_ino || root->device != directory.st_dev ||
		    root->mount_namespace != mount_namespace.st_ino)
			continue;
		refresh_mounts(roots, root, view->dir);
		return i;
	}
	if (roots->n == MAX_ROOTS)
		return ROOT_UNKNOWN;
	root = &roots->at[roots->n];
	*root = (struct root){
		.device = directory.st_dev,
		.inode = directory.st_ino,
		.mount_namespace = mount_namespace.st_ino,
		.directory = fcntl(view->root, F_DUPFD_CLOEXEC, 3),
	};
	refresh_mounts(roots, root, view->dir);
	root->tmp = file_opener_find(roots->opener, &(struct file_way){ .directory = view->root,
									.path = "tmp",
									.remote = root->remote });
	return roots->n++;
}

uint32_t roots_n(const struct roots *roots)
{
	return roots->n;
}
