// SPDX-License-Identifier: GPL-2.0-or-later
#include "files/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/own.h"

#define CACHE_SIZE   256u
#define OWN_VALID_MS 2000u
/* The kernel reuses the ids of mounts that are gone. */
#define KIND_VALID_MS 10000u

struct cached_kind {
	uint64_t id, until_ms;
	enum mount_kind kind;
};

struct mounts {
	struct cached_kind cache[CACHE_SIZE]; /* by id % CACHE_SIZE */
	char *own_text;			      /* our own mountinfo, or NULL */
	struct mountinfo_own own;	      /* parsed */
	char *own_remote;		      /* its mount points that are not local */
	uint64_t own_until_ms;
	uint64_t memory; /* the id of the kernel's mount that memfds are on */
};

/* As /proc has it, for file systems without handles. */
static uint64_t id_of_text(int path_fd)
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

/* A handle without room for its bytes: the kernel tells the mount, and asks no server. */
uint64_t mounts_id(int path_fd)
{
	struct file_handle handle = { 0 };
	int id = -1;

	if (name_to_handle_at(path_fd, "", &handle, &id, AT_EMPTY_PATH) < 0 && errno == EOVERFLOW &&
	    id >= 0)
		return (uint64_t)id;
	return id_of_text(path_fd);
}

int mounts_new(struct mounts **ret_mounts)
{
	struct mounts *mounts = calloc(1, sizeof(*mounts));
	own(own_fd) int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	own(own_fd) int memory = memfd_create("mount", MFD_CLOEXEC);

	if (!mounts)
		return -ENOMEM;
	mounts->own.root = mounts_id(root);
	mounts->memory = mounts_id(memory);
	*ret_mounts = mounts;
	return 0;
}

void mounts_free(struct mounts *mounts)
{
	if (!mounts)
		return;
	mountinfo_own_clear(&mounts->own);
	free(mounts->own_text);
	free(mounts->own_remote);
	free(mounts);
}

static void refresh(struct mounts *mounts)
{
	uint64_t now = monotonic_ms(), root = mounts->own.root;
	char *text;

	if (now < mounts->own_until_ms)
		return;
	mounts->own_until_ms = now + OWN_VALID_MS;
	text = mountinfo_read(AT_FDCWD, "/proc/self/mountinfo");
	if (text && mounts->own_text && strcmp(text, mounts->own_text) == 0) {
		free(text);
		return;
	}
	mountinfo_own_clear(&mounts->own);
	free(mounts->own_text);
	free(mounts->own_remote);
	mounts->own_text = text;
	mounts->own_remote = NULL;
	if (!text)
		return;
	mounts->own = mountinfo_own_parse(text, root);
	mounts->own_remote = mountinfo_remote_points(text, &mounts->own);
}

char *mounts_remote_points(struct mounts *mounts, int process_dir)
{
	own(own_free) char *text = mountinfo_read(process_dir, "mountinfo");

	refresh(mounts);
	return text && mounts->own_text ? mountinfo_remote_points(text, &mounts->own) : NULL;
}

const char *mounts_own_remote_points(struct mounts *mounts)
{
	refresh(mounts);
	return mounts->own_remote;
}

enum mount_kind mounts_kind(struct mounts *mounts, int path_fd, int process_dir)
{
	uint64_t id = mounts_id(path_fd), now = monotonic_ms();
	struct cached_kind *cached = &mounts->cache[id % CACHE_SIZE];
	own(own_free) char *process_text = NULL;

	if (id == MOUNT_ID_NONE)
		return MOUNT_UNKNOWN;
	if (id == mounts->own.root || id == mounts->memory)
		return MOUNT_LOCAL;
	if (cached->id == id && now < cached->until_ms)
		return cached->kind;
	*cached = (struct cached_kind){
		.id = id,
		.until_ms = now + KIND_VALID_MS,
		.kind = MOUNT_UNKNOWN,
	};
	refresh(mounts);
	if (!mounts->own_text)
		return MOUNT_UNKNOWN;
	cached->kind = mountinfo_kind(mounts->own_text, id, &mounts->own);
	if (cached->kind == MOUNT_UNKNOWN && process_dir >= 0)
		process_text = mountinfo_read(process_dir, "mountinfo");
	if (process_text)
		cached->kind = mountinfo_kind(process_text, id, &mounts->own);
	return cached->kind;
}
