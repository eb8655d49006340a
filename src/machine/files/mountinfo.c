// SPDX-License-Identifier: GPL-2.0-or-later
#include "files/mountinfo.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/own.h"

#define TEXT_MAX (8u << 20)
/*
 * How many layers of overlays (whose layers may be overlays in turn) are followed for one mount
 * and for all mounts of a text; a mount with more is taken to be remote.
 */
#define MAX_LAYERS 1000u
#define ALL_LAYERS 10000u

static const char *const LOCAL_TYPES[] = {
	"ext2",	       "ext3",	 "ext4",      "xfs",	  "btrfs",    "f2fs",	    "zfs",
	"bcachefs",    "tmpfs",	 "ramfs",     "devtmpfs", "rootfs",   "squashfs",   "erofs",
	"iso9660",     "udf",	 "vfat",      "exfat",	  "ntfs3",    "hugetlbfs",  "jfs",
	"reiserfs",    "nilfs2", "cramfs",    "romfs",	  "ubifs",    "jffs2",	    "minix",
	"proc",	       "sysfs",	 "debugfs",   "tracefs",  "cgroup",   "cgroup2",    "bpf",
	"devpts",      "mqueue", "pstore",    "efivarfs", "configfs", "securityfs", "fusectl",
	"binfmt_misc", "nsfs",	 "selinuxfs", "hfsplus",  "ntfs",
};
static const char *const REMOTE_TYPES[] = {
	"nfs", "nfs4", "cifs", "smb3", "ceph", "fuse", "fuseblk",
};

char *mountinfo_read(int directory, const char *name)
{
	own(own_fd) int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	own(own_free) char *text = NULL;
	size_t n = 0, capacity = 0;

	if (fd < 0)
		return NULL;
	for (;;) {
		ssize_t r;

		if (n + 2 > capacity &&
		    (n + 2 > TEXT_MAX || grow(&text, &capacity, n ? n + 2 : 16384) < 0))
			return NULL;
		r = read(fd, text + n, capacity - 1 - n);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return NULL;
		if (r == 0)
			break;
		n += (size_t)r;
	}
	text[n] = '\0';
	return take_ptr(text);
}

static bool equals(const char *at, size_t size, const char *word)
{
	return size == strlen(word) && memcmp(at, word, size) == 0;
}

/* The next word of a line; false at the line's end. */
static bool next_word(const char **at, const char **ret_word, size_t *ret_size)
{
	while (**at == ' ')
		(*at)++;
	*ret_word = *at;
	while (**at && **at != ' ' && **at != '\n')
		(*at)++;
	*ret_size = (size_t)(*at - *ret_word);
	return *ret_size > 0;
}

/* "ID PARENT MAJOR:MINOR ROOT POINT OPTIONS FIELDS... - TYPE SOURCE OPTIONS" */
bool mountinfo_next(const char **at, struct mountinfo_line *ret_line)
{
	while (**at) {
		const char *next = strchr(*at, '\n'), *word = NULL;
		struct mountinfo_line line = { .options = "" };
		size_t size = 0;
		int field = 0;

		while (next_word(at, &word, &size) && !(field >= 6 && equals(word, size, "-"))) {
			if (field == 0)
				line.id = strtoull(word, NULL, 10);
			if (field == 2) {
				line.device = word;
				line.device_size = size;
			}
			if (field == 3) {
				line.root = word;
				line.root_size = size;
			}
			if (field == 4) {
				line.point = word;
				line.point_size = size;
			}
			field++;
		}
		if (size && next_word(at, &line.type, &line.type_size) &&
		    next_word(at, &word, &size))
			next_word(at, &line.options, &line.options_size);
		*at = next ? next + 1 : *at + strlen(*at);
		if (line.type_size) {
			*ret_line = line;
			return true;
		}
	}
	return false;
}

struct mountinfo_own mountinfo_own_parse(const char *text, uint64_t root)
{
	struct mountinfo_own own = { .root = root };
	struct mountinfo_line line;
	uint32_t capacity = 0;

	while (mountinfo_next(&text, &line)) {
		if (grow(&own.lines, &capacity, own.n + 1) < 0) {
			own.n = 0;
			break;
		}
		own.lines[own.n++] = line;
	}
	return own;
}

void mountinfo_own_clear(struct mountinfo_own *own)
{
	free(own->lines);
	*own = (struct mountinfo_own){ .root = own->root };
}

/* The mount with the longest mount point above the path, the last of equal ones: it hides others.
 */
static const struct mountinfo_line *mount_of_path(const struct mountinfo_own *own, const char *path,
						  size_t size)
{
	const struct mountinfo_line *found = NULL;
	size_t best = 0;

	for (uint32_t i = 0; i < own->n; i++) {
		const struct mountinfo_line *line = &own->lines[i];
		size_t n = line->point_size;

		if (n == 1)
			n = 0; /* "/" */
		if (n <= size && n >= best && memcmp(path, line->point, n) == 0 &&
		    (n == size || path[n] == '/')) {
			found = line;
			best = n;
		}
	}
	return found;
}

static enum mount_kind kind_of_line(const struct mountinfo_line *line,
				    const struct mountinfo_own *own, uint32_t *layers_left);

