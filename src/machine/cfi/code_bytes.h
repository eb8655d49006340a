/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Patterns of code, written as a disassembly shows it: bytes in hexadecimal, ?? for any byte.
 */
#ifndef STACKTALLY_CFI_CODE_BYTES_H
#define STACKTALLY_CFI_CODE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* mov $15,%rax or %eax; syscall: rt_sigreturn, to which signal handlers return. */
#define CODE_SIGNAL_RETURN	 "48 c7 c0 0f 00 00 00 0f 05"
#define CODE_SIGNAL_RETURN_SHORT "b8 0f 00 00 00 0f 05"

static inline int code_digit(char digit)
{
	return digit <= '9' ? digit - '0' : digit - 'a' + 10;
}

/* Whether the first of `size` bytes match the pattern. */
static inline bool code_matches(const uint8_t *bytes, size_t size, const char *pattern)
{
	for (; *pattern; bytes++, size--) {
		if (!size)
			return false;
		if (*pattern != '?' &&
		    *bytes != code_digit(pattern[0]) * 16 + code_digit(pattern[1]))
			return false;
		pattern += 2;
		if (*pattern == ' ')
			pattern++;
	}
	return true;
}

#endif
