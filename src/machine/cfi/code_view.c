// SPDX-License-Identifier: GPL-2.0-or-later
#include "cfi/code_view.h"

#include <elf.h>

void code_view_open(struct code_view *code, const struct elf_file *elf, uint64_t limit)
{
	code->elf = elf;
	code->n = 0;
	for (uint32_t i = 0; i < elf->n_segments && code->n < CODE_MAX_SEGMENTS; i++) {
		const struct elf_segment *segment = &elf->segments[i];
		struct code_segment *to = &code->segments[code->n];

		if (segment->type != PT_LOAD || !(segment->flags & PF_X) || !segment->memory_size ||
		    segment->address > limit || segment->memory_size > limit - segment->address)
			continue;
		*to = (struct code_segment){ .begin = segment->address,
					     .end = segment->address + segment->memory_size,
					     .offset = segment->offset,
					     .file_size = segment->file_size };
		code->n++;
	}
}

const struct code_segment *code_view_segment(const struct code_view *code, uint64_t address)
{
	for (uint32_t i = 0; i < code->n; i++) {
		if (address >= code->segments[i].begin && address < code->segments[i].end)
			return &code->segments[i];
	}
	return NULL;
}

size_t code_view_read(const struct code_view *code, uint64_t address, uint8_t *bytes, size_t size)
{
	const struct code_segment *segment = code_view_segment(code, address);
	uint64_t at = segment ? address - segment->begin : 0;

	if (!segment || at >= segment->file_size)
		return 0;
	if (size > segment->file_size - at)
		size = segment->file_size - at;
	if (segment->offset > UINT64_MAX - at ||
	    elf_file_read(code->elf, segment->offset + at, bytes, size))
		return 0;
	return size;
}
