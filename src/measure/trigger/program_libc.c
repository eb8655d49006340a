// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/program_libc.h"

#include <elf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "elf/elf_file.h"
#include "trigger/library.h"

#define USUAL_LIBC "c"

/* The path of the program's dynamic linker; "": it has none. False: it is damaged. */
static bool linker_of(const struct elf_file *elf, char ret_path[PATH_MAX])
{
	*ret_path = '\0';
	for (uint32_t i = 0; i < elf->n_segments; i++) {
		const struct elf_segment *segment = &elf->segments[i];

		if (segment->type != PT_INTERP)
			continue;
		if (segment->file_size == 0 || segment->file_size >= PATH_MAX ||
		    elf_file_read(elf, segment->offset, ret_path, segment->file_size) < 0)
			return false;
		ret_path[segment->file_size] = '\0';
		return *ret_path != '\0';
	}
	return true;
}

/* A path that a pattern can have between its colons. */
static char *name_of(const char *path)
{
	char full[PATH_MAX];

	return strdup(realpath(path, full) && !strchr(full, ':') ? full : USUAL_LIBC);
}

char *program_libc(const char *program)
{
	own(library_clear) struct library file = { .fd = -1 };
	own(own_elf_file_close) struct elf_file *elf = NULL;
	char linker[PATH_MAX];

	if (library_find_program(program, &file) < 0 || elf_file_open_segments(file.fd, &elf) < 0 ||
	    !linker_of(elf, linker))
		return strdup(USUAL_LIBC);
	if (!*linker)
		return name_of(file.path);
	return library_name_fits(linker, USUAL_LIBC) ? name_of(linker) : strdup(USUAL_LIBC);
}
