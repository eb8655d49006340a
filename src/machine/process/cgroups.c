// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/cgroups.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/grow.h"
#include "base/index.h"
#include "base/own.h"
#include "files/mountinfo.h"

#define CGROUP2	      "cgroup2"
#define FILEID_KERNFS 0xfe /* <linux/exportfs.h>: the handle is the 64-bit id of a node */
#define MAX_DEPTH     32
#define MAX_WALKED    65536u

/* Its path is owned, and NULL where it is not known. */
struct cgroup {
	struct names_cgroup is;
	uid_t owner;		     /* of its directory */
	struct container *container; /* NULL: none, or not looked up */
	bool looked_up;
};

/* What a walk has met; bounded by MAX_WALKED. */
struct walked {
	uint64_t *ids;
	uint32_t n, capacity;
};

struct cgroups {
	struct containers *containers; /* borrowed */
	struct cgroup **at;
	uint32_t n, capacity;
	struct index by_id;
	char *mount_point; /* of the cgroup2 hierarchy, or NULL */
	int mount;	   /* its descriptor; -1: none is in our mount namespace */
	dev_t device;	   /* ... and its file system */
	bool no_handles;   /* open_by_handle_at() is not permitted: directories are walked */
};

/* mountinfo has blanks and the like as \ooo. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from; to++) {
		unsigned int byte;

		if (from[0] == '\\' && sscanf(from + 1, "%3o", &byte) == 1) {
			*to = (char)byte;
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

char *cgroups_mount_point(void)
{
	own(own_free) char *text = mountinfo_read(AT_FDCWD, "/proc/self/mountinfo");
	const char *at = text;
	struct mountinfo_line line, found = { 0 };
	char *point;

	while (at && mountinfo_next(&at, &line)) {
		bool whole = line.root_size == 1;

		if (line.type_size != strlen(CGROUP2) ||
		    memcmp(line.type, CGROUP2, line.type_size) != 0 || (found.point && !whole))
			continue;
		found = line;
		if (whole)
			break;
	}
	point = found.point ? strndup(found.point, found.point_size) : NULL;
	if (point)
		unescape(point);
	return point;
}

int cgroups_new(struct containers *containers, struct cgroups **ret_cgroups)
{
	struct cgroups *cgroups = calloc(1, sizeof(*cgroups));

	if (!cgroups)
		return -ENOMEM;
	cgroups->mount = -1;
	cgroups->containers = containers;
	*ret_cgroups = cgroups;
	return 0;
}

static void clear(struct cgroups *cgroups)
{
	for (uint32_t i = 0; i < cgroups->n; i++) {
		free((char *)cgroups->at[i]->is.path);
		free(cgroups->at[i]);
	}
	free(cgroups->at);
	index_free(&cgroups->by_id);
	own_fd(&cgroups->mount);
	free(cgroups->mount_point);
}

void cgroups_free(struct cgroups *cgroups)
{
	if (!cgroups)
		return;
	clear(cgroups);
	free(cgroups);
}

static struct cgroup *find(const struct cgroups *cgroups, uint64_t id)
{
	struct index_cursor cursor;

	for (uint32_t at = index_first(&cgroups->by_id, hash_u64(id), &cursor); at != INDEX_NONE;
	     at = index_next(&cgroups->by_id, &cursor)) {
		if (cgroups->at[at]->is.id == id)
			return cgroups->at[at];
	}
	return NULL;
}

/* Takes over the path, which may be NULL, also on failure. */
static int enter(struct cgroups *cgroups, uint64_t id, char *path, uid_t owner)
{
	own(own_free) char *taken = path;
	own(own_free) struct cgroup *new = NULL;
	struct cgroup *known = find(cgroups, id);

	if (known) {
		if (!known->is.path) {
			known->is.path = take_ptr(taken);
			known->owner = owner;
		}
		return 0;
	}
	if (grow(&cgroups->at, &cgroups->capacity, cgroups->n + 1) < 0)
		return -ENOMEM;
	new = calloc(1, sizeof(*new));
	if (!new || index_add(&cgroups->by_id, hash_u64(id), cgroups->n) < 0)
		return -ENOMEM;
	*new = (struct cgroup){ .is = { .id = id, .path = take_ptr(taken) }, .owner = owner };
	cgroups->at[cgroups->n++] = take_ptr(new);
	return 0;
}

