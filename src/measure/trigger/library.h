/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the file that a user means by the name of a library or executable. A name with a slash is
 * a path. Any other is looked for in what the process maps, if there is one; then in the dynamic
 * linker's cache and directories; then in PATH. With a process all paths are below its root.
 */
#ifndef STACKTALLY_TRIGGER_LIBRARY_H
#define STACKTALLY_TRIGGER_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* A file that stays open, so that the one that was read is the one that is probed. */
struct library {
	int fd;		  /* a regular file, open for reading */
	char *path;	  /* below the root it was found in; for messages */
	char fd_path[32]; /* "/proc/self/fd/N": what the kernel is told to probe */
	bool mapped;	  /* the process that it was looked for in maps its code */
};

/* `pid` 0: no process. 0, or a negative errno: -ENOENT when nothing was found. */
int library_find(const char *name, pid_t pid, struct library *ret_library, struct error *err);
/* The same of a program, as a shell finds it: by its path or in PATH. */
int library_find_program(const char *name, struct library *ret_library);
void library_clear(struct library *library);

/*
 * Opens the files whose code the process maps, one after another, until `wants` returns true; that
 * file is *ret_library. Returns 0; -ENOENT: none is wanted; or another negative errno. *ret_n is
 * the number of files.
 */
typedef bool (*library_wants_fn)(const struct library *library, void *context);
int library_find_mapped(pid_t pid, library_wants_fn wants, void *context,
			struct library *ret_library, uint32_t *ret_n);

/*
 * The library to search if nothing matches in this one: "c" for those that glibc 2.34 merged into
 * libc and left empty ("pthread", "dl" ...), else NULL.
 */
const char *library_moved_to(const char *name);

/*
 * Whether the last part of a mapped path is what `name` means: "c" is libc.so.6, libc-2.31.so, a
 * program named c, or musl's ld-musl-x86_64.so.1, which is all of its libraries.
 */
bool library_name_fits(const char *path, const char *name);

#endif
