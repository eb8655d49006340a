// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/table_cache_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/grow.h"
#include "base/index.h"

#define DAY_S	  86400
#define NAME_SIZE 80
#define MAX_FILES 65536u /* that are read of a directory */

struct table_cache {
	int directory;
	uint64_t limit;
	pthread_mutex_t lock; /* guards all below */
	uint64_t total;	      /* bytes of all files, as of the last look plus what was saved */
	bool measured;
	uint32_t serial; /* of temporary files */
};

int table_identity_read(int fd, const uint8_t *build_id, uint32_t build_id_size,
			struct table_identity *ret_identity)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return -errno;
	if (build_id_size > TABLE_BUILD_ID_MAX)
		build_id_size = 0;
	*ret_identity = (struct table_identity){
		.device = status.st_dev,
		.inode = status.st_ino,
		.size = (uint64_t)status.st_size,
		.changed_ns = status.st_ctim.tv_sec * 1000000000ll + status.st_ctim.tv_nsec,
		.build_id_size = build_id_size,
	};
	memcpy(ret_identity->build_id, build_id, build_id_size);
	return 0;
}

void table_cache_place(char *ret_path, size_t size)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int n;

	if (cache && cache[0] == '/')
		n = snprintf(ret_path, size, "%s/stacktally", cache);
	else if (geteuid() == 0)
		n = snprintf(ret_path, size, "/var/cache/stacktally");
	else if (home && home[0] == '/')
		n = snprintf(ret_path, size, "%s/.cache/stacktally", home);
	else
		n = 0;
	if (n <= 0 || (size_t)n >= size)
		ret_path[0] = '\0';
}

/* Only root or this user can have written it. */
static bool is_trusted(const struct stat *status)
{
	return (status->st_uid == 0 || status->st_uid == geteuid()) &&
	       (status->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

int table_cache_open(const char *directory, uint64_t limit, struct table_cache **ret_cache)
{
	own(own_fd) int fd = -1;
	struct table_cache *cache;
	struct stat status;

	if (mkdir(directory, 0700) < 0 && errno != EEXIST)
		return -errno;
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &status) < 0)
		return -errno;
	if (!is_trusted(&status))
		return -EPERM;
	cache = calloc(1, sizeof(*cache));
	if (!cache)
		return -ENOMEM;
	cache->directory = take_fd(&fd);
	cache->limit = limit ? limit : TABLE_CACHE_LIMIT;
	pthread_mutex_init(&cache->lock, NULL);
	*ret_cache = cache;
	return 0;
}

