// SPDX-License-Identifier: GPL-2.0-or-later
#include "push/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"

#define SENT	  ".sent"
#define UNNAMED	  "new" /* a file that is being written */
#define NAME_SIZE 64
#define MAX_BODY  (1ull << 30)

struct entry {
	uint64_t start_ns, size;
	char *memory; /* NULL: it is in a file */
};

struct spool {
	int directory; /* -1: memory only */
	uint64_t most;
	const char *protocol;
	struct entry *entries; /* ascending by start */
	uint32_t n, capacity;
	bool taken; /* entries[0] is being sent, */
	int open;   /* from this descriptor */
	struct spool_losses losses;
};

static void name_of(const struct spool *spool, uint64_t start_ns, const char *suffix,
		    char name[NAME_SIZE])
{
	snprintf(name, NAME_SIZE, "%020" PRIu64 ".%s%s", start_ns, spool->protocol, suffix);
}

/* ---- the list ---- */

static int insert(struct spool *spool, const struct entry *entry)
{
	uint32_t at = spool->n;
	int r = grow(&spool->entries, &spool->capacity, spool->n + 1);

	if (r < 0)
		return r;
	while (at > (spool->taken ? 1 : 0) && spool->entries[at - 1].start_ns > entry->start_ns)
		at--;
	memmove(spool->entries + at + 1, spool->entries + at,
		(spool->n - at) * sizeof(*spool->entries));
	spool->entries[at] = *entry;
	spool->n++;
	return 0;
}

static void remove_entry(struct spool *spool, uint32_t at, const char *suffix)
{
	struct entry *entry = &spool->entries[at];
	char name[NAME_SIZE];

	if (entry->memory) {
		free(entry->memory);
	} else {
		name_of(spool, entry->start_ns, suffix, name);
		unlinkat(spool->directory, name, 0);
	}
	spool->n--;
	memmove(entry, entry + 1, (spool->n - at) * sizeof(*entry));
}

static void drop_oldest(struct spool *spool)
{
	uint32_t at = spool->taken ? 1 : 0;

	spool->losses.dropped++;
	spool->losses.dropped_bytes += spool->entries[at].size;
	remove_entry(spool, at, "");
}

static uint64_t bytes_of(const struct spool *spool, bool memory)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < spool->n; i++)
		if ((spool->entries[i].memory != NULL) == memory)
			bytes += spool->entries[i].size;
	return bytes;
}

/* Drops the oldest until there is room. What is in memory has a bound of its own. */
static void keep_bounds(struct spool *spool)
{
	uint32_t kept = spool->taken ? 1 : 0;

	while (spool->n > kept &&
	       (spool_bytes(spool) > spool->most || bytes_of(spool, true) > SPOOL_MEMORY_MAX))
		drop_oldest(spool);
}

/* ---- opening ---- */

static int parse_name(const struct spool *spool, const char *name, uint64_t *ret_start,
		      bool *ret_sent)
{
	char expected[NAME_SIZE];

	if (strspn(name, "0123456789") != 20 || name[20] != '.')
		return -EINVAL;
	*ret_start = strtoull(name, NULL, 10);
	name_of(spool, *ret_start, SENT, expected);
	*ret_sent = strcmp(name, expected) == 0;
	name_of(spool, *ret_start, "", expected);
	return *ret_sent || strcmp(name, expected) == 0 ? 0 : -EINVAL;
}