/* Opens the mount point, which another file system may have covered since. */
static void open_mount(struct cgroups *cgroups)
{
	own(own_fd) int fd = open(cgroups->mount_point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfs system;
	struct stat status;

	if (fd < 0 || fstatfs(fd, &system) < 0 || system.f_type != CGROUP2_SUPER_MAGIC ||
	    fstat(fd, &status) < 0)
		return;
	cgroups->device = status.st_dev;
	cgroups->mount = take_fd(&fd);
}

static bool is_mounted(struct cgroups *cgroups)
{
	if (!cgroups->mount_point) {
		cgroups->mount_point = cgroups_mount_point();
		if (cgroups->mount_point)
			open_mount(cgroups);
	}
	return cgroups->mount >= 0;
}

/* The path of a descriptor below the mount point, or NULL. */
static char *path_below(const struct cgroups *cgroups, int fd)
{
	size_t above = strlen(cgroups->mount_point);
	char name[40], path[PATH_MAX];
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	n = readlink(name, path, sizeof(path) - 1);
	if (n < (ssize_t)above || memcmp(path, cgroups->mount_point, above) != 0)
		return NULL;
	path[n] = '\0';
	if (path[above] == '\0')
		return strdup("/");
	return path[above] == '/' ? strdup(path + above) : NULL;
}

/* Opens the cgroup by its id, which takes CAP_DAC_READ_SEARCH. */
static int learn_by_handle(struct cgroups *cgroups, uint64_t id)
{
	struct {
		struct file_handle head;
		uint64_t id;
	} handle = { .head = { .handle_bytes = sizeof(id), .handle_type = FILEID_KERNFS } };
	own(own_fd) int fd = -1;
	struct stat status;

	memcpy(handle.head.f_handle, &id, sizeof(id));
	fd = open_by_handle_at(cgroups->mount, &handle.head, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && errno == ESTALE)
		return enter(cgroups, id, NULL, 0); /* gone */
	if (fd < 0 || fstat(fd, &status) < 0 || status.st_dev != cgroups->device) {
		cgroups->no_handles = true;
		return 0;
	}
	return enter(cgroups, id, path_below(cgroups, fd), status.st_uid);
}

/* Enters a directory and all below it. Takes over `fd`; `path` is a buffer with its path. */
static int walk(struct cgroups *cgroups, int fd, char path[PATH_MAX], unsigned int depth,
		struct walked *walked)
{
	own(own_directory) DIR *directory = fdopendir(fd);
	size_t length = strlen(path);
	const struct dirent *entry;
	struct stat status;
	int r;

	if (!directory) {
		own_fd(&fd);
		return 0;
	}
	if (fstat(fd, &status) < 0)
		return 0;
	r = enter(cgroups, status.st_ino, strdup(length ? path : "/"), status.st_uid);
	if (r == 0)
		r = grow(&walked->ids, &walked->capacity, walked->n + 1);
	if (r == 0)
		walked->ids[walked->n++] = status.st_ino;
	while (r == 0 && depth < MAX_DEPTH && (entry = readdir(directory))) {
		int next;

		if (entry->d_type != DT_DIR || entry->d_name[0] == '.' || walked->n >= MAX_WALKED ||
		    length + strlen(entry->d_name) + 2 > PATH_MAX)
			continue;
		next = openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0)
			continue;
		snprintf(path + length, PATH_MAX - length, "/%s", entry->d_name);
		r = walk(cgroups, next, path, depth + 1, walked);
		path[length] = '\0';
	}
	return r;
}

