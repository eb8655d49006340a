/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The programs that a launched command will probably run, by its words: `env perl x.pl`, `sh -c
 * 'php x.php'`, `chroot DIRECTORY python3 x.py`, and scripts with "#!". They are only looked for;
 * what does not look like a program, or runs one that no word names, is not found.
 *
 * The files of a program are its own and the libraries that it will have loaded, as far as they are
 * where the dynamic linker looks first. Confined children read them. Must not know: interpreters.
 */
#ifndef STACKTALLY_FILES_LIKELY_PROGRAMS_H
#define STACKTALLY_FILES_LIKELY_PROGRAMS_H

#include <stdint.h>

#define LIKELY_MAX_FILES 24 /* of a program */

/*
 * Calls `program` for each, with descriptors of its files, open for reading. Bounded: words, files
 * and directories are counted. `path` is where programs without a "/" are looked for, as $PATH has
 * it. 0 or a negative errno.
 */
int likely_programs_each(char *const *command, const char *path,
			 void (*program)(void *context, const int *fds, uint32_t n), void *context);

#endif
