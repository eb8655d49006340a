// SPDX-License-Identifier: GPL-2.0-or-later
#include "cfi/frame_lookup.h"

#include <elf.h>
#include <errno.h>

#include "base/own.h"
#include "cfi/eh_pointer.h"
#include "cfi/row_writer.h"

/* Searches for which the table is not worth loading: each reads some ten pages of it. */
#define FEW 16

/* Bytes: of an FDE that are read, most of which have some 60, and the most of a CIE. */
#define FDE_PIECE 256
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

/* An FDE: the function, and its instructions as far as they were read. */
struct fde {
	struct frame_function function;
	struct byte_reader instructions;
	uint64_t address; /* of the instructions */
	bool whole;	  /* all of them were read */
	uint8_t bytes[FDE_PIECE];
};

/* An FDE of .eh_frame (LSB, 10.6.1.1). */
static bool read_fde(struct frame_lookup *lookup, uint64_t address, struct fde *fde)
{
	struct frame_function *function = &fde->function;
	uint8_t *bytes = fde->bytes, encoding;
	size_t size = read_at(lookup->elf, address, bytes, sizeof(fde->bytes));
	struct byte_reader reader = { .at = bytes, .end = bytes + size };
	uint32_t length = read_u32(&reader), id = read_u32(&reader);
	uint64_t n;

	if (reader.failed || length < sizeof(id) || length == UINT32_MAX || !id ||
	    !load_cie(lookup, address + sizeof(length) - id))
		return false;
	fde->whole = length + sizeof(length) <= size;
	if (fde->whole)
		reader.end = bytes + length + sizeof(length);
	encoding = lookup->cie.frame.address_encoding;
	if ((encoding & EH_PE_INDIRECT) ||
	    !eh_pointer_read(&reader, encoding, address + (uint64_t)(reader.at - bytes),
			     &function->begin) ||
	    !eh_pointer_read(&reader, EH_PE_FORMAT(encoding), 0, &n) ||
	    n > UINT64_MAX - function->begin)
		return false;
	if (lookup->cie.has_augmentation)
		bytes_skip(&reader, read_uleb(&reader));
	function->end = function->begin + n;
	function->is_part = !reader.failed && !lookup->cie.frame.is_signal &&
			    call_frames_begin_within(reader.at, bytes_left(&reader));
	fde->instructions = reader;
	fde->address = address + (uint64_t)(reader.at - bytes);
	return true;
}

/* The FDE of the last function that begins at or before an address. */
static bool find_fde(struct frame_lookup *lookup, uint64_t address, struct fde *fde)
{
	struct frame_header_entry entry;

	return frame_header_find(&lookup->header, address, &entry) &&
	       read_fde(lookup, entry.fde, fde) && fde->function.begin == entry.begin;
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
	struct fde fde = { 0 };

	*ret_function = (struct frame_function){ 0 };
	if (!lookup->header.n)
		return find_in_ranges(lookup, address, ret_function);
	if (!find_fde(lookup, address, &fde))
		return false;
	*ret_function = fde.function;
	return address < ret_function->end;
}

/* Writes the rows of the function with an address. False: see frame_lookup_rule(). */
static bool write_rows(struct frame_lookup *lookup, uint64_t address, struct row_writer *writer)
{
	const struct code_ranges *list = &lookup->ranges;
	struct cfi_program program = { 0 };
	struct fde fde = { 0 };
	uint32_t at;

	if (!lookup->header.n) {
		at = code_ranges_above(list, (uint32_t)address);
		return at < list->n && list->ranges[at].begin <= address &&
		       call_frames_rows(&lookup->frames, &list->ranges[at], writer) == 0;
	}
	if (!find_fde(lookup, address, &fde) || address >= fde.function.end ||
	    fde.function.end > UINT32_MAX || !fde.whole || fde.instructions.failed)
		return false;
	program.bytes = fde.instructions;
	program.address = fde.address;
	return cfi_program_rows(&lookup->cie.frame, &program, (uint32_t)fde.function.begin,
				(uint32_t)fde.function.end, writer) == 0;
}

bool frame_lookup_rule(struct frame_lookup *lookup, uint64_t address, struct wire_rule *ret_rule)
{
	own(own_rule_table_free) struct rule_table *rules = NULL;
	struct row_writer writer = { 0 };
	uint16_t number = RULE_GAP;
	uint32_t n;

	if (address > UINT32_MAX || rule_table_new(&rules) < 0 ||
	    row_writer_open(&writer, rules) < 0)
		return false;
	if (write_rows(lookup, address, &writer))
		for (uint32_t i = 0; i < writer.n && writer.rows[i].address <= address; i++)
			number = writer.rows[i].rule;
	row_writer_close(&writer);
	*ret_rule = rule_table_rules(rules, &n)[number];
	return number != RULE_GAP && number != RULE_FULL;
}
