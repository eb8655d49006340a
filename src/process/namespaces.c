// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/namespaces.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "base/own.h"
#include "process/answering.h"

#define MAX_ROOTS   256u
#define STATUS_SIZE 8192u

#define MOUNTS_HOLD_S 10

struct root {
	dev_t device;
	ino_t inode;
	ino_t mount_namespace;
	int directory;
	int tmp;
	char *remote;	  /* mounts_remote_points(), as of ... */
	time_t looked_at; /* CLOCK_MONOTONIC, s */
};

struct roots {
	struct answering *answering;
	struct root *at;
	uint32_t n;
};

static int openat2_(int directory, const char *path, uint64_t flags, uint64_t resolve)
{
	struct open_how how = { .flags = flags | O_CLOEXEC, .resolve = resolve };
	long r;

	/* -EAGAIN: a rename raced with a ".." and the kernel cannot tell; bounded, it is not ours.
	 */
	for (int tries = 0; tries < 8; tries++) {
		r = syscall(SYS_openat2, directory, path, &how, sizeof(how));
		if (r >= 0 || errno != EAGAIN)
			break;
	}
	return r < 0 ? -errno : (int)r;
}

int open_regular(int path_fd, struct stat *ret_status)
{
	own(own_fd) int path = path_fd;
	char name[40];
	struct stat status;
	int fd;

	if (fstat(path, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	/* The descriptor pins the inode, so what is opened here is what was looked at. */
	snprintf(name, sizeof(name), "/proc/self/fd/%d", path);
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	*ret_status = status;
	return fd;
}

int place_in_root(int root, const char *path, bool follow)
{
	uint64_t resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;

	return openat2_(root, path, O_PATH, resolve | (follow ? 0 : RESOLVE_NO_SYMLINKS));
}

int stat_remembered(int path_fd, struct stat *ret_status)
{
	struct statx status;

	if (statx(path_fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &status) < 0)
		return -errno;
	*ret_status = (struct stat){
		.st_dev = makedev(status.stx_dev_major, status.stx_dev_minor),
		.st_ino = status.stx_ino,
		.st_mode = status.stx_mode,
		.st_uid = status.stx_uid,
		.st_size = (off_t)status.stx_size,
		.st_mtim = { status.stx_mtime.tv_sec, status.stx_mtime.tv_nsec },
	};
	return 0;
}

int view_open(pid_t tgid, struct process_view *ret_view)
{
	struct process_view view = PROCESS_VIEW_NONE;
	char name[32];

	if (tgid <= 0)
		return -ESRCH;
	snprintf(name, sizeof(name), "/proc/%d", (int)tgid);
	view.dir = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (view.dir < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	view.root = openat(view.dir, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	*ret_view = view;
	return 0;
}

void view_close(struct process_view *view)
{
	own_fd(&view->dir);
	own_fd(&view->root);
	*view = PROCESS_VIEW_NONE;
}

/* The content of a small file of /proc/PID, terminated. Returns its size or a negative errno. */
static ssize_t read_small(int dir, const char *name, char *buffer, size_t size)
{
	own(own_fd) int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	size_t n = 0;

	if (fd < 0)
		return -errno;
	while (n < size - 1) {
		ssize_t r = read(fd, buffer + n, size - 1 - n);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -errno;
		if (r == 0)
			break;
		n += (size_t)r;
	}
	buffer[n] = '\0';
	return (ssize_t)n;
}

/* The text after "\nKEY:" up to the end of its line, or NULL. */
static const char *status_field(const char *status, const char *key)
{
	const char *at = strstr(status, key);

	return at ? at + strlen(key) : NULL;
}

static int parse_status(const char *status, struct process_identity *identity)
{
	const char *uid = status_field(status, "\nUid:");
	const char *ids = status_field(status, "\nNStgid:");
	unsigned int effective;

	if (!uid || sscanf(uid, "%*u %u", &effective) != 1)
		return -EPROTO;
	identity->uid = effective;
	identity->innermost = 0;
	while (ids) { /* one id for each nested namespace, the innermost last */
		char *end;
		unsigned long id = strtoul(ids, &end, 10);

		if (end == ids || id == 0 || id > INT32_MAX)
			break;
		identity->innermost = (pid_t)id;
		ids = *end == '\t' ? end + 1 : NULL;
	}
	return 0;
}

int view_identity(const struct process_view *view, struct process_identity *ret_identity)
{
	struct process_identity identity = { 0 };
	own(own_free) char *text = malloc(STATUS_SIZE);
	const char *at;
	ssize_t n;
	int r;

	if (!text)
		return -ENOMEM;
	n = read_small(view->dir, "status", text, STATUS_SIZE);
	if (n < 0)
		return (int)n;
	r = parse_status(text, &identity);
	if (r < 0)
		return r;
	n = read_small(view->dir, "stat", text, STATUS_SIZE);
	if (n < 0)
		return (int)n;
	at = strrchr(text, ')'); /* the comm may hold anything, but nothing after it does */
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (!at)
		return -EPROTO;
	identity.start_time = strtoull(at + 1, NULL, 10);
	*ret_identity = identity;
	return 0;
}

int roots_new(struct answering *answering, struct roots **ret_roots)
{
	struct roots *roots = calloc(1, sizeof(*roots));
	struct process_view self = PROCESS_VIEW_NONE;

	if (!roots)
		return -ENOMEM;
	roots->at = calloc(MAX_ROOTS, sizeof(*roots->at));
	if (!roots->at) {
		free(roots);
		return -ENOMEM;
	}
	roots->answering = answering;
	*ret_roots = roots;
	if (view_open(getpid(), &self) == 0)
		roots_learn(roots, &self); /* the first one: ROOT_OWN */
	view_close(&self);
	if (roots->n == 0) {
		roots->at[roots->n++] = (struct root){
			.directory = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC),
			.tmp = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC),
		};
	}
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

/* What is mounted in a container may change. */
static void look_at_mounts(const struct roots *roots, struct root *root, int process_dir)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	if (root->looked_at && now.tv_sec - root->looked_at < MOUNTS_HOLD_S)
		return;
	root->looked_at = now.tv_sec + 1;
	free(root->remote);
	root->remote = mounts_remote_points(answering_mounts(roots->answering), process_dir);
}

bool roots_path_is_local(const struct roots *roots, uint32_t root, const char *path)
{
	const char *points = root < roots->n ? roots->at[root].remote : NULL;

	if (root == ROOT_OWN)
		points = mounts_own_remote_points(answering_mounts(roots->answering));
	return mounts_path_is_local(points, path);
}

uint32_t roots_learn(struct roots *roots, const struct process_view *view)
{
	struct stat root, space;

	if (view->root < 0 || stat_remembered(view->root, &root) < 0 ||
	    fstatat(view->dir, "ns/mnt", &space, 0) < 0)
		return ROOT_UNKNOWN;
	for (uint32_t i = 0; i < roots->n; i++) {
		struct root *known = &roots->at[i];

		if (known->inode != root.st_ino || known->device != root.st_dev ||
		    known->mount_namespace != space.st_ino)
			continue;
		look_at_mounts(roots, known, view->dir);
		return i;
	}
	if (roots->n == MAX_ROOTS)
		return ROOT_UNKNOWN;
	roots->at[roots->n] = (struct root){
		.device = root.st_dev,
		.inode = root.st_ino,
		.mount_namespace = space.st_ino,
		.directory = fcntl(view->root, F_DUPFD_CLOEXEC, 3),
		.tmp = -1,
	};
	look_at_mounts(roots, &roots->at[roots->n], view->dir);
	roots->at[roots->n].tmp =
		answering_place(roots->answering, view->root, "tmp", true,
				mounts_path_is_local(roots->at[roots->n].remote, "tmp"));
	return roots->n++;
}

int roots_directory(const struct roots *roots, uint32_t root)
{
	return root < roots->n ? roots->at[root].directory : -1;
}

int roots_tmp(const struct roots *roots, uint32_t root)
{
	return root < roots->n ? roots->at[root].tmp : -1;
}
