// SPDX-License-Identifier: GPL-2.0-or-later
#include "interpreters/thread_variable.h"

#include <string.h>

#include "cfi/instruction.h"

/* The 32 bits that an instruction ends with. */
static int32_t last_bits(const uint8_t *end)
{
	int32_t bits;

	memcpy(&bits, end - sizeof(bits), sizeof(bits));
	return bits;
}

/* Whether it is `lea ADDRESS(%rip),%rdi`, with or without a prefix that pads it. */
static bool is_slot(const uint8_t *bytes, uint32_t size)
{
	return size >= 7 && memcmp(bytes + size - 7, "\x48\x8d\x3d", 3) == 0;
}

/* Whether it is `mov %fs:OFFSET,REGISTER`. */
static bool is_own(const uint8_t *bytes, uint32_t size)
{
	return size == 9 && bytes[0] == 0x64 && (bytes[1] & 0xfb) == 0x48 && bytes[2] == 0x8b &&
	       (bytes[3] & 0xc7) == 0x04 && bytes[4] == 0x25;
}

bool thread_variable_find(const uint8_t *bytes, uint32_t size, uint64_t address,
			  struct thread_variable *ret_variable)
{
	bool has_slot = false, called = false;

	ret_variable->slot = 0;
	for (uint32_t at = 0; at < size;) {
		struct instruction is = instruction_decode(bytes + at, size - at);
		const uint8_t *end = bytes + at + is.size;
		bool follows_slot = has_slot;

		if (is.kind == INSTRUCTION_UNKNOWN)
			return false;
		if (!called && is_own(bytes + at, is.size)) {
			ret_variable->slot = 0;
			ret_variable->offset = last_bits(end);
			return true;
		}
		if (called && is.kind == INSTRUCTION_LOAD && is.base == REGISTER_AX) {
			ret_variable->offset = is.offset;
			return is.offset >= 0;
		}
		if (called && is.written & 1 << REGISTER_AX)
			return false;
		at += is.size;
		has_slot = !called && is_slot(end - is.size, is.size);
		if (has_slot)
			ret_variable->slot = address + at + (uint64_t)(int64_t)last_bits(end);
		called |= follows_slot && is.kind == INSTRUCTION_CALL;
	}
	return false;
}
