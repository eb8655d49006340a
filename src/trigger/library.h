/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From what a user calls a library or an executable to the file: a path where it has a slash;
 * else, with a process, what that process maps under such a name; else the dynamic linker's
 * cache; else PATH. With a process all of it is looked for under the root of that process.
 *
 * The file is held open, and both read and probed through that one descriptor.
 */
#ifndef STACKTALLY_TRIGGER_LIBRARY_H
#define STACKTALLY_TRIGGER_LIBRARY_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct library {
	int fd;		  /* a regular file, open for reading */
	char *path;	  /* in its own root; for messages */
	char fd_path[32]; /* "/proc/self/fd/N": what the kernel is told to probe */
};

int library_find(const char *name, pid_t pid, struct library *ret_library, struct error *err);
void library_clear(struct library *library);

/*
 * Where to look next when a library has no match: "c" for those that glibc 2.34 merged into it and
 * left without functions ("pthread", "dl" ...); else NULL.
 */
const char *library_moved_to(const char *name);

/* Whether a mapped path, by its last part, is what `name` means: "c": libc.so.6, libc-2.31.so, c.
 */
bool library_name_fits(const char *path, const char *name);

#endif
