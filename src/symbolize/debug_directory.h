/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files with symbols in a directory that the user names, by build-id:
 * DIR/.build-id/xx/yyyy.debug and DIR/xx/yyyy.debug, as packages and servers of debug files arrange
 * them, and then any ELF file below DIR. Confined children read the build-ids. Must not know:
 * names.
 */
#ifndef STACKTALLY_SYMBOLIZE_DEBUG_DIRECTORY_H
#define STACKTALLY_SYMBOLIZE_DEBUG_DIRECTORY_H

#include <stdint.h>

#include "base/own.h"
#include "confined/confined.h"

struct debug_directory;

/* `path` and `readers` are borrowed. 0; -ENOTDIR and other errors of open(2); -ENOMEM. */
int debug_directory_open(const char *path, struct confined *readers,
			 struct debug_directory **ret_directory);
void debug_directory_close(struct debug_directory *directory);
DEFINE_OWN(struct debug_directory, debug_directory_close)

/*
 * Opens the next file that should have this build-id; *next is 0 at first. Returns a descriptor,
 * which the caller closes, or -ENOENT when there are no more.
 */
int debug_directory_next(struct debug_directory *directory, const uint8_t *build_id, uint32_t size,
			 uint32_t *next);

#endif
