// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>

#include "base/index.h"
#include "base/own.h"

#define HOLD_DEFAULT 512u
#define MAX_TRIES    6
#define FILE_NONE    UINT32_MAX

_Static_assert(BUILD_ID_MAX == BUILD_ID_SIZE, "one size of build-ids");

struct file {
	struct mapped_file shown;
	struct file_identity identity; /* once it is readable */
	uint32_t root;
	uint32_t same_as;     /* another file turned out to be this one; or FILE_NONE */
	int fd;		      /* its place, held open (O_PATH), or -1 */
	enum mount_kind kind; /* of what it is on, once it is readable */
	uint8_t tries;	      /* to open it */
	bool readable;	      /* was opened once */
	bool reachable;	      /* it may be, by its path in our own root */
};

/* One way of meeting a file. Several lead to the same file. */
struct key {
	uint64_t device, inode, generation;
	const char *path; /* with a build-id only */
	uint32_t build_id_size;
	uint8_t build_id[BUILD_ID_SIZE];
	uint32_t file;
};

struct files {
	struct sighting_access access;
	struct file **files;
	uint32_t n_files, room_files;
	struct key *keys;
	uint32_t n_keys, room_keys;
	struct index by_key, by_identity;
	uint32_t hold, n_held, hand; /* the hand of the clock that gives descriptors back */
	uint64_t unreadable;
};

int files_new(uint32_t hold, const struct roots *roots, struct answering *answering,
	      struct files **ret_files)
{
	struct files *files = calloc(1, sizeof(*files));
	struct rlimit limit;

	if (!files)
		return -ENOMEM;
	files->access.roots = roots;
	files->access.answering = answering;
	files->hold = hold ? hold : HOLD_DEFAULT;
	/* Half of what we may open: the rest is for whoever else works in this process. */
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && files->hold > limit.rlim_cur / 2)
		files->hold = (uint32_t)(limit.rlim_cur / 2);
	*ret_files = files;
	return 0;
}

void files_free(struct files *files)
{
	if (!files)
		return;
	for (uint32_t i = 0; i < files->n_files; i++) {
		own_fd(&files->files[i]->fd);
		free(files->files[i]);
	}
	free(files->files);
	free(files->keys);
	index_free(&files->by_key);
	index_free(&files->by_identity);
	free(files);
}

static uint64_t hash_key(const struct key *key)
{
	uint64_t hash = hash_bytes(key->build_id, key->build_id_size);

	hash = hash_u64(hash ^ key->device) ^ key->inode;
	return hash_u64(hash ^ (uintptr_t)key->path);
}

static struct key key_of(const struct file_sighting *sighting)
{
	struct key key = { .file = FILE_NONE };

	if (sighting->build_id_size) {
		key.path = sighting->path;
		key.build_id_size = sighting->build_id_size;
		memcpy(key.build_id, sighting->build_id, sighting->build_id_size);
	} else {
		key.device = sighting->device;
		key.inode = sighting->inode;
		key.generation = sighting->generation;
	}
	return key;
}

static bool key_matches(const struct key *a, const struct key *b)
{
	/* The generation is not told by maps: 0 is any. */
	return a->device == b->device && a->inode == b->inode && a->path == b->path &&
	       (!a->generation || !b->generation || a->generation == b->generation) &&
	       a->build_id_size == b->build_id_size &&
	       memcmp(a->build_id, b->build_id, a->build_id_size) == 0;
}

static struct key *find_key(const struct files *files, const struct key *wanted, uint64_t hash)
{
	struct index_cursor cursor;

	for (uint32_t at = index_first(&files->by_key, hash, &cursor); at != INDEX_NONE;
	     at = index_next(&files->by_key, &cursor)) {
		if (key_matches(&files->keys[at], wanted))
			return &files->keys[at];
	}
	return NULL;
}

