// SPDX-License-Identifier: GPL-2.0-or-later
#include "interpreters/cold_part.h"

#include <errno.h>
#include <string.h>

#include "elf/elf_exports.h"

#define FUNCTION_MAX 65536

/*
 * The target of a jump with 32 bits of displacement, `jmp` or a conditional one, that may begin at
 * a byte; 0: none does. Bytes of other instructions may look like a jump, so the caller also asks
 * whether the target has call frame information of its own.
 */
static uint64_t target_of(const uint8_t *code, uint64_t at, uint64_t size, uint64_t address)
{
	int32_t displacement;

	if (at + 6 > size)
		return 0;
	if (code[at] == 0x0f && (code[at + 1] & 0xf0) == 0x80)
		at += 2;
	else if (code[at] == 0xe9)
		at += 1;
	else
		return 0;
	memcpy(&displacement, code + at, sizeof(displacement));
	return address + at + sizeof(displacement) + (uint64_t)(int64_t)displacement;
}

int cold_part_find(const struct elf_file *elf, uint64_t function, uint64_t size,
		   struct frame_function *ret_part)
{
	struct frame_function largest = { 0 };
	uint8_t code[FUNCTION_MAX];
	struct frame_lookup frames;
	struct code_view view;
	int r;

	if (size > sizeof(code))
		return -ENODATA;
	r = elf_exports_read(elf, function, code, (size_t)size);
	if (r < 0)
		return r;
	code_view_open(&view, elf, UINT32_MAX);
	r = frame_lookup_open(&frames, &view, (size_t)size);
	for (uint64_t at = 0; r == 0 && at < size; at++) {
		uint64_t target = target_of(code, at, size, function);
		struct frame_function found;

		if (!target || target - function < size ||
		    (target >= largest.begin && target < largest.end) ||
		    !frame_lookup_find(&frames, target, &found) || !found.is_part)
			continue;
		if (found.end - found.begin > largest.end - largest.begin)
			largest = found;
	}
	frame_lookup_close(&frames);
	if (r == 0 && !largest.end)
		r = -ENODATA;
	if (r == 0)
		*ret_part = largest;
	return r;
}
