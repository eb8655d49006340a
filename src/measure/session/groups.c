// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/groups.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/grow.h"
#include "base/own.h"
#include "process/cgroups.h"
#include "session/group_names.h"

#define NAMED_SIZE 400 /* bytes of what a mistaken choice is answered with */

/* A chosen cgroup that is below no other. */
struct top {
	uint64_t id;
	uint32_t round; /* of the walk that saw it last */
};

struct groups {
	const struct cgroup_filter *asked;
	struct cgroup_filter wanted; /* the same, with the path of the cgroup as names have it */
	char *path;
	struct images *images;
	int map;
	uint64_t changes;
	struct top *tops;
	uint32_t n_tops, capacity;
	uint32_t round;
	uint32_t now, came, went; /* tops; those that came since the first walk */
	int failed;		  /* a negative errno of a walk */
};

/* ---- the path ---- */

/* Opens a directory of a cgroup. */
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

/* Whether a path is that of a cgroup, though a directory is there in our root: `/` always is. */
static bool is_below_mount(const char *mount, const char *path)
{
	own(own_free) char *below = NULL;
	own(own_fd) int fd = -1;

	if (*path != '/' || asprintf(&below, "%s%s", mount, path) < 0)
		return false;
	fd = open_cgroup(below);
	return fd >= 0;
}

/*
 * The path below the mount point of the hierarchy, of a directory in our root; else it is one
 * already, as --show-cgroup, systemd-cgls and /proc/PID/cgroup print it.
 */
static int find_path(struct groups *groups, struct error *err)
{
	own(own_free) char *mount = cgroups_mount_point();
	own(own_free) char *real = realpath(groups->asked->cgroup, NULL);
	own(own_fd) int fd = open_cgroup(groups->asked->cgroup);
	size_t size = mount ? strlen(mount) : 0;

	if (fd == -EINVAL && !(mount && is_below_mount(mount, groups->asked->cgroup)))
		return error_set(err, fd, "%s is not a directory of cgroup v2 (%s %s)",
				 groups->asked->cgroup, mount ? "mounted at" : "usually mounted at",
				 mount ? mount : "/sys/fs/cgroup");
	if (fd < 0 || !size || !real || strncmp(real, mount, size) != 0)
		return 0;
	groups->path = strdup(real[size] ? real + size : "/");
	groups->wanted.cgroup = groups->path;
	return groups->path ? 0 : error_set(err, -ENOMEM, "out of memory");
}

/* ---- the walk ---- */

static int see_top(struct groups *groups, uint64_t id)
{
	uint32_t i = 0;

	while (i < groups->n_tops && groups->tops[i].id != id)
		i++;
	if (i == groups->n_tops) {
		if (grow(&groups->tops, &groups->capacity, groups->n_tops + 1) < 0)
			return -ENOMEM;
		groups->tops[groups->n_tops++].id = id;
		groups->came += groups->round > 1;
	}
	groups->tops[i].round = groups->round;
	groups->now++;
	return 0;
}

struct walk {
	struct groups *groups;
	const char *top; /* the path of the last top, or NULL */
};

static bool is_below(const char *path, const char *top)
{
	size_t size = strlen(top);

	return strcmp(top, "/") == 0 || (strncmp(path, top, size) == 0 && path[size] == '/');
}

static void visit(void *context, const struct names_cgroup *cgroup)
{
	struct walk *walk = context;
	struct groups *groups = walk->groups;
	uint32_t chosen = 1;

	if (groups->failed || !cgroup_filter_matches(&groups->wanted, cgroup))
		return;
	if (!walk->top || !is_below(cgroup->path, walk->top)) {
		walk->top = cgroup->path;
		groups->failed = see_top(groups, cgroup->id);
	}
	if (bpf_map_update_elem(groups->map, &cgroup->id, &chosen, BPF_ANY) < 0)
		groups->failed = -errno;
}

