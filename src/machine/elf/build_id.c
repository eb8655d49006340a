// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/build_id.h"

#include <elf.h>
#include <string.h>

#define MAX_NOTES 65536u /* bytes that are read of a segment or section */

uint32_t build_id_in_notes(const void *notes, size_t size, uint8_t *ret_id, uint32_t capacity)
{
	const uint8_t *at = notes, *end = at + size;

	while ((size_t)(end - at) >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note; /* the same in both classes */
		size_t left, name, content;

		memcpy(&note, at, sizeof(note));
		at += sizeof(note);
		left = (size_t)(end - at);
		name = ((size_t)note.n_namesz + 3) & ~(size_t)3;
		content = ((size_t)note.n_descsz + 3) & ~(size_t)3;
		if (name > left || note.n_descsz > left - name)
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    memcmp(at, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0 && note.n_descsz > 0 &&
		    note.n_descsz <= capacity) {
			memcpy(ret_id, at + name, note.n_descsz);
			return note.n_descsz;
		}
		if (content > left - name)
			return 0;
		at += name + content;
	}
	return 0;
}

static uint32_t read_notes(const struct elf_file *elf, uint64_t offset, uint64_t size,
			   uint8_t *ret_id, uint32_t capacity)
{
	size_t n = size < MAX_NOTES ? size : MAX_NOTES;
	own(own_free) uint8_t *notes = malloc(n ? n : 1);

	if (!notes || elf_file_read(elf, offset, notes, n) < 0)
		return 0;
	return build_id_in_notes(notes, n, ret_id, capacity);
}

uint32_t build_id_of(const struct elf_file *elf, uint8_t *ret_id, uint32_t capacity)
{
	uint32_t n = 0;

	/* Segments of object files mean nothing. */
	for (uint32_t i = 0; i < elf->n_segments && !n && elf->type != ET_REL; i++) {
		const struct elf_segment *segment = &elf->segments[i];

		if (segment->type == PT_NOTE)
			n = read_notes(elf, segment->offset, segment->file_size, ret_id, capacity);
	}
	for (uint32_t i = 1; i < elf->n_sections && !n; i++) {
		const struct elf_section *section = &elf->sections[i];

		if (section->type == SHT_NOTE)
			n = read_notes(elf, section->offset, section->size, ret_id, capacity);
	}
	return n;
}

int build_id_read(int fd, uint8_t ret_id[BUILD_ID_MAX])
{
	own(own_elf_file_close) struct elf_file *elf = NULL;
	int r = elf_file_open_segments(fd, &elf);

	return r < 0 ? r : (int)build_id_of(elf, ret_id, BUILD_ID_MAX);
}
