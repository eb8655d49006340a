/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the debug file of a stripped ELF file: the one that its symbols and DWARF were moved to. A
 * file is accepted only if it has the same build-id, or, if neither has one, the CRC that
 * .gnu_debuglink gives. It is looked for at:
 *   1. SYMFS/PATH: another tree with the same files, not stripped (BCC_SYMFS);
 *   2. ROOT/.build-id/xx/yyyy.debug;
 *   3. the name in .gnu_debuglink, in DIR, DIR/.debug and ROOT/DIR;
 *   4. a debuginfod server, if the user has set one.
 * ROOT is /usr/lib/debug unless the user says otherwise; DIR is where the file itself is. Places 2
 * and 3 are those of GDB ("Debugging Information in Separate Files").
 *
 * Must not know: processes, symbols.
 */
#ifndef STACKTALLY_SYMBOLIZE_DEBUG_FILE_H
#define STACKTALLY_SYMBOLIZE_DEBUG_FILE_H

#include "elf/elf_file.h"
#include "symbolize/debuginfod.h"

#define DEBUG_ROOT "/usr/lib/debug"

struct debug_places {
	const char *symfs;	       /* or NULL */
	const char *root;	       /* or NULL: DEBUG_ROOT */
	struct debuginfod *debuginfod; /* or NULL */
};

/*
 * Opens the debug file of `elf`, whose path is `path` (or NULL). Returns a descriptor, which the
 * caller closes, or -ENOENT.
 */
int debug_file_open(const struct elf_file *elf, const char *path,
		    const struct debug_places *places);

/* The same for the first place only. */
int debug_file_open_symfs(const struct elf_file *elf, const char *path,
			  const struct debug_places *places);

#endif
