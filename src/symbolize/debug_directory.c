// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbolize/debug_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "elf/build_id.h"

#define MAX_FILES 100000u /* that are looked at */
#define MAX_DEPTH 16

struct debug_file {
	char *path;
	uint32_t id_size;
	uint8_t id[BUILD_ID_MAX];
};

struct debug_directory {
	const char *path;
	struct confined *readers;
	struct debug_file *files;
	uint32_t n, capacity;
	bool listed; /* all files below have been looked at */
};

/* Runs in a child. */
static int read_id(const struct confined_job *job)
{
	own(own_elf_file_close) struct elf_file *elf = NULL;
	struct debug_file found = { 0 };

	if (elf_file_open(job->fds[0], &elf) == 0)
		found.id_size = build_id_of(elf, found.id, sizeof(found.id));
	confined_send(job, &found, sizeof(found));
	return 0;
}

/* The build-id of a file; its size is 0 if there is none. */
static void ask_id(struct confined *readers, int fd, struct debug_file *ret_file)
{
	const struct confined_call call = {
		.work = read_id, .owner = confined_owner(fd), .fds = &fd, .n_fds = 1
	};
	struct confined_child *child;

	*ret_file = (struct debug_file){ 0 };
	if (confined_begin(readers, &call, &child) < 0)
		return;
	if (confined_read(child, ret_file, sizeof(*ret_file)) < 0 ||
	    ret_file->id_size > BUILD_ID_MAX)
		ret_file->id_size = 0;
	if (confined_finish(child) < 0)
		ret_file->id_size = 0;
	ret_file->path = NULL;
}

static int open_regular(const char *path)
{
	own(own_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat status;

	if (fd < 0)
		return -errno;
	return fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) ? -ENOENT : take_fd(&fd);
}

int debug_directory_open(const char *path, struct confined *readers,
			 struct debug_directory **ret_directory)
{
	own(own_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
	struct debug_directory *directory;

	if (fd < 0)
		return -errno;
	directory = calloc(1, sizeof(*directory));
	if (!directory)
		return -ENOMEM;
	directory->path = path;
	directory->readers = readers;
	*ret_directory = directory;
	return 0;
}

void debug_directory_close(struct debug_directory *directory)
{
	if (!directory)
		return;
	for (uint32_t i = 0; i < directory->n; i++)
		free(directory->files[i].path);
	free(directory->files);
	free(directory);
}

static void add_file(struct debug_directory *directory, const char *path)
{
	own(own_fd) int fd = open_regular(path);
	struct debug_file file;

	if (fd < 0)
		return;
	ask_id(directory->readers, fd, &file);
	if (!file.id_size || grow(&directory->files, &directory->capacity, directory->n + 1) < 0)
		return;
	file.path = strdup(path);
	if (file.path)
		directory->files[directory->n++] = file;
}

static void list(struct debug_directory *directory)
{
	char *const roots[] = { (char *)directory->path, NULL };
	uint32_t n_seen = 0;
	FTS *walk = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, NULL);
	FTSENT *entry;

	directory->listed = true;
	while (walk && n_seen < MAX_FILES && (entry = fts_read(walk))) {
		if (entry->fts_info == FTS_D && entry->fts_level > MAX_DEPTH)
			fts_set(walk, entry, FTS_SKIP);
		if (entry->fts_info != FTS_F)
			continue;
		n_seen++;
		add_file(directory, entry->fts_path);
	}
	if (walk)
		fts_close(walk);
}

/* Where a tree of build-ids has a file. */
static int open_in_tree(const struct debug_directory *directory, const char *tree,
			const uint8_t *build_id, uint32_t size)
{
	char path[PATH_MAX];
	int used = snprintf(path, sizeof(path), "%s%s/%02x/", directory->path, tree, build_id[0]);

	for (uint32_t i = 1; i < size && used < PATH_MAX; i++)
		used += snprintf(path + used, sizeof(path) - (size_t)used, "%02x", build_id[i]);
	if (used < PATH_MAX)
		used += snprintf(path + used, sizeof(path) - (size_t)used, ".debug");
	return used < PATH_MAX ? open_regular(path) : -ENAMETOOLONG;
}

int debug_directory_next(struct debug_directory *directory, const uint8_t *build_id, uint32_t size,
			 uint32_t *next)
{
	static const char *const trees[] = { "/.build-id", "" };
	const uint32_t n_trees = 2;

	while (size > 1 && *next < n_trees) {
		int fd = open_in_tree(directory, trees[(*next)++], build_id, size);

		if (fd >= 0)
			return fd;
	}
	if (!directory->listed)
		list(directory);
	while (*next < n_trees + directory->n) {
		const struct debug_file *file = &directory->files[(*next)++ - n_trees];
		int fd = -1;

		if (file->id_size == size && memcmp(file->id, build_id, size) == 0)
			fd = open_regular(file->path);
		if (fd >= 0)
			return fd;
	}
	return -ENOENT;
}
