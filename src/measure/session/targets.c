// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/targets.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/own.h"
#include "process/cgroups.h"

/* More processes or threads are not watched: then the measurement ends by its duration. */
#define MAX_WATCHED 1024u

struct targets {
	const struct plan *plan;
	int tgids, cgroup_map; /* the BPF programs' maps, borrowed */
	/* Processes that have not ended yet, by pidfd; threads by their directory in /proc. */
	int *processes, *threads;
	uint32_t n_processes, n_threads;
	bool watched; /* the above is complete */
	bool ended;
	char *cgroup; /* path; NULL: none was chosen */
	ino_t cgroup_inode;
	bool cgroup_gone;
	uint32_t removed, made_again; /* times */
};

/* ---- processes and threads ---- */

static bool process_ended(int pidfd)
{
	struct pollfd end = { .fd = pidfd, .events = POLLIN };

	return poll(&end, 1, 0) > 0;
}

static bool thread_ended(int dir)
{
	return faccessat(dir, "stat", F_OK, 0) < 0;
}

static int open_process(int id)
{
	int fd = (int)syscall(SYS_pidfd_open, id, 0);

	return fd < 0 ? -errno : fd;
}

static int open_thread(int id)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d", id);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Watches those that have not ended. False if they cannot be watched. */
static bool watch(const struct id_list *list, int (*open_one)(int), int **ret_fds, uint32_t *ret_n)
{
	if (!list->n)
		return true;
	*ret_fds = list->n > MAX_WATCHED ? NULL : calloc(list->n, sizeof(int));
	if (!*ret_fds)
		return false;
	for (uint32_t i = 0; i < list->n; i++) {
		int fd = list->ids[i] > 0 ? open_one(list->ids[i]) : -EINVAL;

		if (fd >= 0)
			(*ret_fds)[(*ret_n)++] = fd;
		else if (fd != -ESRCH && fd != -ENOENT)
			return false; /* CPUs that idle, or a kernel before 5.3 */
	}
	return true;
}

/* Closes those that have ended. */
static void drop_ended(int *fds, uint32_t *n, bool (*has_ended)(int))
{
	for (uint32_t i = 0; i < *n;) {
		if (!has_ended(fds[i])) {
			i++;
			continue;
		}
		close(fds[i]);
		fds[i] = fds[--*n];
	}
}

/* The BPF programs remove those that end. */
static bool has_followed(const struct targets *targets)
{
	uint32_t first;

	return targets->plan->filter.follow_forks &&
	       bpf_map_get_next_key(targets->tgids, NULL, &first) == 0;
}

bool targets_ended(struct targets *targets)
{
	const struct plan_filter *filter = targets ? &targets->plan->filter : NULL;

	if (!targets || !targets->watched || targets->ended)
		return targets && targets->ended;
	drop_ended(targets->processes, &targets->n_processes, process_ended);
	drop_ended(targets->threads, &targets->n_threads, thread_ended);
	targets->ended = (filter->tgids.n && targets->n_processes == 0 && !has_followed(targets)) ||
			 (filter->tids.n && targets->n_threads == 0);
	return targets->ended;
}

/* ---- the cgroup ---- */

#define NAMED_SIZE 400 /* bytes of the paths that a mistaken one is answered with */

static int open_cgroup(const char *path)
{
	own(own_fd) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfs status;

	if (fd < 0)
		return -errno;
	if (fstatfs(fd, &status) < 0 || status.f_type != CGROUP2_SUPER_MAGIC)
		return -EINVAL;
	return take_fd(&fd);
}

/*
 * Opens a cgroup by its path in our root, or below the mount point of the hierarchy, as
 * --show-cgroup, systemd-cgls and /proc/PID/cgroup print it.
 */
static int find_cgroup(const char *path, char **ret_path)
{
	own(own_free) char *mount = NULL, *below = NULL;
	int fd = open_cgroup(path), other;

	if (fd < 0) {
		mount = cgroups_mount_point();
		if (mount && asprintf(&below, "%s/%s", mount, path + strspn(path, "/")) >= 0) {
			other = open_cgroup(below);
			if (other >= 0) {
				*ret_path = take_ptr(below);
				return other;
			}
		}
		return fd;
	}
	*ret_path = strdup(path);
	if (*ret_path)
		return fd;
	close(fd);
	return -ENOMEM;
}

