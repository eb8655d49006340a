// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/kept.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/own.h"

#define SUFFIX ".stacktally"

/* A stream of a directory's entries, which leaves the descriptor alone. */
static DIR *entries_of(int directory)
{
	int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);

	if (!entries && fd >= 0)
		close(fd);
	return entries;
}

/* ---- the recordings of one directory ---- */

static bool is_recording(const char *name, uint64_t *ret_ended_ns)
{
	char *end = NULL;

	if (*name < '0' || *name > '9')
		return false;
	*ret_ended_ns = strtoull(name, &end, 10);
	return strcmp(end, SUFFIX) == 0;
}

static int by_end(const void *a, const void *b)
{
	const struct kept_file *one = a, *other = b;

	return one->ended_ns < other->ended_ns ? -1 : one->ended_ns > other->ended_ns;
}

int kept_files_read(int directory, struct kept_files *ret_files)
{
	own(own_directory) DIR *entries = entries_of(directory);
	struct kept_files *files = ret_files;
	const struct dirent *entry;

	*files = (struct kept_files){ 0 };
	if (!entries)
		return -errno;
	while ((entry = readdir(entries)) && files->n < KEPT_FILES) {
		struct kept_file file;
		struct stat status;

		if (!is_recording(entry->d_name, &file.ended_ns) ||
		    fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(status.st_mode))
			continue;
		file.bytes = (uint64_t)status.st_size;
		if (grow(&files->list, &files->capacity, (size_t)files->n + 1) < 0)
			return -ENOMEM;
		files->list[files->n++] = file;
	}
	if (files->n > 0)
		qsort(files->list, files->n, sizeof(*files->list), by_end);
	return 0;
}

void kept_files_clear(struct kept_files *files)
{
	free(files->list);
	*files = (struct kept_files){ 0 };
}

const char *kept_file_name(uint64_t ended_ns, char name[static KEPT_NAME_SIZE])
{
	snprintf(name, KEPT_NAME_SIZE, "%020" PRIu64 SUFFIX, ended_ns);
	return name;
}

void kept_prune(int directory, uint64_t since_ns)
{
	own(kept_files_clear) struct kept_files files = { 0 };
	char name[KEPT_NAME_SIZE];
	uint64_t bytes = 0;

	if (kept_files_read(directory, &files) < 0)
		return;
	for (uint32_t i = files.n; i-- > 0;) {
		bytes += files.list[i].bytes;
		if (files.list[i].ended_ns < since_ns || bytes > KEPT_BYTES)
			unlinkat(directory, kept_file_name(files.list[i].ended_ns, name), 0);
	}
}

void kept_remove(int directory, const char *path)
{
	kept_prune(directory, UINT64_MAX);
	rmdir(path);
}

/* ---- the root ---- */

static const char *root_path(void)
{
	const char *path = getenv("RUNTIME_DIRECTORY");

	return path && *path == '/' ? path : KEPT_ROOT;
}

/* Nobody else may have put it there, or may write to it. */
static int open_root(const char *path, int *ret_root, struct error *err)
{
	own(own_fd) int root = -1;
	struct stat status;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return error_set(err, -errno, "cannot keep the last minutes in %s: %s", path,
				 strerror(errno));
	root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root < 0 || fstat(root, &status) < 0)
		return error_set(err, -errno, "cannot keep the last minutes in %s: %s", path,
				 strerror(errno));
	if ((status.st_uid != geteuid() && status.st_uid != 0) || status.st_mode & 022)
		return error_set(err, -EPERM,
				 "cannot keep the last minutes in %s: it is another user's, or "
				 "others may write to it",
				 path);
	*ret_root = take_fd(&root);
	return 0;
}

/* Whether the process that a directory is named after is gone. */
static bool is_left(const char *name)
{
	const char *dot = strrchr(name, '.');
	long pid = dot ? strtol(dot + 1, NULL, 10) : 0;

	return pid > 0 && pid <= INT32_MAX && kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

void kept_prune_left(uint64_t since_ns)
{
	own(own_directory) DIR *entries = opendir(root_path());
	int root = entries ? dirfd(entries) : -1;
	const struct dirent *entry;

	while (entries && (entry = readdir(entries))) {
		own(own_fd) int directory = -1;

		if (entry->d_name[0] == '.' || !is_left(entry->d_name))
			continue;
		directory = openat(root, entry->d_name,
				   O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (directory < 0)
			continue;
		kept_prune(directory, since_ns);
		unlinkat(root, entry->d_name, AT_REMOVEDIR); /* if it is empty */
	}
}

int kept_open(const char *command, int *ret_directory, char **ret_path, struct error *err)
{
	const char *path = root_path();
	own(own_free) char *own_path = NULL;
	own(own_fd) int root = -1;
	const char *name;
	int r = open_root(path, &root, err);

	if (r < 0)
		return r;
	if (asprintf(&own_path, "%s/%s.%d", path, command, getpid()) < 0) {
		own_path = NULL;
		return error_set(err, -ENOMEM, "out of memory");
	}
	name = strrchr(own_path, '/') + 1;
	if (mkdirat(root, name, 0700) < 0 && errno != EEXIST)
		return error_set(err, -errno, "cannot make %s: %s", own_path, strerror(errno));
	*ret_directory = openat(root, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*ret_directory < 0)
		return error_set(err, -errno, "cannot open %s: %s", own_path, strerror(errno));
	*ret_path = take_ptr(own_path);
	return 0;
}
