/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of /proc/PID/mountinfo (proc(5)): which mounts there are, and which of them are of a
 * file system that can stop responding. Apart from mountinfo_read(), reads only the text it is
 * given, which may be hostile.
 */
#ifndef STACKTALLY_FILES_MOUNTINFO_H
#define STACKTALLY_FILES_MOUNTINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mount_kind {
	MOUNT_LOCAL,   /* responds as long as the machine's own disks do */
	MOUNT_REMOTE,  /* served over a network or by a process; cached attributes need neither */
	MOUNT_UNKNOWN, /* an unknown type: cached attributes may need the server, too */
};

/* One line. The strings are in the text: not terminated, blanks and newlines still as \ooo. */
struct mountinfo_line {
	uint64_t id;
	const char *device; /* MAJOR:MINOR, the same for all mounts of a file system */
	const char *root, *point, *type, *options; /* the options of the file system */
	size_t device_size, root_size, point_size, type_size, options_size;
};

/* The mounts of our own mount namespace, where the layers of overlays are found. */
struct mountinfo_own {
	struct mountinfo_line *lines;
	uint32_t n;
	uint64_t root; /* the id of the mount that our root is on: it counts as local */
};

/*
 * All of the file `name` in a directory, at most 8 MB, terminated; the caller frees it. NULL when
 * it cannot be read, is larger, or memory is short.
 */
char *mountinfo_read(int directory, const char *name);

/* Parses the next line and moves *at behind it; false at the end of the text. */
bool mountinfo_next(const char **at, struct mountinfo_line *ret_line);

/*
 * Parses our own text, which must outlive the result; lines stay empty when memory is short, and
 * overlays then are not local.
 */
struct mountinfo_own mountinfo_own_parse(const char *text, uint64_t root);
void mountinfo_own_clear(struct mountinfo_own *own);

/* The kind of the mount `id` in a text, which may be another namespace's; MOUNT_UNKNOWN if absent.
 */
enum mount_kind mountinfo_kind(const char *text, uint64_t id, const struct mountinfo_own *own);

/* The mount points of a text that are not local, one a line; the caller frees it. NULL: no memory.
 */
char *mountinfo_remote_points(const char *text, const struct mountinfo_own *own);

/*
 * True if `path`, taken from the root, is not at or below one of these mount points. Symbolic links
 * are not followed. `points` NULL (not known): false.
 */
bool mountinfo_path_is_local(const char *points, const char *path);

#endif
