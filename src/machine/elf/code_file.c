// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/code_file.h"

#include <errno.h>
#include <string.h>

#include "arch/machine.h"

int code_file_open(int fd, const char *path, struct elf_file **ret_elf, struct error *err)
{
	own(own_elf_file_close) struct elf_file *elf = NULL;
	int r = elf_file_open(fd, &elf);

	if (r == -ENOEXEC)
		return error_set(err, r, "%.500s is not an ELF file", path);
	if (r < 0)
		return error_set(err, r, "cannot read %.500s: %s", path, strerror(-r));
	if (elf->machine != ARCH_ELF && elf->machine != ARCH_ELF_32)
		return error_set(err, -ENOEXEC, "%.500s is for another kind of machine", path);
	if (elf->type != ET_DYN && elf->type != ET_EXEC)
		return error_set(err, -ENOEXEC, "%.500s is neither a program nor a shared library",
				 path);
	*ret_elf = take_ptr(elf);
	return 0;
}

bool code_file_offset(const struct elf_file *elf, uint64_t address, bool executable,
		      uint64_t *ret_offset)
{
	for (uint32_t i = 0; i < elf->n_segments; i++) {
		const struct elf_segment *segment = &elf->segments[i];
		uint64_t within = address - segment->address;

		if (segment->type != PT_LOAD || address < segment->address ||
		    within >= segment->file_size || (executable && !(segment->flags & PF_X)))
			continue;
		if (segment->offset >= elf->size || within >= elf->size - segment->offset)
			continue;
		*ret_offset = segment->offset + within;
		return true;
	}
	return false;
}
