/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the debug file of a stripped ELF file: the one that its symbols and DWARF were moved to. It
 * is looked for at these places, in order:
 *   1. SYMFS/PATH: another tree with the same files, not stripped (BCC_SYMFS);
 *   2. ROOT/.build-id/xx/yyyy.debug;
 *   3. the name in .gnu_debuglink, in DIR, DIR/.debug and ROOT/DIR;
 *   4. places 2 and 3 in the root of the processes that have mapped the file, as in a container;
 *   5. a debuginfod server, if the user has set one.
 * ROOT is /usr/lib/debug, in our own root unless the user says otherwise; DIR is where the file
 * itself is. Places 2 and 3 are those of GDB ("Debugging Information in Separate Files").
 *
 * Both files may be hostile: they are read in a confined child, which says what the file wants and
 * whether what was opened is that; we open what is at the places.
 *
 * Must not know: processes, symbols.
 */
#ifndef STACKTALLY_SYMBOLIZE_DEBUG_FILE_H
#define STACKTALLY_SYMBOLIZE_DEBUG_FILE_H

#include <limits.h>
#include <sys/stat.h>

#include "elf/elf_file.h"
#include "symbolize/debuginfod.h"

#define DEBUG_ROOT "/usr/lib/debug"

#define DEBUG_BUILD_ID_MAX 64 /* bytes */

/* ---- in the child ---- */

/* What a file says about its debug file. */
struct debug_wanted {
	uint32_t build_id_size; /* 0: none */
	uint8_t build_id[DEBUG_BUILD_ID_MAX];
	char link[NAME_MAX + 1]; /* .gnu_debuglink: a file name, or "" */
};

void debug_wanted_read(const struct elf_file *elf, struct debug_wanted *ret_wanted);

/* How a file shows that it is the debug file of another. */
enum debug_proof {
	DEBUG_PROOF_BUILD_ID, /* it has the same build-id */
	DEBUG_PROOF_CRC,      /* ... or, if the other has none, the CRC in its .gnu_debuglink */
	DEBUG_PROOF_BOTH,     /* it has that CRC, and no other build-id */
};

/* Opens a file if it is the debug file of `elf`. 0, -ESTALE, or another negative errno. */
int debug_file_open_checked(const struct elf_file *elf, int fd, enum debug_proof proof,
			    struct elf_file **ret_debug);

/* ---- in our process ---- */

struct debug_places {
	const char *symfs;	       /* or NULL */
	const char *root;	       /* or NULL: DEBUG_ROOT */
	struct debuginfod *debuginfod; /* or NULL */
	/*
	 * Opens a regular file by its path, and gives its status: without waiting for file systems
	 * that do not respond. NULL: all are local.
	 */
	int (*open)(void *context, const char *path, struct stat *ret_status);
	/* The same in the root of the processes that have mapped a file, by the file's number; or
	 * NULL. */
	int (*open_beside)(void *context, uint32_t file, const char *path, struct stat *ret_status);
	void *context;
};

/* A walk through the places of one file's debug file. All is borrowed. */
struct debug_search {
	const struct debug_places *places;
	const char *path; /* of the file, or NULL: not looked for next to it */
	uint32_t file;	  /* its number, for open_beside() */
	int fd;		  /* the file */
	uint32_t next;	  /* the number of the next place */
};

/* Opens the file that stands for the searched one in SYMFS; or -ENOENT. */
int debug_file_open_symfs(const struct debug_search *search);

/*
 * Opens the file at the next of the other places. It may be the wrong file: *ret_proof is what it
 * has to show. `wanted` comes from a child and is checked. Returns a descriptor, which the caller
 * closes, or -ENOENT when there are no more places.
 *
 * A process shows the path of a file as its own mounts have it, which a user can set up at will. So
 * what is next to a path counts only if the path leads to the file there, too. Debug files there
 * and in DEBUG_ROOT must belong to root, to us, or to the owner of the file; where others can write
 * to one, its build-id, which anybody can copy, is not enough.
 */
int debug_file_open_next(struct debug_search *search, const struct debug_wanted *wanted,
			 enum debug_proof *ret_proof);

#endif
