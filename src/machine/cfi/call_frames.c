// SPDX-License-Identifier: GPL-2.0-or-later
#include "cfi/call_frames.h"

#include <errno.h>
#include <string.h>

#include "base/grow.h"
#include "base/own.h"
#include "base/partition.h"
#include "cfi/code_bytes.h"
#include "cfi/eh_pointer.h"

#define MAX_CIES	 (1u << 18)
#define MAX_AUGMENTATION 16

/* Call frame instructions (DWARF 5, 7.24); the two upper bits of ADVANCE_LOC are its code. */
#define CFA_NOP		0x00
#define CFA_ADVANCE_4	0x04
#define CFA_UNDEFINED	0x07
#define CFA_ADVANCE_LOC 0x1

struct frame_entry {
	uint64_t offset; /* of its length field */
	bool is_cie;
	uint64_t cie;		  /* of an FDE: the offset of its CIE */
	struct byte_reader bytes; /* behind the id */
};

void call_frames_free(struct call_frames *frames)
{
	free(frames->bytes);
	free(frames->cies);
	*frames = (struct call_frames){ 0 };
}

/*
 * The entry at `*offset`, which moves behind it. 1; 0 at the end; -EBADMSG: it is longer than the
 * section, where reading ends. Terminators (length 0) are skipped: they occur within sections, too.
 */
static int next_entry(const struct call_frames *frames, uint64_t *offset, struct frame_entry *entry)
{
	struct byte_reader reader = { .at = frames->bytes + *offset,
				      .end = frames->bytes + frames->size };
	const uint8_t *id_at;
	uint64_t length, id;
	bool is_64 = false;

	do {
		if (bytes_left(&reader) < 4)
			return bytes_left(&reader) ? -EBADMSG : 0;
		entry->offset = (uint64_t)(reader.at - frames->bytes);
		length = read_u32(&reader);
	} while (!length);
	if (length == UINT32_MAX) {
		length = read_u64(&reader);
		is_64 = true;
	}
	if (reader.failed || length > bytes_left(&reader))
		return -EBADMSG;
	entry->bytes = (struct byte_reader){ .at = reader.at, .end = reader.at + length };
	*offset = (uint64_t)(entry->bytes.end - frames->bytes);
	id_at = reader.at;
	id = is_64 && !frames->is_eh ? read_u64(&entry->bytes) : read_u32(&entry->bytes);
	if (frames->is_eh) {
		entry->is_cie = id == 0;
		/* Relative to the id; an offset outside of the section is no CIE's. */
		entry->cie = (uint64_t)(id_at - frames->bytes) - id;
	} else {
		entry->is_cie = id == (is_64 ? UINT64_MAX : UINT32_MAX);
		entry->cie = id;
	}
	return 1;
}

static uint64_t address_of(const struct call_frames *frames, const uint8_t *at)
{
	return frames->address + (uint64_t)(at - frames->bytes);
}

/* Reads what the letters of an augmentation announce. False: an unknown letter, or malformed. */
static bool read_augmentation(const char *letters, struct byte_reader *bytes, struct frame_cie *cie)
{
	uint64_t pointer;
	uint8_t encoding;

	for (; *letters; letters++) {
		switch (*letters) {
		case 'R':
			cie->frame.address_encoding = read_u8(bytes);
			break;
		case 'P':
			encoding = read_u8(bytes);
			if (encoding == EH_PE_OMIT)
				break;
			/* The personality routine is skipped. */
			if (!eh_pointer_read(bytes, EH_PE_FORMAT(encoding), 0, &pointer))
				return false;
			break;
		case 'L':
			read_u8(bytes);
			break;
		case 'S':
			cie->frame.is_signal = true;
			break;
		case 'B': /* pointer authentication and memory tagging: nothing to read */
		case 'G':
			break;
		default:
			return false;
		}
	}
	return !bytes->failed;
}

static bool parse_cie(const struct call_frames *frames, struct byte_reader bytes,
		      struct frame_cie *cie)
{
	uint8_t version = read_u8(&bytes), address_size = 8;
	const char *augmentation = (const char *)bytes.at;
	size_t length = strnlen(augmentation, bytes_left(&bytes));
	struct byte_reader data;