static int add_key(struct files *files, const struct key *key, uint64_t hash)
{
	if (files->n_keys == files->room_keys) {
		uint32_t room = files->room_keys ? files->room_keys * 2 : 64;
		struct key *grown = reallocarray(files->keys, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		files->keys = grown;
		files->room_keys = room;
	}
	files->keys[files->n_keys] = *key;
	if (index_add(&files->by_key, hash, files->n_keys) < 0)
		return -ENOMEM;
	files->n_keys++;
	return 0;
}

static int add_file(struct files *files, const struct file_sighting *sighting, uint32_t *ret_file)
{
	struct file *file;

	if (files->n_files == files->room_files) {
		uint32_t room = files->room_files ? files->room_files * 2 : 64;
		struct file **grown = reallocarray(files->files, room, sizeof(struct file *));

		if (!grown)
			return -ENOMEM;
		files->files = grown;
		files->room_files = room;
	}
	file = calloc(1, sizeof(*file));
	if (!file)
		return -ENOMEM;
	file->fd = -1;
	file->same_as = FILE_NONE;
	file->root = sighting->root;
	file->shown.path = sighting->undeleted;
	file->shown.deleted = sighting->undeleted != sighting->path;
	file->shown.device = sighting->device;
	file->shown.inode = sighting->inode;
	file->shown.generation = sighting->generation;
	file->shown.build_id_size = sighting->build_id_size;
	if (sighting->build_id_size)
		memcpy(file->shown.build_id, sighting->build_id, sighting->build_id_size);
	*ret_file = files->n_files;
	files->files[files->n_files++] = file;
	return 0;
}

/* It is what its path leads to in our own root. */
static bool is_reachable(const struct files *files, const struct file *file)
{
	own(own_fd) int place = answering_place(files->access.answering,
						roots_directory(files->access.roots, ROOT_OWN),
						file->shown.path, true,
						roots_path_is_local(files->access.roots, ROOT_OWN,
								    file->shown.path));
	struct stat status;

	return place >= 0 && stat_remembered(place, &status) == 0 &&
	       identity_same_inode(&file->identity, &status);
}

/* Gives back a descriptor that could be had again by its path, to make room for another. */
static bool make_room(struct files *files)
{
	if (files->n_held < files->hold)
		return true;
	for (uint32_t i = 0; i < files->n_files; i++) {
		struct file *file = files->files[files->hand];

		files->hand = (files->hand + 1) % files->n_files;
		if (file->fd < 0 || !file->reachable)
			continue;
		file->reachable = is_reachable(files, file);
		if (!file->reachable)
			continue; /* it was replaced: what we hold is the only way */
		close(take_fd(&file->fd));
		files->n_held--;
		return true;
	}
	return false;
}

/*
 * Keeps the file if there is room for it. What is kept is no open file but the place of one: to
 * close that asks nobody, whose answer might not come.
 */
static void hold(struct files *files, struct file *file, struct sighting_place *place)
{
	own(own_fd) int fd = place->fd;

	if (file->fd >= 0 || !make_room(files))
		return;
	file->kind = place->kind;
	file->reachable = place->kind == MOUNT_LOCAL && !file->shown.deleted;
	file->fd = take_fd(&fd);
	files->n_held++;
}

/* The file with this identity, or FILE_NONE. */
static uint32_t find_identity(const struct files *files, const struct file_identity *identity)
{
	struct index_cursor cursor;

	for (uint32_t at = index_first(&files->by_identity, identity_hash(identity), &cursor);
	     at != INDEX_NONE; at = index_next(&files->by_identity, &cursor)) {
		if (identity_equal(&files->files[at]->identity, identity))
			return at;
	}
	return FILE_NONE;
}

/* The file behind a key is still the one that was met: nobody wrote to it or took its inode. */
static bool still_same(const struct file *file)
{
	struct stat status;

	if (!file->readable)
		return true; /* nothing to compare with */
	if (file->fd >= 0 && file->kind == MOUNT_UNKNOWN)
		return true; /* nobody to ask */
	return file->fd >= 0 && stat_remembered(file->fd, &status) == 0 &&
	       identity_unwritten(&file->identity, &status);
}

/* Enters what was opened: as the file `id` that could not be opened before, or as a new one. */
static int enter(struct files *files, const struct file_sighting *sighting, uint32_t id,
		 const struct file_identity *identity)
{
	struct file *file = files->files[id];
	struct mapped_file *shown = &file->shown;

	file->identity = *identity;
	file->readable = true;
	file->root = sighting->root;
	shown->path = sighting->undeleted;
	shown->deleted = sighting->undeleted != sighting->path;
	shown->size = identity->size;
	shown->mtime_ns = identity->mtime_ns;
	shown->build_id_size = identity->build_id_size;
	memcpy(shown->build_id, identity->build_id, BUILD_ID_SIZE);
	if (!shown->inode) { /* met by build-id */
		shown->device = identity->device;
		shown->inode = identity->inode;
	}
	return index_add(&files->by_identity, identity_hash(identity), id);
}

/* Opens what is behind the sighting and finds or makes the file it is. */
static int look(struct files *files, const struct file_sighting *sighting, pid_t tgid,
		struct process_view *view, uint32_t id, uint32_t *ret_file)
{
	struct sighting_place place;
	own(own_fd) int fd = -1;
	struct file_identity identity;
	struct stat status;
	uint32_t same = FILE_NONE;
	int r;

	if (view->dir < 0 && tgid > 0)
		view_open(tgid, view);
	fd = sighting_open(&files->access, sighting, view, &status, &place);
	if (fd >= 0) {
		identity_read(fd, &status, &identity);
		same = find_identity(files, &identity);
		files->unreadable -= id != FILE_NONE;
	} else {
		files->unreadable += id == FILE_NONE;
	}
	if (same != FILE_NONE) {
		if (id != FILE_NONE)
			files->files[id]->same_as = same;
		*ret_file = same;
	} else {
		r = id == FILE_NONE ? add_file(files, sighting, &id) : 0;
		if (r == 0 && fd >= 0)
			r = enter(files, sighting, id, &identity);
		if (r < 0) {
			if (fd >= 0)
				close(place.fd);
			return r;
		}
		*ret_file = id;
	}
	if (fd >= 0)
		hold(files, files->files[*ret_file], &place);
	else
		files->files[id]->tries++;
	return 0;
}

int files_identify(struct files *files, const struct file_sighting *sighting, pid_t tgid,
		   struct process_view *view, uint32_t *ret_file)
{
	struct key key = key_of(sighting);
	uint64_t hash = hash_key(&key);
	struct key *known = find_key(files, &key, hash);
	uint32_t id = FILE_NONE;
	int r;

	if (known) {
		const struct file *file = files->files[known->file];
		bool retry = !file->readable && file->tries < MAX_TRIES;

		if (!known->generation)
			known->generation = key.generation;
		if (!retry && (known->build_id_size || still_same(file))) {
			*ret_file = known->file;
			return 0;
		}
		if (retry)
			id = known->file;
	}
	r = look(files, sighting, tgid, view, id, &key.file);
	if (r < 0)
		return r;
	*ret_file = key.file;
	if (!known)
		return add_key(files, &key, hash);
	/* `known` may have moved only if keys were added, and none was. */
	known->file = key.file;
	return 0;
}

uint32_t files_n(const struct files *files)
{
	return files->n_files;
}

uint32_t files_n_held(const struct files *files)
{
	return files->n_held;
}

/* A file that turned out to be another stands for that one. */
static const struct file *resolve(const struct files *files, uint32_t id)
{
	const struct file *file = files->files[id];

	return file->same_as != FILE_NONE ? files->files[file->same_as] : file;
}

const struct mapped_file *files_get(const struct files *files, uint32_t file)
{
	return file < files->n_files ? &resolve(files, file)->shown : NULL;
}

bool files_is_elf(const struct files *files, uint32_t file)
{
	const struct file *known = resolve(files, file);

	return known->readable ? known->identity.elf : known->shown.build_id_size > 0;
}

uint64_t files_unreadable(const struct files *files)
{
	return files->unreadable;
}

/* What was opened is the file that is known. */
static bool matches(const struct file *file, int fd, const struct stat *status, bool growing)
{
	uint8_t build_id[BUILD_ID_MAX];

	if (!file->readable) /* known by its build-id alone */
		return build_id_read(fd, build_id) == (int)file->shown.build_id_size &&
		       memcmp(build_id, file->shown.build_id, file->shown.build_id_size) == 0;
	return growing ? identity_same_inode(&file->identity, status)
		       : identity_holds(&file->identity, fd, status);
}

/* What has the file's path in a root: a descriptor of its place. */
static int place_by_path(const struct files *files, const struct file *file, uint32_t root)
{
	return answering_place(files->access.answering, roots_directory(files->access.roots, root),
			       file->shown.path, true,
			       roots_path_is_local(files->access.roots, root, file->shown.path));
}

static int reopen(const struct files *files, uint32_t id, bool growing, struct stat *ret_status)
{
	struct answering *answering = files->access.answering;
	uint32_t roots[] = { ROOT_UNKNOWN, ROOT_OWN };
	const struct file *file;
	int result = -ENOENT;

	if (id >= files->n_files)
		return -EINVAL;
	file = resolve(files, id);
	if (!file->readable && !file->shown.build_id_size)
		return -ENOENT; /* nothing to know it by */
	roots[0] = file->root;
	/* The one that is held first: as a descriptor of its own, so that reading moves no other.
	 */
	for (int i = -1; i < 2; i++) {
		own(own_fd) int place = -1, fd = -1;
		struct stat status;

		if (i < 0 && file->fd >= 0) {
			fd = answering_open(answering, file->fd, file->kind, ANSWERING_WHOLE,
					    &status);
			if (fd == -ETIMEDOUT)
				return fd;
		} else if (i >= 0 && (i == 0 || roots[1] != roots[0])) {
			place = place_by_path(files, file, roots[i]);
		}
		if (place >= 0)
			fd = answering_open(answering, place, answering_kind(answering, place, -1),
					    ANSWERING_WHOLE, &status);
		if (fd < 0)
			continue;
		if (matches(file, fd, &status, growing)) {
			*ret_status = status;
			return take_fd(&fd);
		}
		result = -ESTALE;
	}
	return result;
}

int files_open(const struct files *files, uint32_t file)
{
	struct stat status;

	return reopen(files, file, false, &status);
}

int files_open_growing(const struct files *files, uint32_t file, struct stat *ret_status)
{
	return reopen(files, file, true, ret_status);
}
