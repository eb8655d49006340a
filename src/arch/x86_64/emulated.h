/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The bytes of an instruction, at most `size`. The kernel emulates jumps, calls, pushes of a
 * register (Linux 4.18) and the nop of one byte; it steps a copy of all others, which takes a
 * second exception.
 */
static inline bool arch_emulated(const uint8_t *bytes, size_t size)
{
	size_t at = size > 0 && bytes[0] == 0x41; /* REX.B: r8 to r15 */

	if (at >= size)
		return false;
	if (bytes[at] >= 0x50 && bytes[at] <= 0x57)
		return true;
	return at == 0 && (bytes[0] == 0x90 || bytes[0] == 0xe8 || bytes[0] == 0xe9 ||
			   bytes[0] == 0xeb || (bytes[0] >= 0x70 && bytes[0] <= 0x7f) ||
			   (size > 1 && bytes[0] == 0x0f && bytes[1] >= 0x80 && bytes[1] <= 0x8f));
}