	if (length == bytes_left(&bytes) || length > MAX_AUGMENTATION ||
	    (version != 1 && version != 3 && version != 4))
		return false;
	bytes_skip(&bytes, length + 1);
	if (strcmp(augmentation, "eh") == 0)
		bytes_skip(&bytes, 8); /* a pointer to GCC 2's exception tables */
	if (version == 4) {
		address_size = read_u8(&bytes);
		cie->segment_size = read_u8(&bytes);
	}
	cie->frame.machine = frames->machine;
	cie->frame.code_align = read_uleb(&bytes);
	cie->frame.data_align = read_sleb(&bytes);
	cie->frame.ra_register = version == 1 ? read_u8(&bytes) : read_uleb(&bytes);
	if (bytes.failed || address_size != 8 || cie->segment_size > 8 || !cie->frame.code_align ||
	    cie->frame.code_align > 255)
		return false;
	if (augmentation[0] == 'z') {
		uint64_t size = read_uleb(&bytes);

		data.at = bytes_skip(&bytes, size);
		data.end = bytes.at;
		data.failed = bytes.failed;
		cie->has_augmentation = true;
		if (data.failed || !read_augmentation(augmentation + 1, &data, cie))
			return false;
	} else if (augmentation[0] && strcmp(augmentation, "eh") != 0) {
		return false;
	}
	struct cfi_program program = { .bytes = bytes, .address = address_of(frames, bytes.at) };

	return cfi_program_begin(&cie->frame, &program);
}

struct frame_cie call_frames_cie(const struct frame_bytes *bytes, const struct cfi_machine *machine)
{
	const struct call_frames frames = { .is_eh = true,
					    .machine = machine,
					    .bytes = bytes->bytes,
					    .size = bytes->size,
					    .address = bytes->address };
	struct frame_cie cie = { 0 };
	struct frame_entry entry;
	uint64_t offset = 0;

	cie.usable = next_entry(&frames, &offset, &entry) > 0 && entry.is_cie &&
		     entry.offset == 0 && parse_cie(&frames, entry.bytes, &cie);
	return cie;
}

static int add_cie(struct call_frames *frames, const struct frame_entry *entry)
{
	struct frame_cie *cie;
	int r;

	if (frames->n_cies == MAX_CIES)
		return -EFBIG;
	r = grow(&frames->cies, &frames->capacity, frames->n_cies + 1);
	if (r < 0)
		return r;
	cie = &frames->cies[frames->n_cies++];
	*cie = (struct frame_cie){ .offset = entry->offset };
	cie->usable = parse_cie(frames, entry->bytes, cie);
	return 0;
}

/* The CIE at the offset, mostly `last`, that of the FDE before; or NULL. */
static const struct frame_cie *find_cie(const struct call_frames *frames, uint64_t offset,
					const struct frame_cie *last)
{
	size_t at;

	if (last && last->offset == offset)
		return last;
	at = partition_point(i, frames->n_cies, frames->cies[i].offset < offset);
	return at < frames->n_cies && frames->cies[at].offset == offset ? &frames->cies[at] : NULL;
}

bool call_frames_begin_within(const uint8_t *instructions, size_t size)
{
	uint8_t first = size ? instructions[0] : CFA_NOP;

	return first >> 6 != CFA_ADVANCE_LOC && first > CFA_ADVANCE_4 && first != CFA_UNDEFINED;
}

static bool begins_signal_return(const struct code_view *code, uint64_t address,
				 const struct cfi_machine *machine)
{
	uint8_t bytes[9];
	size_t size = code_view_read(code, address, bytes, sizeof(bytes));

	return size >= 8 && (code_matches(bytes, size, machine->signal_returns[0]) ||
			     code_matches(bytes, size, machine->signal_returns[1]));
}

/*
 * Augmentation S says that the frame's return address was interrupted. OCaml's runtime marks so its
 * functions that switch stacks, which are called, because debuggers then allow the caller's frame
 * to be anywhere. A call leaves its frame to be set up; a signal has set it up.
 */
static enum frame_kind kind_of(const struct frame_cie *cie, const struct byte_reader *instructions,
			       const struct code_view *code, uint64_t begin)
{
	const struct cfi_machine *machine = cie->frame.machine;

	if (!cie->frame.is_signal)
		return FRAME_CALLED;
	if (begins_signal_return(code, begin, machine) ||
	    begins_signal_return(code, begin + machine->code_align, machine))
		return FRAME_SIGNAL_RETURN;
	return call_frames_begin_within(instructions->at, bytes_left(instructions))
		       ? FRAME_INTERRUPTED
		       : FRAME_CALLED;
}

static int add_fde(const struct call_frames *frames, const struct frame_cie *cie,
		   struct byte_reader bytes, const struct code_view *code,
		   struct code_ranges *ranges, struct unwind_counts *counts)
{
	uint8_t encoding = cie->frame.address_encoding;
	const struct code_segment *segment;
	enum frame_kind kind;
	uint64_t begin, size;
	struct code_range range;