static int walk_all(struct cgroups *cgroups, struct walked *ret_walked)
{
	int top = is_mounted(cgroups)
			  ? openat(cgroups->mount, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
			  : -1;
	char path[PATH_MAX] = "";
	int r;

	*ret_walked = (struct walked){ 0 };
	r = top < 0 ? 0 : walk(cgroups, top, path, 0, ret_walked);
	if (r < 0)
		free(ret_walked->ids);
	return r;
}

static int learn_by_walking(struct cgroups *cgroups, uint64_t id)
{
	struct walked walked;
	int r = walk_all(cgroups, &walked);

	if (r < 0)
		return r;
	free(walked.ids);
	return enter(cgroups, id, NULL, 0);
}

static int learn(struct cgroups *cgroups, uint64_t id)
{
	int r;

	if (!is_mounted(cgroups))
		return enter(cgroups, id, NULL, 0);
	if (!cgroups->no_handles) {
		r = learn_by_handle(cgroups, id);
		if (r < 0 || !cgroups->no_handles)
			return r;
	}
	return learn_by_walking(cgroups, id);
}

/*
 * Who owns the cgroup from which the path has it that there is a container. Others than root have
 * no cgroup of theirs above one of root's.
 */
static uid_t owner_of(const struct cgroups *cgroups, const struct cgroup *cgroup, size_t size)
{
	own(own_free) char *above = NULL;
	struct stat status;

	if (cgroup->owner == 0 || cgroup->is.path[size] == '\0')
		return cgroup->owner;
	above = strndup(cgroup->is.path + 1, size - 1);
	if (!above || fstatat(cgroups->mount, above, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return cgroup->owner;
	return status.st_uid;
}

static int learn_container(struct cgroups *cgroups, struct cgroup *cgroup)
{
	struct cgroup_path path;

	cgroup->looked_up = true;
	cgroup_path_read(cgroup->is.path, &path);
	return path.size
		       ? containers_learn(cgroups->containers, &path,
					  owner_of(cgroups, cgroup, path.size), &cgroup->container)
		       : 0;
}

int cgroups_learn(struct cgroups *cgroups, uint64_t id)
{
	struct cgroup *cgroup = find(cgroups, id);
	int r = cgroup ? 0 : learn(cgroups, id);

	if (r < 0)
		return r;
	cgroup = cgroup ? cgroup : find(cgroups, id);
	if (!cgroup || !cgroup->is.path ||
	    (cgroup->looked_up && !(cgroup->container && containers_is_due(cgroup->container))))
		return 0;
	return learn_container(cgroups, cgroup);
}

int cgroups_walk(struct cgroups *cgroups, bool names, uint64_t **ret_ids, uint32_t *ret_n)
{
	struct walked walked;
	int r = walk_all(cgroups, &walked);

	if (r < 0)
		return r;
	for (uint32_t i = 0; i < walked.n && names && r == 0; i++)
		r = cgroups_learn(cgroups, walked.ids[i]);
	if (r < 0) {
		free(walked.ids);
		return r;
	}
	*ret_ids = walked.ids;
	*ret_n = walked.n;
	return 0;
}

const struct names_cgroup *cgroups_get(struct cgroups *cgroups, uint64_t id)
{
	struct cgroup *cgroup = find(cgroups, id);

	if (!cgroup || !cgroup->is.path)
		return NULL;
	if (cgroup->container)
		cgroup->is.labels = containers_labels(cgroups->containers, cgroup->container,
						      &cgroup->is.n_labels);
	return &cgroup->is;
}

/* A part of a name may be shorter than what tells cgroups apart. */
#define PART_LEAST  6u
#define NAMED_SHOWN 3u

static bool is_named(const char *path, const char *name)
{
	size_t size = strlen(path), end = strlen(name);
	const char *own_name = strrchr(path, '/');

	if (size > end && path[size - end - 1] == '/' && strcmp(path + size - end, name) == 0)
		return true;
	return end >= PART_LEAST && own_name && strstr(own_name, name);
}

uint32_t cgroups_named(const char *name, char *ret_text, size_t size)
{
	struct cgroups cgroups = { .mount = -1 };
	struct walked walked = { 0 };
	uint32_t n = 0;
	size_t used = 0;

	ret_text[0] = '\0';
	name += strspn(name, "/");
	if (*name && walk_all(&cgroups, &walked) == 0)
		free(walked.ids);
	for (uint32_t i = 0; i < cgroups.n; i++) {
		const char *path = cgroups.at[i]->is.path;

		if (!path || !is_named(path, name))
			continue;
		if (n++ < NAMED_SHOWN && used < size)
			used += (size_t)snprintf(ret_text + used, size - used, "%s%s",
						 used ? ", " : "", path);
	}
	clear(&cgroups);
	return n;
}
