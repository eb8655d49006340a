// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/own.h"

#define REMEMBERED 256u
#define TEXT_MAX   (8u << 20)
#define FRESH_MS   2000u  /* our own mounts are read again */
#define HOLDS_MS   10000u /* ids of mounts are used again when they are gone */
/*
 * Layers of overlays, over overlays in turn, that are looked at for one mount and for all of a
 * text; with more it is taken for one that can stop.
 */
#define MAX_LAYERS 1000u
#define ALL_LAYERS 10000u

/* One line of mountinfo. The pieces are not terminated. */
struct line {
	uint64_t id;
	const char *point, *type, *options;
	size_t point_size, type_size, options_size;
};

struct remembered {
	uint64_t id, until_ms;
	enum mount_kind kind;
};

struct table {
	struct line *lines;
	uint32_t n;
};

struct mounts {
	struct remembered at[REMEMBERED]; /* by id */
	char *own;			  /* our mountinfo, or NULL */
	struct table table;		  /* of it */
	uint64_t own_until_ms;
	char *own_remote;      /* points among them */
	uint64_t root, memory; /* the mounts of our root and of files without a path */
};

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
	"nfs", "nfs4", "cifs", "smb3", "ceph", "fuse", "fuseblk"
};

static bool is(const char *at, size_t size, const char *word)
{
	return size == strlen(word) && memcmp(at, word, size) == 0;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* The next word of a line: false at its end. */
static bool word(const char **at, const char **ret_word, size_t *ret_size)
{
	while (**at == ' ')
		(*at)++;
	*ret_word = *at;
	while (**at && **at != ' ' && **at != '\n')
		(*at)++;
	*ret_size = (size_t)(*at - *ret_word);
	return *ret_size > 0;
}

/* The next line, as "ID PARENT MAJOR:MINOR ROOT POINT OPTIONS FIELDS... - TYPE SOURCE OPTIONS". */
static bool next_line(const char **at, struct line *ret_line)
{
	while (**at) {
		const char *next = strchr(*at, '\n'), *w = NULL;
		struct line line = { .options = "" };
		size_t size = 0;
		int field = 0;

		while (word(at, &w, &size) && !(field >= 6 && is(w, size, "-"))) {
			if (field == 0)
				line.id = strtoull(w, NULL, 10);
			if (field == 4) {
				line.point = w;
				line.point_size = size;
			}
			field++;
		}
		if (size && word(at, &line.type, &line.type_size) && word(at, &w, &size))
			word(at, &line.options, &line.options_size);
		*at = next ? next + 1 : *at + strlen(*at);
		if (line.type_size) {
			*ret_line = line;
			return true;
		}
	}
	return false;
}

/* All lines of a text, which has to stay. Empty without memory: then overlays are not local. */
static struct table table_of(const char *text)
{
	struct table table = { 0 };
	uint32_t room = 0;
	struct line line;

	while (next_line(&text, &line)) {
		if (table.n == room) {
			struct line *grown;

			room = room ? room * 2 : 64;
			grown = reallocarray(table.lines, room, sizeof(*grown));
			if (!grown)
				break;
			table.lines = grown;
		}
		table.lines[table.n++] = line;
	}
	return table;
}

/* The mount that a path leads to by its name alone, the last of those that are as near. */
static const struct line *line_of_path(const struct table *own, const char *path, size_t size)
{
	const struct line *found = NULL;
	size_t best = 0;

	for (uint32_t i = 0; i < own->n; i++) {
		const struct line *line = &own->lines[i];
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

static enum mount_kind kind_of_line(const struct line *line, const struct table *own,
				    uint64_t trusted, uint32_t *budget);

static enum mount_kind kind_of_layers(const char *layers, size_t size, const struct table *own,
				      uint64_t trusted, uint32_t *budget)
{
	const char *end = layers + size;

	while (layers < end) {
		const char *colon = memchr(layers, ':', (size_t)(end - layers));
		size_t n = (size_t)((colon ? colon : end) - layers);
		const struct line *line = NULL;

		if (*budget == 0)
			return MOUNT_REMOTE;
		(*budget)--;
		if (n && layers[0] == '/' && !memchr(layers, '\\', n))
			line = line_of_path(own, layers, n);
		if (n && (!line || kind_of_line(line, own, trusted, budget) != MOUNT_LOCAL))
			return MOUNT_REMOTE;
		layers += n + 1;
	}
	return MOUNT_LOCAL;
}

/* An overlay answers if what it is laid over does. */
static enum mount_kind kind_of_overlay(const struct line *line, const struct table *own,
				       uint64_t trusted, uint32_t *budget)
{
	const char *at = line->options, *end = at + line->options_size;
	bool lower = false;

	while (at < end) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		size_t n = (size_t)((comma ? comma : end) - at);
		const char *value = memchr(at, '=', n);

		if (value && (strncmp(at, "lowerdir", 8) == 0 || strncmp(at, "upperdir", 8) == 0 ||
			      strncmp(at, "datadir", 7) == 0)) {
			lower = lower || at[0] == 'l';
			value++;
			if (kind_of_layers(value, n - (size_t)(value - at), own, trusted, budget) !=
			    MOUNT_LOCAL)
				return MOUNT_REMOTE;
		}
		at += n + 1;
	}
	return lower ? MOUNT_LOCAL : MOUNT_REMOTE;
}

static enum mount_kind kind_of_line(const struct line *line, const struct table *own,
				    uint64_t trusted, uint32_t *budget)
{
	/* Without our own root nothing of ours would go on. */
	if (line->id == trusted)
		return MOUNT_LOCAL;
	for (size_t i = 0; i < sizeof(LOCAL_TYPES) / sizeof(*LOCAL_TYPES); i++) {
		if (is(line->type, line->type_size, LOCAL_TYPES[i]))
			return MOUNT_LOCAL;
	}
	if (is(line->type, line->type_size, "overlay"))
		return kind_of_overlay(line, own, trusted, budget);
	if (line->type_size > 5 && memcmp(line->type, "fuse.", 5) == 0)
		return MOUNT_REMOTE;
	for (size_t i = 0; i < sizeof(REMOTE_TYPES) / sizeof(*REMOTE_TYPES); i++) {
		if (is(line->type, line->type_size, REMOTE_TYPES[i]))
			return MOUNT_REMOTE;
	}
	return MOUNT_UNKNOWN;
}

static enum mount_kind kind_in(const char *text, const struct table *own, uint64_t id,
			       uint64_t trusted)
{
	uint32_t budget = MAX_LAYERS;
	struct line line;

	while (next_line(&text, &line)) {
		if (line.id == id)
			return kind_of_line(&line, own, trusted, &budget);
	}
	return MOUNT_UNKNOWN;
}

enum mount_kind mounts_kind_in(const char *text, const char *own, uint64_t id, uint64_t trusted)
{
	struct table table = table_of(own);
	enum mount_kind kind = kind_in(text, &table, id, trusted);

	free(table.lines);
	return kind;
}

/* All of a mountinfo, terminated; NULL when it cannot be read or is too large to be. */
static char *read_text(int directory, const char *name)
{
	own(own_fd) int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	own(own_free) char *text = NULL;
	size_t n = 0, room = 0;

	while (fd >= 0) {
		ssize_t r;

		if (n + 1 >= room) {
			char *grown;

			room = room ? room * 2 : 16384;
			grown = room <= TEXT_MAX ? realloc(text, room) : NULL;
			if (!grown)
				return NULL;
			text = grown;
		}
		r = read(fd, text + n, room - 1 - n);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return NULL;
		if (r == 0) {
			char *all = text;

			all[n] = '\0';
			text = NULL;
			return all;
		}
		n += (size_t)r;
	}
	return NULL;
}

uint64_t mounts_id(int path_fd)
{
	char name[48], text[512];
	own(own_fd) int fd = -1;
	const char *at;
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/self/fdinfo/%d", path_fd);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return MOUNT_ID_NONE;
	text[n] = '\0';
	at = strstr(text, "mnt_id:");
	return at ? strtoull(at + 7, NULL, 10) : MOUNT_ID_NONE;
}

int mounts_new(struct mounts **ret_mounts)
{
	struct mounts *mounts = calloc(1, sizeof(*mounts));
	own(own_fd) int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	own(own_fd) int memory = memfd_create("mount", MFD_CLOEXEC);

	if (!mounts)
		return -ENOMEM;
	mounts->root = mounts_id(root);
	mounts->memory = mounts_id(memory);
	*ret_mounts = mounts;
	return 0;
}

void mounts_free(struct mounts *mounts)
{
	if (!mounts)
		return;
	free(mounts->own);
	free(mounts->own_remote);
	free(mounts->table.lines);
	free(mounts);
}

static char *remote_points(const struct mounts *mounts, const char *text)
{
	own(own_free) char *points = malloc(strlen(text) + 1);
	uint32_t left = ALL_LAYERS;
	struct line line;
	size_t n = 0;
	char *all;

	if (!points)
		return NULL;
	while (next_line(&text, &line)) {
		uint32_t budget = MAX_LAYERS < left ? MAX_LAYERS : left, had = budget;

		enum mount_kind kind = kind_of_line(&line, &mounts->table, mounts->root, &budget);
		left -= had - budget;
		if (kind == MOUNT_LOCAL)
			continue;
		memcpy(points + n, line.point, line.point_size);
		n += line.point_size;
		points[n++] = '\n';
	}
	points[n] = '\0';
	all = points;
	points = NULL;
	return all;
}

bool mounts_path_is_local(const char *points, const char *path)
{
	if (!points)
		return false;
	while (*path == '/')
		path++;
	while (*points) {
		size_t n = strcspn(points, "\n"), plain = n;
		const char *escaped = memchr(points, '\\', n);

		if (escaped) /* more than it is, rather than to read it */
			plain = (size_t)(escaped - points);
		if (plain && strncmp(path, points + 1, plain - 1) == 0 &&
		    (escaped || plain == 1 || !path[plain - 1] || path[plain - 1] == '/'))
			return false;
		points += n + (points[n] == '\n');
	}
	return true;
}

static void refresh(struct mounts *mounts)
{
	uint64_t now = now_ms();
	char *text;

	if (now < mounts->own_until_ms)
		return;
	mounts->own_until_ms = now + FRESH_MS;
	text = read_text(AT_FDCWD, "/proc/self/mountinfo");
	if (text && mounts->own && strcmp(text, mounts->own) == 0) {
		free(text);
		return;
	}
	free(mounts->own);
	free(mounts->own_remote);
	free(mounts->table.lines);
	mounts->own = text;
	mounts->table = text ? table_of(text) : (struct table){ 0 };
	mounts->own_remote = text ? remote_points(mounts, text) : NULL;
}

char *mounts_remote_points(struct mounts *mounts, int process_dir)
{
	own(own_free) char *text = read_text(process_dir, "mountinfo");

	refresh(mounts);
	return text && mounts->own ? remote_points(mounts, text) : NULL;
}

const char *mounts_own_remote_points(struct mounts *mounts)
{
	refresh(mounts);
	return mounts->own_remote;
}

enum mount_kind mounts_kind(struct mounts *mounts, int path_fd, int process_dir)
{
	uint64_t id = mounts_id(path_fd), now = now_ms();
	struct remembered *known = &mounts->at[id % REMEMBERED];
	own(own_free) char *theirs = NULL;

	if (id == MOUNT_ID_NONE)
		return MOUNT_UNKNOWN;
	if (id == mounts->root || id == mounts->memory)
		return MOUNT_LOCAL;
	if (known->id == id && now < known->until_ms)
		return known->kind;
	*known = (struct remembered){ .id = id, .until_ms = now + HOLDS_MS, .kind = MOUNT_UNKNOWN };
	refresh(mounts);
	if (mounts->own)
		known->kind = kind_in(mounts->own, &mounts->table, id, mounts->root);
	if (known->kind == MOUNT_UNKNOWN && mounts->own && process_dir >= 0)
		theirs = read_text(process_dir, "mountinfo");
	if (theirs)
		known->kind = kind_in(theirs, &mounts->table, id, mounts->root);
	return known->kind;
}
