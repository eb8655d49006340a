// SPDX-License-Identifier: GPL-2.0-or-later
#include "cfi/frame_lookup.h"

#include <elf.h>
#include <errno.h>

#include "base/own.h"
#include "cfi/eh_pointer.h"

/* Searches for which the table is not worth loading: each reads some ten pages of it. */
#define FEW 16

/* Bytes: of an FDE up to its first instructions, and the most of a CIE. */
#define FDE_PIECE 64
#define CIE_PIECE 256

/* Reads up to `size` bytes at an address of the file. Returns how many, 0 on failure. */
static size_t read_at(const struct elf_file *elf, uint64_t address, void *bytes, size_t size)
{
	for (uint32_t i = 0; i < elf->n_segments; i++) {
		const struct elf_segment *segment = &elf->segments[i];
		uint64_t at = address - segment->address;

		if (segment->type != PT_LOAD || address < segment->address ||
		    at >= segment->file_size)
			continue;
		if (size > segment->file_size - at)
			size = segment->file_size - at;
		return elf_file_read(elf, segment->offset + at, bytes, size) ? 0 : size;
	}
	return 0;
}

static int read_all(struct frame_lookup *lookup, const struct code_view *code)
{
	own(code_ranges_free) struct code_ranges more = { 0 };
	struct unwind_counts counts = { 0 };
	struct frame_bytes section = { 0 };
	int r = frame_sections_eh(lookup->elf, &section);

	if (r == 0)
		r = call_frames_read(&lookup->frames, true, &section, code, &more, &counts);
	if (r == 0)
		r = code_ranges_merge(&lookup->ranges, &more, &counts.overlaps);
	return r == -ENOMEM ? r : 0;
}

int frame_lookup_open(struct frame_lookup *lookup, const struct code_view *code, size_t n)
{
	*lookup = (struct frame_lookup){ .elf = code->elf };
	if (frame_header_open(lookup->elf, &lookup->header) && lookup->header.n)
		return n < FEW ? 0 : frame_header_load(&lookup->header);
	lookup->header.n = 0;
	return read_all(lookup, code);
}

void frame_lookup_close(struct frame_lookup *lookup)
{
	frame_header_close(&lookup->header);
	call_frames_free(&lookup->frames);
	code_ranges_free(&lookup->ranges);
}

static bool load_cie(struct frame_lookup *lookup, uint64_t address)
{
	uint8_t bytes[CIE_PIECE];
	struct frame_bytes piece = { .bytes = bytes, .address = address };

	if (address == lookup->cie_address)
		return lookup->cie.usable;
	piece.size = read_at(lookup->elf, address, bytes, sizeof(bytes));
	lookup->cie_address = address;
	lookup->cie = call_frames_cie(&piece, cfi_machine_of(lookup->elf->machine));
	return lookup->cie.usable;
}

/* An FDE of .eh_frame (LSB, 10.6.1.1). */
static bool read_fde(struct frame_lookup *lookup, uint64_t address,
		     struct frame_function *ret_function)
{
	uint8_t bytes[FDE_PIECE], encoding;
	size_t size = read_at(lookup->elf, address, bytes, sizeof(bytes));
	struct byte_reader reader = { .at = bytes, .end = bytes + size };
	uint32_t length = read_u32(&reader), id = read_u32(&reader);
	uint64_t n;

	if (reader.failed || length < sizeof(id) || length == UINT32_MAX || !id ||
	    !load_cie(lookup, address + sizeof(length) - id))
		return false;
	if (length + sizeof(length) < size)
		reader.end = bytes + length + sizeof(length);
	encoding = lookup->cie.frame.address_encoding;
	if ((encoding & EH_PE_INDIRECT) ||
	    !eh_pointer_read(&reader, encoding, address + (uint64_t)(reader.at - bytes),
			     &ret_function->begin) ||
	    !eh_pointer_read(&reader, EH_PE_FORMAT(encoding), 0, &n) ||
	    n > UINT64_MAX - ret_function->begin)
		return false;
	if (lookup->cie.has_augmentation)
		bytes_skip(&reader, read_uleb(&reader));
	ret_function->end = ret_function->begin + n;
	ret_function->is_part = !reader.failed && !lookup->cie.frame.is_signal &&
				call_frames_begin_within(reader.at, bytes_left(&reader));
	return true;
}

static bool find_in_ranges(const struct frame_lookup *lookup, uint64_t address,
			   struct frame_function *ret_function)
{
	const struct code_ranges *list = &lookup->ranges;
	uint32_t at = address <= UINT32_MAX ? code_ranges_above(list, (uint32_t)address) : list->n;
	bool contained = at < list->n && list->ranges[at].begin <= address;
	const struct code_range *range;

	if (!contained && at == 0)
		return false;
	range = &list->ranges[contained ? at : at - 1];
	ret_function->begin = range->begin;
	ret_function->end = range->end;
	ret_function->is_part =
		!lookup->frames.cies[range->context].frame.is_signal &&
		call_frames_begin_within(lookup->frames.bytes + range->program, range->size);
	return contained;
}

bool frame_lookup_find(struct frame_lookup *lookup, uint64_t address,
		       struct frame_function *ret_function)
{
	struct frame_header_entry entry;

	*ret_function = (struct frame_function){ 0 };
	if (!lookup->header.n)
		return find_in_ranges(lookup, address, ret_function);
	if (!frame_header_find(&lookup->header, address, &entry) ||
	    !read_fde(lookup, entry.fde, ret_function) || ret_function->begin != entry.begin) {
		*ret_function = (struct frame_function){ 0 };
		return false;
	}
	return address < ret_function->end;
}