static int find_file(struct spool *spool, const char *name)
{
	struct entry entry = { 0 };
	struct stat is;
	bool sent;

	if (*name == '.')
		return 0;
	if (strcmp(name, UNNAMED) == 0)
		return unlinkat(spool->directory, name, 0) < 0 ? -errno : 0;
	if (parse_name(spool, name, &entry.start_ns, &sent) < 0 ||
	    fstatat(spool->directory, name, &is, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(is.st_mode) ||
	    is.st_size <= 0 || (uint64_t)is.st_size > MAX_BODY) {
		spool->losses.foreign++;
		return 0;
	}
	if (sent) {
		spool->losses.unanswered++;
		return unlinkat(spool->directory, name, 0) < 0 ? -errno : 0;
	}
	entry.size = (uint64_t)is.st_size;
	return insert(spool, &entry);
}

static int find_files(struct spool *spool)
{
	int fd = openat(spool->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
	DIR *listing = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *each;

	if (!listing) {
		r = -errno;
		if (fd >= 0)
			close(fd);
		return r;
	}
	while (r == 0 && (each = readdir(listing)))
		r = find_file(spool, each->d_name);
	closedir(listing);
	return r;
}

static int open_directory(struct spool *spool, const char *path, struct error *err)
{
	struct stat is;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return error_set(err, -errno, "cannot make the spool '%s': %s", path,
				 strerror(errno));
	spool->directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (spool->directory < 0 || fstat(spool->directory, &is) < 0)
		return error_set(err, -errno, "cannot open the spool '%s': %s", path,
				 strerror(errno));
	if (is.st_uid != geteuid() || (is.st_mode & 022))
		return error_set(err, -EPERM,
				 "the spool '%s' is not safe: only its owner, who runs this, may "
				 "write to it",
				 path);
	if (flock(spool->directory, LOCK_EX | LOCK_NB) < 0)
		return error_set(err, -errno, "the spool '%s' is in use by another run", path);
	return 0;
}

int spool_open(const char *directory, uint64_t bytes, const char *protocol,
	       struct spool **ret_spool, struct error *err)
{
	own(own_spool_close) struct spool *spool = calloc(1, sizeof(*spool));
	int r;

	if (!spool)
		return error_set(err, -ENOMEM, "out of memory");
	spool->directory = spool->open = -1;
	spool->most = directory ? bytes : SPOOL_MEMORY_MAX;
	spool->protocol = protocol;
	if (directory) {
		r = open_directory(spool, directory, err);
		if (r < 0)
			return r;
		r = find_files(spool);
		if (r < 0)
			return error_set(err, r, "cannot read the spool '%s': %s", directory,
					 strerror(-r));
		keep_bounds(spool);
	}
	*ret_spool = take_ptr(spool);
	return 0;
}

void spool_close(struct spool *spool)
{
	if (!spool)
		return;
	if (spool->taken)
		spool_return(spool);
	for (uint32_t i = 0; i < spool->n; i++)
		free(spool->entries[i].memory);
	free(spool->entries);
	if (spool->directory >= 0)
		close(spool->directory);
	free(spool);
}

/* ---- adding ---- */

static int write_all(int fd, const char *from, uint64_t size)
{
	while (size > 0) {
		ssize_t n = write(fd, from, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		from += n;
		size -= (uint64_t)n;
	}
	return 0;
}

int spool_add(struct spool *spool, uint64_t start_ns, const void *body, size_t size)
{
	struct entry entry = { .start_ns = start_ns, .size = size };
	int r;

	/* The name of a file has to be its own. */
	for (uint32_t i = 0; i < spool->n; i++)
		if (spool->entries[i].start_ns == entry.start_ns)
			entry.start_ns++;
	if (size == 0 || size > MAX_BODY)
		return -EFBIG;
	entry.memory = malloc(size);
	if (!entry.memory)
		return -ENOMEM;
	memcpy(entry.memory, body, size);
	r = insert(spool, &entry);
	if (r < 0) {
		free(entry.memory);
		return r;
	}
	keep_bounds(spool);
	return 0;
}

/* Writes a file under a name that no run looks for, and then gives it its own. */
static int store(struct spool *spool, struct entry *entry)
{
	own(own_fd) int fd = openat(spool->directory, UNNAMED,
				    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	char name[NAME_SIZE];
	int r = fd < 0 ? -errno : write_all(fd, entry->memory, entry->size);

	name_of(spool, entry->start_ns, "", name);
	if (r == 0 && renameat(spool->directory, UNNAMED, spool->directory, name) < 0)
		r = -errno;
	if (r < 0) {
		unlinkat(spool->directory, UNNAMED, 0);
		return r;
	}
	free(take_ptr(entry->memory));
	return 0;
}

void spool_store(struct spool *spool)
{
	int r = 0;

	if (spool->directory < 0)
		return;
	for (uint32_t i = spool->taken ? 1 : 0; r == 0 && i < spool->n; i++)
		if (spool->entries[i].memory)
			r = store(spool, &spool->entries[i]);
	spool->losses.disk = r;
}

/* ---- sending ---- */

/* Memory that a child which is sent it cannot change. */
static int make_memory(const void *body, size_t size)
{
	int fd = memfd_create("stacktally-push", MFD_CLOEXEC | MFD_ALLOW_SEALING), r;

	if (fd < 0)
		return -errno;
	r = write_all(fd, body, size);
	if (r == 0 &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		r = -errno;
	if (r == 0)
		return fd;
	close(fd);
	return r;
}

static int open_file(struct spool *spool, const struct entry *entry)
{
	char name[NAME_SIZE], sent[NAME_SIZE];
	struct stat is;
	int fd;

	name_of(spool, entry->start_ns, "", name);
	name_of(spool, entry->start_ns, SENT, sent);
	fd = openat(spool->directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &is) < 0 || !S_ISREG(is.st_mode) || (uint64_t)is.st_size != entry->size ||
	    renameat(spool->directory, name, spool->directory, sent) < 0) {
		close(fd);
		return -EIO;
	}
	return fd;
}

int spool_take(struct spool *spool, uint64_t *ret_size)
{
	while (spool->n > 0 && !spool->taken) {
		const struct entry *entry = &spool->entries[0];

		*ret_size = entry->size;
		spool->open = entry->memory ? make_memory(entry->memory, entry->size)
					    : open_file(spool, entry);
		if (spool->open >= 0) {
			spool->taken = true;
			return spool->open;
		}
		drop_oldest(spool); /* no memory, or the file was removed or changed */
	}
	return -1;
}

static void close_taken(struct spool *spool)
{
	if (spool->open >= 0)
		close(spool->open);
	spool->open = -1;
	spool->taken = false;
}

void spool_done(struct spool *spool)
{
	close_taken(spool);
	remove_entry(spool, 0, SENT);
}

void spool_return(struct spool *spool)
{
	const struct entry *entry = &spool->entries[0];
	char name[NAME_SIZE], sent[NAME_SIZE];

	close_taken(spool);
	if (!entry->memory) {
		name_of(spool, entry->start_ns, "", name);
		name_of(spool, entry->start_ns, SENT, sent);
		if (renameat(spool->directory, sent, spool->directory, name) < 0)
			drop_oldest(spool);
	}
	keep_bounds(spool);
}

uint32_t spool_n(const struct spool *spool)
{
	return spool->n;
}

uint64_t spool_bytes(const struct spool *spool)
{
	return bytes_of(spool, true) + bytes_of(spool, false);
}

uint32_t spool_n_in_memory(const struct spool *spool)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < spool->n; i++)
		n += spool->entries[i].memory != NULL;
	return n;
}

const struct spool_losses *spool_losses(const struct spool *spool)
{
	return &spool->losses;
}
