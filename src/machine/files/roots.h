/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The root directories of processes: one for each distinct pair of root directory and mount
 * namespace. They are held open (up to 256), so that files can be opened as a process saw them
 * after it has ended.
 *
 * Used by one thread at a time. Must not know: mappings, identities of files.
 */
#ifndef STACKTALLY_FILES_ROOTS_H
#define STACKTALLY_FILES_ROOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "files/file_opener.h"
#include "files/process_view.h"

#define ROOT_OWN     0u		/* our own root directory */
#define ROOT_UNKNOWN UINT32_MAX /* not looked up yet, not permitted, or beyond the limit */

struct roots;

/* `opener` is borrowed. 0 or -ENOMEM. */
int roots_new(struct file_opener *opener, struct roots **ret_roots);
void roots_free(struct roots *roots);

/* The id of the root directory of a process; adds it if it is new. ROOT_UNKNOWN on failure. */
uint32_t roots_intern(struct roots *roots, const struct process_view *view);

/* The ids are below this. */
uint32_t roots_n(const struct roots *roots);

/*
 * The way of a path in a root, and of a file of its /tmp, where no link is followed. Mounts that
 * were made in the last seconds may be missed. `path` is borrowed.
 */
struct file_way roots_way(const struct roots *roots, uint32_t root, const char *path);
struct file_way roots_way_in_tmp(const struct roots *roots, uint32_t root, const char *name);

#endif
