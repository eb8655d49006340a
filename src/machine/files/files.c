// SPDX-License-Identifier: GPL-2.0-or-later
#include "files/files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/index.h"
#include "base/own.h"
#include "files/files_internal.h"

#define DEFAULT_HELD 512u

/*
 * A file that could not be opened is tried again at once, up to six times for processes that have
 * ended and six times for those that run, and from then on twice a second.
 */
#define MAX_TRIES 6
#define RETRY_MS  500u

int files_new(uint32_t max_held, const struct file_access *access, struct files **ret_files)
{
	struct files *files = calloc(1, sizeof(*files));
	struct rlimit limit;

	if (!files)
		return -ENOMEM;
	files->access = *access;
	files->max_held = max_held ? max_held : DEFAULT_HELD;
	/* At most half of the descriptors that this process may open. */
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && files->max_held > limit.rlim_cur / 2)
		files->max_held = (uint32_t)(limit.rlim_cur / 2);
	*ret_files = files;
	return 0;
}

void files_set_marker(struct files *files, file_marker *marker)
{
	files->marker = marker;
}

void files_free(struct files *files)
{
	if (!files)
		return;
	for (uint32_t i = 0; i < files->n_files; i++) {
		own_fd(&files->files[i]->held.fd);
		free(files->files[i]);
	}
	free(files->files);
	free(files->keys);
	index_free(&files->by_key);
	index_free(&files->by_identity);
	free(files);
}

static int add_file(struct files *files, const struct file_reference *reference, uint32_t *ret_file)
{
	struct file *file;

	if (grow(&files->files, &files->capacity, files->n_files + 1) < 0)
		return -ENOMEM;
	file = calloc(1, sizeof(*file));
	if (!file)
		return -ENOMEM;
	file->held.fd = -1;
	file->same_as = FILE_NONE;
	file->root = file->mapped_in = reference->root;
	file->shown.path = reference->undeleted;
	file->shown.deleted = reference->undeleted != reference->path;
	file->shown.device = reference->device;
	file->shown.inode = reference->inode;
	file->shown.generation = reference->generation;
	*ret_file = files->n_files;
	files->files[files->n_files++] = file;
	return 0;
}

/* The file with this identity, or FILE_NONE. */
static uint32_t find_identity(const struct files *files, const struct file_identity *identity)
{
	struct index_cursor cursor;

	for (uint32_t at = index_first(&files->by_identity, file_identity_hash(identity), &cursor);
	     at != INDEX_NONE; at = index_next(&files->by_identity, &cursor)) {
		if (file_identity_equal(&files->files[at]->identity, identity))
			return at;
	}
	return FILE_NONE;
}

/* True unless the file of a key was written to or another file has its inode now. */
static bool still_same(const struct file *file)
{
	struct stat status;

	int r;

	if (!file->readable)
		return true; /* nothing to compare with */
	r = file_opener_look_again(&file->held, &status);
	return r == -EREMOTE || (r == 0 && file_identity_unwritten(&file->identity, &status));
}

/* A file that was opened for the first time. */
struct opened {
	struct file_identity identity;
	struct file_outline outline;
	uint32_t root;
};

/* Enters the identity of a file that was opened for the first time. */
static int set_identity(struct files *files, const struct file_reference *reference, uint32_t id,
			const struct opened *opened)
{
	const struct file_identity *identity = &opened->identity;
	struct file *file = files->files[id];
	struct mapped_file *shown = &file->shown;

	file->identity = *identity;
	file->readable = true;
	file->elf = opened->outline.elf;
	file->segments = opened->outline.segments;
	file->root = opened->root;
	shown->path = reference->undeleted;
	shown->deleted = reference->undeleted != reference->path;
	shown->marks = opened->outline.marks;
	shown->size = identity->size;
	shown->mtime_ns = identity->mtime_ns;
	shown->build_id_size = identity->build_id_size;
	memcpy(shown->build_id, identity->build_id, BUILD_ID_MAX);
	return index_add(&files->by_identity, file_identity_hash(identity), id);
}

/* Finds or adds the file with this identity; `id`: the file that could not be opened before. */
static int enter_opened(struct files *files, const struct file_reference *reference, uint32_t id,
			const struct opened *opened, uint32_t *ret_file)
{
	uint32_t same = find_identity(files, &opened->identity);
	int r;

	if (id != FILE_NONE) {
		files->unreadable--;
		files->healed++;
	}
	if (same != FILE_NONE) {
		if (id != FILE_NONE)
			files->files[id]->same_as = same;
		*ret_file = same;
		return 0;
	}
	if (id == FILE_NONE) {
		r = add_file(files, reference, &id);
		if (r < 0)
			return r;
	}
	*ret_file = id;
	return set_identity(files, reference, id, opened);
}

