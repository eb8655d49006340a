// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/instruction_start.h"

#include <elf.h>
#include <stdbool.h>

#include "cfi/instruction.h"

#define AARCH64_SIZE 4 /* bytes of each instruction */

/* Whether a jump, branch or call at `from` leads into the middle of the instruction at `at`. */
static bool leads_into(const struct instruction *is, size_t from, size_t at, size_t behind)
{
	int64_t target = (int64_t)from + is->size + is->offset;

	return (is->kind == INSTRUCTION_JUMP || is->kind == INSTRUCTION_BRANCH ||
		is->kind == INSTRUCTION_CALL) &&
	       target > (int64_t)at && target < (int64_t)behind;
}

/* A jump into its middle would show that what was decoded are not the instructions that run. */
static bool is_led_into(const uint8_t *code, size_t size, size_t at)
{
	const struct instruction probed = instruction_decode(code + at, size - at);

	for (size_t from = 0; from < size;) {
		const struct instruction is = instruction_decode(code + from, size - from);

		if (is.kind == INSTRUCTION_UNKNOWN)
			return false; /* behind `at`: data, or code that is not known */
		if (leads_into(&is, from, at, at + probed.size))
			return true;
		from += is.size;
	}
	return false;
}

enum instruction_at instruction_start_check(uint16_t machine, const uint8_t *code, size_t size,
					    size_t at, size_t *ret_before, size_t *ret_behind)
{
	size_t next = 0;

	if (at >= size)
		return INSTRUCTION_AT_UNKNOWN;
	if (machine == EM_AARCH64) {
		*ret_before = at - at % AARCH64_SIZE;
		*ret_behind = *ret_before + AARCH64_SIZE;
		return at % AARCH64_SIZE ? INSTRUCTION_AT_MIDDLE : INSTRUCTION_AT_START;
	}
	if (machine != EM_X86_64)
		return INSTRUCTION_AT_UNKNOWN;
	while (next <= at) {
		const struct instruction is = instruction_decode(code + next, size - next);

		if (is.kind == INSTRUCTION_UNKNOWN || is.size == 0 || is.size > size - next)
			return INSTRUCTION_AT_UNKNOWN;
		if (next == at)
			return is_led_into(code, size, at) ? INSTRUCTION_AT_UNKNOWN
							   : INSTRUCTION_AT_START;
		*ret_before = next;
		next += is.size;
		*ret_behind = next;
	}
	return INSTRUCTION_AT_MIDDLE;
}
