// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/elf_references.h"

#include <elf.h>
#include <string.h>

#define PIECE 65536u

/* Opcodes of jumps by a byte. */
#define SHORT_JUMP	  0xeb
#define SHORT_CONDITIONAL 0x70 /* to 0x7f */

/* What a piece of a segment may hold that leads to an address. */
struct wanted {
	uint64_t address;
	bool code;	  /* it is in code */
	bool absolute_32; /* addresses may be operands of 32 bits */
};

static bool holds(const uint8_t *bytes, const struct wanted *wanted, uint64_t at)
{
	uint64_t word;
	uint32_t half;

	memcpy(&word, bytes, sizeof(word));
	half = (uint32_t)word;
	if (word == wanted->address || (wanted->absolute_32 && half == wanted->address))
		return true;
	if (!wanted->code)
		return false;
	if ((bytes[0] == SHORT_JUMP || (bytes[0] & 0xf0) == SHORT_CONDITIONAL) && bytes[1] &&
	    at + 2 + (uint64_t)(int64_t)(int8_t)bytes[1] == wanted->address)
		return true;
	/*
	 * The distance from behind it: of a call, a jump, or an operand relative to %rip. Padding
	 * before a function ends with a distance of 0.
	 */
	return half && at + sizeof(half) + (uint64_t)(int64_t)(int32_t)half == wanted->address;
}

static bool segment_leads_to(const struct elf_file *elf, const struct elf_segment *segment,
			     uint64_t address)
{
	const struct wanted wanted = { address, segment->flags & PF_X, elf->type == ET_EXEC };
	uint8_t bytes[PIECE + sizeof(uint64_t)];

	for (uint64_t done = 0; done < segment->file_size; done += PIECE) {
		uint64_t left = segment->file_size - done;
		size_t size = left < sizeof(bytes) ? (size_t)left : sizeof(bytes);

		memset(bytes, 0, sizeof(bytes));
		if (elf_file_read(elf, segment->offset + done, bytes, size) < 0)
			return true;
		for (size_t i = 0; i < PIECE && i < size; i++)
			if (holds(bytes + i, &wanted, segment->address + done + i))
				return true;
	}
	return false;
}

bool elf_may_lead_to(const struct elf_file *elf, uint64_t address)
{
	uint64_t sum = 0;

	if (elf->machine != EM_X86_64 || !elf->is_64 || elf->entry == address || elf->lowered)
		return true;
	for (uint32_t i = 0; i < elf->n_segments; i++) {
		const struct elf_segment *segment = &elf->segments[i];

		if (segment->type != PT_LOAD)
			continue;
		if (segment->file_size > ELF_REFERENCES_MAX - sum)
			return true;
		sum += segment->file_size;
	}
	for (uint32_t i = 0; i < elf->n_segments; i++)
		if (elf->segments[i].type == PT_LOAD &&
		    segment_leads_to(elf, &elf->segments[i], address))
			return true;
	return sum == 0;
}
