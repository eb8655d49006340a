/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The libraries that the dynamic linker will load for an ELF file: DT_NEEDED, and the directories
 * that the file names for them. The file may be hostile. Must not know: where libraries are.
 */
#ifndef STACKTALLY_ELF_ELF_NEEDED_H
#define STACKTALLY_ELF_ELF_NEEDED_H

#include "elf/elf_file.h"

#define MAX_NEEDED	   16 /* further ones are ignored */
#define NEEDED_NAME	   64 /* bytes with the final NUL; longer ones are ignored */
#define NEEDED_DIRECTORIES 256

struct elf_needed {
	uint32_t n;
	char names[MAX_NEEDED][NEEDED_NAME];
	/* DT_RUNPATH or DT_RPATH: separated by colons; "" if there is none, or it is longer. */
	char directories[NEEDED_DIRECTORIES];
};

/* Sections need not have been read. A file without dynamic linking needs nothing. */
void elf_needed_read(const struct elf_file *elf, struct elf_needed *ret_needed);

#endif
