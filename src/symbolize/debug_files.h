/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the file that a stripped ELF file's symbols and DWARF were moved to. A file is only ever
 * taken for another's when its build-id is the same, or, where there is none, when its CRC is
 * the one that the debug link tells. Places, in this order:
 *   1. SYMFS/PATH: another, unstripped tree of the same files;
 *   2. ROOT/.build-id/xx/yyyy.debug;
 *   3. what .gnu_debuglink names, in DIR, DIR/.debug and ROOT/DIR;
 *   4. a debuginfod server, when the user has set one.
 * ROOT is /usr/lib/debug unless the user says otherwise; DIR is where the file itself is.
 *
 * Must not know: processes, symbols.
 */
#ifndef STACKTALLY_SYMBOLIZE_DEBUG_FILES_H
#define STACKTALLY_SYMBOLIZE_DEBUG_FILES_H

#include "elf/elf_file.h"
#include "symbolize/debuginfod.h"

#define DEBUG_ROOT "/usr/lib/debug"

struct debug_places {
	const char *symfs;	       /* or NULL */
	const char *root;	       /* or NULL: DEBUG_ROOT */
	struct debuginfod *debuginfod; /* or NULL */
};

/*
 * A descriptor of the debug file of `elf`, which was opened as `path` (or NULL). The caller
 * closes it. -ENOENT when there is none to be found.
 */
int debug_file_open(const struct elf_file *elf, const char *path,
		    const struct debug_places *places);

/* Only the first place: the file that the user wants to be used instead of the given one. */
int debug_file_open_symfs(const struct elf_file *elf, const char *path,
			  const struct debug_places *places);

/* Opens for reading what is a regular file; does not wait for FIFOs or wake devices. */
int debug_file_open_regular(const char *path);

#endif
