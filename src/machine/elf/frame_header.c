// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/frame_header.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/partition.h"

/* DW_EH_PE_pcrel | DW_EH_PE_sdata4, DW_EH_PE_udata4, DW_EH_PE_datarel | DW_EH_PE_sdata4 */
#define FRAME_POINTER_ENCODING 0x1b
#define COUNT_ENCODING	       0x03
#define TABLE_ENCODING	       0x3b

/* Bytes of a table that is loaded: several times what the largest programs have. */
#define LOADED_MAX (16u << 20)

struct header {
	uint8_t version, frame_pointer_encoding, count_encoding, table_encoding;
	int32_t frame_pointer;
	uint32_t count;
};

/* Both relative to the address of the header. */
struct entry {
	int32_t begin, fde;
};

static bool read_entry(const struct frame_header *header, uint64_t i, struct entry *ret_entry)
{
	uint64_t at = sizeof(struct header) + i * sizeof(*ret_entry);

	if (header->entries) {
		*ret_entry = ((const struct entry *)header->entries)[i];
		return true;
	}
	return elf_file_read(header->elf, header->segment->offset + at, ret_entry,
			     sizeof(*ret_entry)) == 0;
}

static uint64_t begin_of(const struct frame_header *header, uint64_t i)
{
	struct entry entry;

	if (!read_entry(header, i, &entry))
		return UINT64_MAX;
	return header->segment->address + (uint64_t)(int64_t)entry.begin;
}

bool frame_header_open(const struct elf_file *elf, struct frame_header *ret_header)
{
	const struct elf_segment *segment = NULL;
	struct header header;
	uint64_t n;

	for (uint32_t i = 0; i < elf->n_segments && !segment; i++)
		segment = elf->segments[i].type == PT_GNU_EH_FRAME ? &elf->segments[i] : NULL;
	if (!segment || segment->file_size < sizeof(header) ||
	    elf_file_read(elf, segment->offset, &header, sizeof(header)) || header.version != 1 ||
	    header.frame_pointer_encoding != FRAME_POINTER_ENCODING ||
	    header.count_encoding != COUNT_ENCODING || header.table_encoding != TABLE_ENCODING)
		return false;
	n = (segment->file_size - sizeof(header)) / sizeof(struct entry);
	*ret_header = (struct frame_header){ .elf = elf,
					     .segment = segment,
					     .n = header.count < n ? header.count : n };
	return true;
}

int frame_header_load(struct frame_header *header)
{
	size_t size = header->n * sizeof(struct entry);

	if (!size || size > LOADED_MAX)
		return 0;
	header->entries = malloc(size);
	if (!header->entries)
		return -ENOMEM;
	if (elf_file_read(header->elf, header->segment->offset + sizeof(struct header),
			  header->entries, size))
		frame_header_close(header);
	return 0;
}

void frame_header_close(struct frame_header *header)
{
	free(header->entries);
	header->entries = NULL;
}

bool frame_header_find(const struct frame_header *header, uint64_t address,
		       struct frame_header_entry *ret_entry)
{
	uint64_t above = partition_point(i, header->n, begin_of(header, i) <= address);
	struct entry entry;

	if (!above || !read_entry(header, above - 1, &entry))
		return false;
	ret_entry->begin = header->segment->address + (uint64_t)(int64_t)entry.begin;
	ret_entry->fde = header->segment->address + (uint64_t)(int64_t)entry.fde;
	return true;
}

bool frame_header_begins_at(const struct elf_file *elf, uint64_t address)
{
	struct frame_header header;
	struct frame_header_entry entry;

	return frame_header_open(elf, &header) && frame_header_find(&header, address, &entry) &&
	       entry.begin == address;
}