/* `layers` are paths, separated by colons. */
static enum mount_kind kind_of_layers(const char *layers, size_t size,
				      const struct mountinfo_own *own, uint32_t *layers_left)
{
	const char *end = layers + size;

	while (layers < end) {
		const char *colon = memchr(layers, ':', (size_t)(end - layers));
		size_t n = (size_t)((colon ? colon : end) - layers);
		const struct mountinfo_line *line = NULL;

		if (*layers_left == 0)
			return MOUNT_REMOTE;
		(*layers_left)--;
		if (n && layers[0] == '/' && !memchr(layers, '\\', n))
			line = mount_of_path(own, layers, n);
		if (n && (!line || kind_of_line(line, own, layers_left) != MOUNT_LOCAL))
			return MOUNT_REMOTE;
		layers += n + 1;
	}
	return MOUNT_LOCAL;
}

/* Whether the file system of a line is mounted in our own namespace, too. */
static bool is_mounted_here(const struct mountinfo_line *line, const struct mountinfo_own *own)
{
	for (uint32_t i = 0; i < own->n; i++) {
		const struct mountinfo_line *ours = &own->lines[i];

		if (line->device_size && ours->device_size == line->device_size &&
		    memcmp(ours->device, line->device, line->device_size) == 0)
			return true;
	}
	return false;
}

/*
 * An overlay is local if all its layers are. Their paths are those of the namespace where it was
 * mounted. Users can have one where they lead to a file system that they serve.
 */
static enum mount_kind kind_of_overlay(const struct mountinfo_line *line,
				       const struct mountinfo_own *own, uint32_t *layers_left)
{
	const char *at = line->options, *end = at + line->options_size;
	bool lower = false;

	if (!is_mounted_here(line, own))
		return MOUNT_REMOTE;
	while (at < end) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		size_t n = (size_t)((comma ? comma : end) - at);
		const char *value = memchr(at, '=', n);

		if (value && (strncmp(at, "lowerdir", 8) == 0 || strncmp(at, "upperdir", 8) == 0 ||
			      strncmp(at, "datadir", 7) == 0)) {
			lower = lower || at[0] == 'l';
			value++;
			if (kind_of_layers(value, n - (size_t)(value - at), own, layers_left) !=
			    MOUNT_LOCAL)
				return MOUNT_REMOTE;
		}
		at += n + 1;
	}
	return lower ? MOUNT_LOCAL : MOUNT_REMOTE;
}

static enum mount_kind kind_of_line(const struct mountinfo_line *line,
				    const struct mountinfo_own *own, uint32_t *layers_left)
{
	/* If our own root stops responding, so do we, whatever is done here. */
	if (line->id == own->root)
		return MOUNT_LOCAL;
	for (size_t i = 0; i < sizeof(LOCAL_TYPES) / sizeof(*LOCAL_TYPES); i++) {
		if (equals(line->type, line->type_size, LOCAL_TYPES[i]))
			return MOUNT_LOCAL;
	}
	if (equals(line->type, line->type_size, "overlay"))
		return kind_of_overlay(line, own, layers_left);
	if (line->type_size > 5 && memcmp(line->type, "fuse.", 5) == 0)
		return MOUNT_REMOTE;
	for (size_t i = 0; i < sizeof(REMOTE_TYPES) / sizeof(*REMOTE_TYPES); i++) {
		if (equals(line->type, line->type_size, REMOTE_TYPES[i]))
			return MOUNT_REMOTE;
	}
	return MOUNT_UNKNOWN;
}

enum mount_kind mountinfo_kind(const char *text, uint64_t id, const struct mountinfo_own *own)
{
	uint32_t layers_left = MAX_LAYERS;
	struct mountinfo_line line;

	while (mountinfo_next(&text, &line)) {
		if (line.id == id)
			return kind_of_line(&line, own, &layers_left);
	}
	return MOUNT_UNKNOWN;
}

char *mountinfo_remote_points(const char *text, const struct mountinfo_own *own)
{
	char *points = malloc(strlen(text) + 1);
	uint32_t left = ALL_LAYERS;
	struct mountinfo_line line;
	size_t n = 0;

	if (!points)
		return NULL;
	while (mountinfo_next(&text, &line)) {
		uint32_t before = MAX_LAYERS < left ? MAX_LAYERS : left, after = before;
		enum mount_kind kind = kind_of_line(&line, own, &after);

		left -= before - after;
		if (kind == MOUNT_LOCAL)
			continue;
		memcpy(points + n, line.point, line.point_size);
		n += line.point_size;
		points[n++] = '\n';
	}
	points[n] = '\0';
	return points;
}

bool mountinfo_path_is_local(const char *points, const char *path)
{
	if (!points)
		return false;
	while (*path == '/')
		path++;
	while (*points) {
		size_t n = strcspn(points, "\n"), plain = n;
		const char *escaped = memchr(points, '\\', n);

		if (escaped) /* all paths with this beginning count as below the mount point */
			plain = (size_t)(escaped - points);
		if (plain && strncmp(path, points + 1, plain - 1) == 0 &&
		    (escaped || plain == 1 || !path[plain - 1] || path[plain - 1] == '/'))
			return false;
		points += n + (points[n] == '\n');
	}
	return true;
}