	bytes_skip(&bytes, cie->segment_size);
	if ((encoding & EH_PE_INDIRECT) ||
	    !eh_pointer_read(&bytes, encoding, address_of(frames, bytes.at), &begin) ||
	    !eh_pointer_read(&bytes, EH_PE_FORMAT(encoding), 0, &size)) {
		counts->malformed++;
		return 0;
	}
	if (cie->has_augmentation)
		bytes_skip(&bytes, read_uleb(&bytes));
	if (bytes.failed) {
		counts->malformed++;
		return 0;
	}
	segment = code_view_segment(code, begin);
	if (!segment) { /* it may be an address of the file as it was */
		begin -= code->elf->lowered;
		segment = code_view_segment(code, begin);
	}
	/* Linkers set .debug_frame's addresses of discarded code to 0. */
	if (!segment || begin > UINT32_MAX || !size || (!begin && !frames->is_eh)) {
		counts->outside++;
		return 0;
	}
	if (size > segment->end - begin)
		size = segment->end - begin;
	if (size > UINT32_MAX - begin)
		size = UINT32_MAX - begin;
	kind = kind_of(cie, &bytes, code, begin);
	/* A walk looks up the byte before a return address; no call is before this code. */
	if ((kind == FRAME_SIGNAL_RETURN &&
	     begins_signal_return(code, begin, cie->frame.machine)) ||
	    kind == FRAME_INTERRUPTED) {
		size += begin > segment->begin;
		begin -= begin > segment->begin;
	}
	range = (struct code_range){ .begin = (uint32_t)begin,
				     .end = (uint32_t)(begin + size),
				     .context = (uint32_t)(cie - frames->cies),
				     .program = (uint32_t)(bytes.at - frames->bytes),
				     .size = (uint32_t)bytes_left(&bytes),
				     .kind = (uint16_t)kind,
				     .source =
					     frames->is_eh ? UNWIND_EH_FRAME : UNWIND_DEBUG_FRAME };
	return code_ranges_add(ranges, &range);
}

static int read_cies(struct call_frames *frames, struct unwind_counts *counts)
{
	struct frame_entry entry;
	uint64_t offset = 0;
	int r;

	while ((r = next_entry(frames, &offset, &entry)) > 0) {
		if (!entry.is_cie)
			continue;
		r = add_cie(frames, &entry);
		if (r < 0)
			return r;
	}
	if (r < 0)
		counts->malformed++;
	return 0;
}

int call_frames_read(struct call_frames *frames, bool is_eh, const struct frame_bytes *section,
		     const struct code_view *code, struct code_ranges *ranges,
		     struct unwind_counts *counts)
{
	const struct frame_cie *cie = NULL;
	struct frame_entry entry;
	uint64_t offset = 0;
	int r;

	*frames = (struct call_frames){ .is_eh = is_eh,
					.machine = cfi_machine_of(code->elf->machine),
					.bytes = section->bytes,
					.size = section->size,
					.address = section->address };
	if (section->size > UINT32_MAX)
		return -EFBIG;
	r = read_cies(frames, counts);
	if (r < 0)
		return r;
	while (next_entry(frames, &offset, &entry) > 0) {
		if (entry.is_cie)
			continue;
		cie = find_cie(frames, entry.cie, cie);
		if (!cie || !cie->usable) {
			counts->malformed++;
			continue;
		}
		r = add_fde(frames, cie, entry.bytes, code, ranges, counts);
		if (r < 0)
			return r;
	}
	return 0;
}

static struct cfi_program program_of(const struct call_frames *frames,
				     const struct code_range *range)
{
	const uint8_t *at = frames->bytes + range->program;

	return (struct cfi_program){ .bytes = { .at = at, .end = at + range->size },
				     .address = address_of(frames, at),
				     .interrupted = range->kind == FRAME_INTERRUPTED };
}

bool call_frames_is_constant(const struct call_frames *frames, const struct code_range *range,
			     struct wire_rule *ret_rule)
{
	const struct cfi_frame *frame = &frames->cies[range->context].frame;
	const struct cfi_program program = program_of(frames, range);

	return range->kind == FRAME_CALLED &&
	       cfi_program_is_constant(frame, &program, range->begin, range->end, ret_rule);
}

int call_frames_rows(const struct call_frames *frames, const struct code_range *range,
		     struct row_writer *writer)
{
	const struct cfi_frame *frame = &frames->cies[range->context].frame;
	const struct cfi_program program = program_of(frames, range);
	const struct wire_rule signal_return = { .cfa = WIRE_CFA_SP, .ra = WIRE_RA_SIGNAL };
	int r;

	if (range->kind != FRAME_SIGNAL_RETURN)
		return cfi_program_rows(frame, &program, range->begin, range->end, writer);
	r = row_writer_reserve(writer, 1);
	if (r == 0)
		row_writer_put_rule(writer, range->begin, &signal_return);
	return r;
}
