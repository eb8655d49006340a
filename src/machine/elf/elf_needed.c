// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/elf_needed.h"

#include <elf.h>
#include <string.h>

#include "elf/elf_dynamic.h"

#define MAX_TAGS 1024u

/* The string at an offset of the strings; "" if it does not fit, or is not there. */
static void read_string(const struct elf_file *elf, const struct elf_dynamic *dynamic,
			uint64_t offset, char *ret_text, size_t size)
{
	size_t n = 0;

	while (n < size && elf_dynamic_read(elf, dynamic->strings + offset + n, ret_text + n, 1) &&
	       ret_text[n])
		n++;
	if (n == size || ret_text[n])
		ret_text[0] = '\0';
}

static void take_tag(const struct elf_file *elf, const struct elf_dynamic *dynamic,
		     const Elf64_Dyn *tag, struct elf_needed *needed)
{
	if (tag->d_tag == DT_RUNPATH || tag->d_tag == DT_RPATH) {
		read_string(elf, dynamic, tag->d_un.d_val, needed->directories,
			    sizeof(needed->directories));
	} else if (tag->d_tag == DT_NEEDED && needed->n < MAX_NEEDED) {
		read_string(elf, dynamic, tag->d_un.d_val, needed->names[needed->n], NEEDED_NAME);
		needed->n += needed->names[needed->n][0] != '\0';
	}
}

void elf_needed_read(const struct elf_file *elf, struct elf_needed *ret_needed)
{
	struct elf_dynamic dynamic;

	*ret_needed = (struct elf_needed){ 0 };
	elf_dynamic_find(elf, &dynamic);
	for (uint32_t i = 0; elf->is_64 && dynamic.strings && i < elf->n_segments; i++) {
		const struct elf_segment *segment = &elf->segments[i];
		uint64_t n = segment->file_size / sizeof(Elf64_Dyn);
		Elf64_Dyn tag;

		if (segment->type != PT_DYNAMIC)
			continue;
		for (uint64_t j = 0; j < n && j < MAX_TAGS; j++) {
			if (elf_file_read(elf, segment->offset + j * sizeof(tag), &tag,
					  sizeof(tag)) < 0 ||
			    tag.d_tag == DT_NULL)
				break;
			take_tag(elf, &dynamic, &tag, ret_needed);
		}
	}
}
