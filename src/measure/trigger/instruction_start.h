/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether an instruction begins at a place in a function. A user probe writes a breakpoint over the
 * first byte of an instruction; in the middle of one it would make another instruction of it, and
 * the program would crash or go wrong. So a place is decoded up to, from where an instruction is
 * known to begin, and is refused where that is not possible. Must not know: files, names.
 */
#ifndef STACKTALLY_TRIGGER_INSTRUCTION_START_H
#define STACKTALLY_TRIGGER_INSTRUCTION_START_H

#include <stddef.h>
#include <stdint.h>

enum instruction_at {
	INSTRUCTION_AT_START,
	INSTRUCTION_AT_MIDDLE,	/* *ret_before and *ret_behind are the instructions around it */
	INSTRUCTION_AT_UNKNOWN, /* the code before it cannot be decoded, or leads into its middle */
};

/*
 * `machine`: of the ELF header. `code` begins with an instruction and has `size` bytes, more than
 * `at`; the offsets are in it.
 */
enum instruction_at instruction_start_check(uint16_t machine, const uint8_t *code, size_t size,
					    size_t at, size_t *ret_before, size_t *ret_behind);

#endif