/* Adds a file that cannot be opened now, or counts one more attempt. */
static int enter_unreadable(struct files *files, const struct file_reference *reference,
			    uint32_t id, bool alive, uint32_t *ret_file)
{
	struct file *file;
	int r;

	if (id == FILE_NONE) {
		files->unreadable++;
		r = add_file(files, reference, &id);
		if (r < 0)
			return r;
	}
	file = files->files[id];
	file->tries += file->tries < MAX_TRIES;
	file->tries_alive += alive && file->tries_alive < MAX_TRIES;
	file->next_try_ms = monotonic_ms() + RETRY_MS;
	*ret_file = id;
	return 0;
}

static bool may_try(const struct file *file, pid_t tgid, struct process_view *view)
{
	if (file->readable || file->same_as != FILE_NONE)
		return false;
	if (file->tries < MAX_TRIES || monotonic_ms() >= file->next_try_ms)
		return true;
	if (view->dir < 0 && tgid > 0)
		process_view_open(tgid, view);
	return view->root >= 0 && file->tries_alive < MAX_TRIES;
}

/*
 * Whether a file that could not be opened is the one that was opened now. On a device with parts,
 * another one may have the inode, at another path or in another root.
 */
static bool is_that_one(const struct file *unopened, const struct file_reference *reference,
			dev_t part)
{
	if (!part)
		return true;
	return unopened->shown.path == reference->undeleted &&
	       (unopened->root == ROOT_UNKNOWN || unopened->root == reference->root);
}

/* Opens the file of a reference; `key` gets its id and the part of the device that it is on. */
static int open_and_enter(struct files *files, const struct file_reference *reference, pid_t tgid,
			  struct process_view *view, uint32_t id, struct key *key)
{
	struct file_place place;
	own(own_fd) int fd = -1;
	struct opened opened;
	struct stat status;
	int r;

	if (view->dir < 0 && tgid > 0)
		process_view_open(tgid, view);
	fd = file_reference_open(&files->access, reference, view, &status, &place);
	if (fd < 0)
		return enter_unreadable(files, reference, id, view->root >= 0, &key->file);
	key->part = files_part_of(reference, status.st_dev);
	file_outline_read(files->access.readers, fd, files->marker, &opened.outline);
	file_identity_make(fd, &status, &opened.outline, &opened.identity);
	opened.root = place.root;
	if (id != FILE_NONE && !is_that_one(files->files[id], reference, key->part))
		id = FILE_NONE;
	if (id != FILE_NONE && key->part)
		files_set_part(files, key, id);
	r = enter_opened(files, reference, id, &opened, &key->file);
	if (r < 0) {
		close(place.found.fd);
		return r;
	}
	files_hold(files, files->files[key->file], &place);
	return 0;
}

static int identify(struct files *files, const struct file_reference *reference, pid_t tgid,
		    struct process_view *view, uint32_t *ret_file)
{
	struct key *known = files_find_key(files, reference, tgid, view);
	struct key key = files_key_of(reference);
	uint32_t id = FILE_NONE;
	int r;

	if (known) {
		const struct file *file = files->files[known->file];
		bool retry = may_try(file, tgid, view);

		if (!known->generation)
			known->generation = key.generation;
		if (!retry && still_same(file)) {
			*ret_file = files_resolved(files, known->file);
			return 0;
		}
		if (retry)
			id = known->file;
	}
	r = open_and_enter(files, reference, tgid, view, id, &key);
	if (r < 0)
		return r;
	*ret_file = key.file;
	return files_enter_key(files, &key);
}

int files_identify(struct files *files, const struct file_reference *reference, pid_t tgid,
		   struct process_view *view, uint32_t *ret_file)
{
	int r = identify(files, reference, tgid, view, ret_file);
	struct file *file;

	if (r < 0)
		return r;
	file = files->files[files_resolved(files, *ret_file)];
	file->shared |= reference->root == ROOT_UNKNOWN || reference->root != file->mapped_in;
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

const struct mapped_file *files_get(const struct files *files, uint32_t file)
{
	return file < files->n_files ? &files_resolve(files, file)->shown : NULL;
}

uint32_t files_resolved(const struct files *files, uint32_t file)
{
	uint32_t same = file < files->n_files ? files->files[file]->same_as : FILE_NONE;

	return same == FILE_NONE ? file : same;
}

bool files_is_readable(const struct files *files, uint32_t file)
{
	return file < files->n_files && files_resolve(files, file)->readable;
}

bool files_was_unreadable(const struct files *files, uint32_t file)
{
	return file < files->n_files && files->files[file]->tries;
}

uint64_t files_healed(const struct files *files)
{
	return files->healed;
}

bool files_is_elf(const struct files *files, uint32_t file)
{
	const struct file *known = files_resolve(files, file);

	return known->readable && known->elf;
}

uint64_t files_unreadable(const struct files *files)
{
	return files->unreadable;
}
