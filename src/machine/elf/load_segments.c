// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/load_segments.h"

#include <elf.h>

#define PAGE 4096u

static void take(const struct elf_file *elf, struct load_segments *ret_segments)
{
	*ret_segments = (struct load_segments){ 0 };
	for (uint32_t i = 0; i < elf->n_segments && ret_segments->n < MAX_LOAD_SEGMENTS; i++) {
		const struct elf_segment *segment = &elf->segments[i];

		if (segment->type != PT_LOAD || segment->memory_size == 0)
			continue;
		ret_segments->at[ret_segments->n++] = (struct load_segment){
			.offset = segment->offset,
			.size = segment->file_size,
			.memory = segment->memory_size > segment->file_size ? segment->memory_size
									    : segment->file_size,
			.address = segment->address,
			.executable = segment->flags & PF_X,
		};
	}
}

int load_segments_read(int fd, struct load_segments *ret_segments)
{
	own(own_elf_file_close) struct elf_file *elf = NULL;
	int r = elf_file_open_segments(fd, &elf);

	if (r < 0)
		return r;
	take(elf, ret_segments);
	return 0;
}

int load_segments_read_memory(const void *bytes, size_t size, struct load_segments *ret_segments)
{
	own(own_elf_file_close) struct elf_file *elf = NULL;
	int r = elf_file_open_memory(bytes, size, &elf);

	if (r < 0)
		return r;
	take(elf, ret_segments);
	return 0;
}

/* What to subtract; 0: nothing. */
static uint64_t excess(const struct load_segments *segments)
{
	uint64_t lowest = UINT64_MAX, highest = 0;

	for (uint32_t i = 0; i < segments->n; i++) {
		const struct load_segment *segment = &segments->at[i];

		lowest = segment->address < lowest ? segment->address : lowest;
		highest = segment->address > highest ? segment->address : highest;
	}
	return highest > UINT32_MAX ? lowest / PAGE * PAGE : 0;
}

uint64_t load_segments_lower(struct load_segments *segments)
{
	uint64_t by = excess(segments);

	for (uint32_t i = 0; i < segments->n; i++)
		segments->at[i].address -= by;
	return by;
}

void load_segments_lower_file(struct elf_file *elf)
{
	struct load_segments segments;
	uint64_t by;

	take(elf, &segments);
	by = excess(&segments);
	elf->lowered = by;
	elf->entry -= by;
	for (uint32_t i = 0; i < elf->n_segments; i++)
		elf->segments[i].address -= by;
	for (uint32_t i = 0; i < elf->n_sections; i++) {
		if (elf->sections[i].flags & SHF_ALLOC)
			elf->sections[i].address -= by;
	}
}

/* Whether the offset is in the pages of the segment: mappings are of whole pages. */
static bool holds(const struct load_segment *segment, uint64_t offset)
{
	return segment->offset / PAGE * PAGE <= offset &&
	       offset - segment->offset / PAGE * PAGE < segment->size + segment->offset % PAGE;
}

bool load_segments_bias(const struct load_segments *segments, uint64_t start, uint64_t offset,
			uint64_t *ret_bias)
{
	const struct load_segment *found = NULL;

	for (uint32_t i = 0; i < segments->n; i++) {
		const struct load_segment *segment = &segments->at[i];

		/* Two segments may share a page of the file: code runs in the executable one. */
		if (holds(segment, offset) && (!found || !found->executable || segment->executable))
			found = segment;
	}
	if (!found)
		return false;
	*ret_bias = start - offset + found->offset - found->address;
	return true;
}