void table_cache_close(struct table_cache *cache)
{
	if (!cache)
		return;
	own_fd(&cache->directory);
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

/* BUILD-ID.HASH, the hash being of the identity: copies of a file have files of their own. */
static void name_of(const struct table_identity *identity, char name[NAME_SIZE])
{
	char *at = name;

	for (uint32_t i = 0; i < identity->build_id_size; i++)
		at += sprintf(at, "%02x", identity->build_id[i]);
	if (at == name)
		at += sprintf(at, "none");
	sprintf(at, ".%016llx", (unsigned long long)hash_bytes(identity, sizeof(*identity)));
}

int table_cache_load(struct table_cache *cache, const struct table_identity *identity,
		     struct rule_table *rules, struct unwind_rows *ret_rows)
{
	own(own_fd) int fd = -1;
	char name[NAME_SIZE];
	struct stat status;
	int r;

	name_of(identity, name);
	fd = openat(cache->directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return errno == ELOOP ? -EBADMSG : -errno;
	if (fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode) || !is_trusted(&status) || status.st_size <= 0 ||
	    status.st_size > TABLE_CACHE_MAX_FILE)
		return -EBADMSG;
	r = table_cache_file_read(fd, (size_t)status.st_size, identity, rules, ret_rows);
	if (r == -EBADMSG)
		unlinkat(cache->directory, name, 0);
	/* The time of use, for trim(). */
	if (r == 0 && time(NULL) - status.st_mtime > DAY_S)
		futimens(fd, NULL);
	return r;
}

/* ---- the limit ---- */

struct aged {
	struct timespec used;
	uint64_t size;
	char name[NAME_SIZE];
};

static int by_age(const void *a, const void *b)
{
	const struct timespec *x = &((const struct aged *)a)->used;
	const struct timespec *y = &((const struct aged *)b)->used;

	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? -1 : 1;
	return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

/* Lists the files of the cache. 0 or -ENOMEM. */
static int list(const struct table_cache *cache, struct aged **ret_files, uint32_t *ret_n)
{
	own(own_directory) DIR *directory = NULL;
	own(own_free) struct aged *files = NULL;
	uint32_t n = 0, capacity = 0;
	const struct dirent *entry;
	int fd = openat(cache->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r;

	directory = fd >= 0 ? fdopendir(fd) : NULL;
	if (!directory && fd >= 0)
		close(fd);
	while (directory && n < MAX_FILES && (entry = readdir(directory))) {
		struct stat status;

		if (strlen(entry->d_name) >= NAME_SIZE || strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0 ||
		    fstatat(cache->directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(status.st_mode))
			continue;
		r = grow(&files, &capacity, n + 1);
		if (r < 0)
			return r;
		files[n].used = status.st_mtim;
		files[n].size = (uint64_t)status.st_size;
		strcpy(files[n++].name, entry->d_name);
	}
	*ret_files = take_ptr(files);
	*ret_n = n;
	return 0;
}

/* If the files exceed the limit, removes those unused for longest, down to 3/4 of the limit. */
static int trim(struct table_cache *cache)
{
	own(own_free) struct aged *files = NULL;
	uint32_t n;
	int r = list(cache, &files, &n);

	if (r < 0)
		return r;
	cache->total = 0;
	for (uint32_t i = 0; i < n; i++)
		cache->total += files[i].size;
	cache->measured = true;
	if (cache->total <= cache->limit)
		return 0;
	qsort(files, n, sizeof(*files), by_age);
	for (uint32_t i = 0; i < n && cache->total > cache->limit / 4 * 3; i++) {
		if (unlinkat(cache->directory, files[i].name, 0) == 0)
			cache->total -= files[i].size;
	}
	return 0;
}

/* Adds a saved file to the total. */
static int account(struct table_cache *cache, uint64_t added)
{
	int r = 0;

	pthread_mutex_lock(&cache->lock);
	cache->total += added;
	if (!cache->measured || cache->total > cache->limit)
		r = trim(cache);
	pthread_mutex_unlock(&cache->lock);
	return r;
}

/* ---- saving ---- */

static int write_all(int fd, const void *bytes, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = write(fd, (const char *)bytes + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		done += (size_t)n;
	}
	return 0;
}

int table_cache_save(struct table_cache *cache, const struct table_identity *identity,
		     const struct rule_table *rules, const struct unwind_rows *rows)
{
	own(own_free) void *bytes = NULL;
	own(own_fd) int fd = -1;
	char name[NAME_SIZE], temporary[NAME_SIZE];
	size_t size;
	int r = table_cache_file_format(identity, rules, rows, &bytes, &size);

	if (r < 0)
		return r;
	if (size > TABLE_CACHE_MAX_FILE || size > cache->limit)
		return -EFBIG;
	pthread_mutex_lock(&cache->lock);
	snprintf(temporary, sizeof(temporary), "new.%d.%u", (int)getpid(), cache->serial++);
	pthread_mutex_unlock(&cache->lock);
	name_of(identity, name);
	unlinkat(cache->directory, temporary, 0); /* left by a process that was killed */
	fd = openat(cache->directory, temporary,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	r = write_all(fd, bytes, size);
	if (r == 0 && renameat(cache->directory, temporary, cache->directory, name) < 0)
		r = -errno;
	if (r < 0) {
		unlinkat(cache->directory, temporary, 0);
		return r;
	}
	return account(cache, size);
}