static void forget_gone(struct groups *groups)
{
	for (uint32_t i = 0; i < groups->n_tops;) {
		if (groups->tops[i].round == groups->round) {
			i++;
			continue;
		}
		groups->tops[i] = groups->tops[--groups->n_tops];
		groups->went++;
	}
}

static int look(struct groups *groups)
{
	struct walk walk = { .groups = groups };
	int r;

	groups->round++;
	groups->now = 0;
	images_lock(groups->images);
	r = images_walk_cgroups(groups->images, cgroup_filter_by_names(groups->asked), visit,
				&walk);
	images_unlock(groups->images);
	forget_gone(groups);
	return r < 0 ? r : groups->failed;
}

void groups_follow(struct groups *groups, uint64_t changes)
{
	if (!groups || groups->changes == changes)
		return;
	groups->changes = changes;
	look(groups);
}

/* ---- what to say ---- */

static int explain_none(const struct groups *groups, struct error *err)
{
	const struct cgroup_filter *asked = groups->asked;
	char text[NAMED_SIZE], named[NAMED_SIZE];
	uint32_t n;

	cgroup_filter_text(asked, text, sizeof(text));
	if (!asked->cgroup || asked->service || cgroup_filter_by_names(asked)) {
		group_names_list(groups->images, asked, named, sizeof(named));
		return error_set(err, -ENOENT, "nothing runs that is %s; there are: %s", text,
				 named);
	}
	n = cgroups_named(asked->cgroup, named, sizeof(named));
	if (n > 0)
		return error_set(err, -ENOENT, "no cgroup %s: %s; %u %s such a name: %s%s",
				 asked->cgroup, strerror(ENOENT), n, n > 1 ? "have" : "has", named,
				 n > 3 ? ", ..." : "");
	return error_set(err, -ENOENT,
			 "no cgroup %s: %s; `systemd-cgls` and --show-cgroup show the paths",
			 asked->cgroup, strerror(ENOENT));
}

int groups_open(const struct cgroup_filter *filter, struct images *images, int map,
		struct groups **ret_groups, struct error *err)
{
	struct groups *groups = calloc(1, sizeof(*groups));
	int r;

	if (!groups)
		return error_set(err, -ENOMEM, "out of memory");
	*groups =
		(struct groups){ .asked = filter, .wanted = *filter, .images = images, .map = map };
	*ret_groups = groups;
	r = filter->cgroup ? find_path(groups, err) : 0;
	if (r < 0)
		return r;
	r = look(groups);
	if (r < 0)
		return error_set(err, r, "cannot filter by cgroup: %s", strerror(-r));
	return groups->now || cgroup_filter_is_pattern(filter) ? 0 : explain_none(groups, err);
}

void groups_close(struct groups *groups)
{
	if (!groups)
		return;
	free(groups->tops);
	free(groups->path);
	free(groups);
}

bool groups_describe(const struct groups *groups, uint64_t lost, char *ret_text, size_t size)
{
	char text[NAMED_SIZE];

	if (!groups)
		return false;
	cgroup_filter_text(groups->asked, text, sizeof(text));
	if (lost)
		snprintf(ret_text, size, "%llu cgroups of %s are not measured: there are too many",
			 (unsigned long long)lost, text);
	else if (!groups->now && !groups->went)
		snprintf(ret_text, size, "nothing ran that is %s", text);
	else if (!groups->now)
		snprintf(ret_text, size,
			 "the %s was removed during the measurement, and is not there now", text);
	else if (groups->came && cgroup_filter_is_pattern(groups->asked))
		snprintf(ret_text, size,
			 "%u more of %s came during the measurement, and are measured since; up to "
			 "0.1 s of each beginning may be missing",
			 groups->came, text);
	else if (groups->came)
		snprintf(ret_text, size,
			 "the %s was removed and made again (%u times), and is measured since; up "
			 "to 0.1 s of each beginning may be missing",
			 text, groups->came);
	else
		return false;
	return true;
}
