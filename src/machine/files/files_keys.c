// SPDX-License-Identifier: GPL-2.0-or-later
#include <sys/sysmacros.h>

#include "base/grow.h"
#include "files/files_internal.h"

static uint64_t hash_key(const struct key *key)
{
	return hash_u64(hash_u64(key->device) ^ key->inode);
}

struct key files_key_of(const struct file_reference *reference)
{
	return (struct key){
		.device = reference->device,
		.inode = reference->inode,
		.generation = reference->generation,
		.root = reference->root,
		.path = reference->path,
		.file = FILE_NONE,
	};
}

static bool key_matches(const struct key *a, const struct key *b)
{
	/* maps has no generation: 0 matches any. */
	return a->device == b->device && a->inode == b->inode &&
	       (!a->generation || !b->generation || a->generation == b->generation);
}

dev_t files_part_of(const struct file_reference *reference, dev_t device)
{
	return major(reference->device) == 0 && device != reference->device ? device : 0;
}

/* The part of a device that a mapping is of; 0: not known. */
static dev_t mapped_part(struct files *files, const struct file_reference *reference, pid_t tgid,
			 struct process_view *view)
{
	struct stat status;

	if (view->dir < 0 && tgid > 0)
		process_view_open(tgid, view);
	if (file_reference_stat_mapping(&files->access, reference, view, &status) < 0)
		return 0;
	return files_part_of(reference, status.st_dev);
}

/*
 * Where the process has ended, its root and the path tell files of one inode apart, as the
 * generation does.
 */
static bool is_same_place(const struct key *a, const struct key *b)
{
	if (a->generation && b->generation)
		return true;
	return a->root != ROOT_UNKNOWN && a->root == b->root && a->path == b->path;
}

struct key *files_find_key(struct files *files, const struct file_reference *reference, pid_t tgid,
			   struct process_view *view)
{
	const struct key wanted = files_key_of(reference);
	struct key *whole = NULL;
	struct index_cursor cursor;
	bool looked = false;
	dev_t part = 0;

	for (uint32_t at = index_first(&files->by_key, hash_key(&wanted), &cursor);
	     at != INDEX_NONE; at = index_next(&files->by_key, &cursor)) {
		struct key *key = &files->keys[at];

		if (!key_matches(key, &wanted))
			continue;
		if (!key->part) {
			whole = key;
			continue;
		}
		if (!looked)
			part = mapped_part(files, reference, tgid, view);
		looked = true;
		if (part ? key->part == part : is_same_place(key, &wanted))
			return key;
	}
	return whole;
}

int files_enter_key(struct files *files, const struct key *key)
{
	uint64_t hash = hash_key(key);
	struct index_cursor cursor;

	for (uint32_t at = index_first(&files->by_key, hash, &cursor); at != INDEX_NONE;
	     at = index_next(&files->by_key, &cursor)) {
		struct key *known = &files->keys[at];

		if (!key_matches(known, key) || known->part != key->part)
			continue;
		known->file = key->file;
		known->root = key->root;
		known->path = key->path;
		return 0;
	}
	if (grow(&files->keys, &files->key_capacity, files->n_keys + 1) < 0)
		return -ENOMEM;
	files->keys[files->n_keys] = *key;
	if (index_add(&files->by_key, hash, files->n_keys) < 0)
		return -ENOMEM;
	files->n_keys++;
	return 0;
}

void files_set_part(struct files *files, const struct key *key, uint32_t id)
{
	struct index_cursor cursor;

	for (uint32_t at = index_first(&files->by_key, hash_key(key), &cursor); at != INDEX_NONE;
	     at = index_next(&files->by_key, &cursor)) {
		struct key *known = &files->keys[at];

		if (key_matches(known, key) && known->file == id && !known->part)
			known->part = key->part;
	}
}