static int set_cgroup(struct targets *targets, int fd)
{
	uint32_t zero = 0;
	struct stat status;

	if (fstat(fd, &status) < 0 ||
	    bpf_map_update_elem(targets->cgroup_map, &zero, &fd, BPF_ANY) < 0)
		return -errno;
	targets->cgroup_inode = status.st_ino;
	return 0;
}

static int begin_cgroup(struct targets *targets, const char *path, struct error *err)
{
	own(own_fd) int fd = find_cgroup(path, &targets->cgroup);
	char named[NAMED_SIZE];
	uint32_t n;
	int r;

	if (fd == -EINVAL)
		return error_set(err, fd,
				 "%s is not a directory of cgroup v2 (usually mounted at "
				 "/sys/fs/cgroup)",
				 path);
	n = fd < 0 ? cgroups_named(path, named, sizeof(named)) : 0;
	if (n > 0)
		return error_set(err, fd, "no cgroup %s: %s; %u %s such a name: %s%s", path,
				 strerror(-fd), n, n > 1 ? "have" : "has", named,
				 n > 3 ? ", ..." : "");
	if (fd < 0)
		return error_set(
			err, fd,
			"no cgroup %s: %s; `systemd-cgls` and --show-cgroup show the paths", path,
			strerror(-fd));
	r = set_cgroup(targets, fd);
	return r < 0 ? error_set(err, r, "cannot filter by cgroup %s: %s", path, strerror(-r)) : 0;
}

void targets_follow_cgroup(struct targets *targets)
{
	own(own_fd) int fd = -1;
	struct stat status;
	bool exists;

	if (!targets || !targets->cgroup)
		return;
	exists = stat(targets->cgroup, &status) == 0;
	if (exists && status.st_ino == targets->cgroup_inode)
		return;
	targets->removed += !targets->cgroup_gone;
	targets->cgroup_gone = !exists;
	if (!exists)
		return;
	fd = open_cgroup(targets->cgroup);
	if (fd >= 0 && set_cgroup(targets, fd) == 0)
		targets->made_again++;
	else
		targets->cgroup_gone = true;
}

/* ---- */

static void describe_cgroup(const struct targets *targets, char *text, size_t size)
{
	const char *path = targets->plan->filter.cgroup;

	if (targets->cgroup_gone)
		snprintf(text, size,
			 "the cgroup %s was removed during the measurement, and is not there now",
			 path);
	else
		snprintf(text, size,
			 "the cgroup %s was removed and made again (%u times), and is measured "
			 "since; up to 0.1 s of each beginning may be missing",
			 path, targets->made_again);
}

bool targets_describe(const struct targets *targets, char *ret_text, size_t size)
{
	const struct plan_filter *filter = targets ? &targets->plan->filter : NULL;

	if (!targets)
		return false;
	if (targets->ended && filter->tgids.n == 1 && !targets->n_processes)
		snprintf(ret_text, size, "process %d%s ended, and with it the measurement",
			 filter->tgids.ids[0], filter->follow_forks ? " and its children" : "");
	else if (targets->ended)
		snprintf(ret_text, size, "all chosen %s ended, and with them the measurement",
			 filter->tgids.n && !targets->n_processes ? "processes" : "threads");
	else if (targets->removed)
		describe_cgroup(targets, ret_text, size);
	else
		return false;
	return true;
}

int targets_open(const struct plan *plan, int tgids, int cgroup_map, struct targets **ret_targets,
		 struct error *err)
{
	struct targets *targets = calloc(1, sizeof(*targets));
	const struct plan_filter *filter = &plan->filter;
	int r = 0;

	if (!targets)
		return error_set(err, -ENOMEM, "out of memory");
	targets->plan = plan;
	targets->tgids = tgids;
	targets->cgroup_map = cgroup_map;
	*ret_targets = targets;
	/* A launched command ends the measurement itself. */
	targets->watched =
		!plan->command &&
		watch(&filter->tgids, open_process, &targets->processes, &targets->n_processes) &&
		watch(&filter->tids, open_thread, &targets->threads, &targets->n_threads);
	if (filter->cgroup)
		r = begin_cgroup(targets, filter->cgroup, err);
	return r;
}

static void close_all(int *fds, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		close(fds[i]);
	free(fds);
}

void targets_close(struct targets *targets)
{
	if (!targets)
		return;
	close_all(targets->processes, targets->n_processes);
	close_all(targets->threads, targets->n_threads);
	free(targets->cgroup);
	free(targets);
}
