/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where in a function's code a probe fires once for each call. Mostly that is the first byte. But
 * code may come back to it within one call:
 *
 *   - Go's functions begin with a check of the stack's size. If the stack is too small, they have
 * it grown and jump to their first byte. The probe belongs behind the check.
 *   - A loop may begin at the first byte, in functions that need no frame. The probes belong where
 *     control leaves the loop, which each call does once.
 *
 * In both cases the stack pointer is at these places what it is at the first byte. (x86-64.)
 * Must not know: files, symbols.
 */
#ifndef STACKTALLY_TRIGGER_FUNCTION_ENTRY_H
#define STACKTALLY_TRIGGER_FUNCTION_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FUNCTION_ENTRY_MAX	8
#define FUNCTION_ENTRY_CODE_MAX (1u << 20) /* bytes of a function that are looked at */

struct function_entry {
	uint32_t at[FUNCTION_ENTRY_MAX]; /* offsets in the function, increasing */
	uint32_t n;			 /* at least 1 */
	bool turns; /* each turn of a loop counts: it is not known where calls leave it */
};

/*
 * `code`: of the whole function. False: it is the first byte, to which control does not come back.
 * Out of memory counts as not known where calls leave a loop.
 */
bool function_entry_find(const uint8_t *code, size_t size, struct function_entry *ret_entry);

/*
 * The offset of the second instruction, if the first one asks whether the first argument is 0, and
 * the second one jumps by that; else 0. Each call comes there, with registers and stack as at the
 * first byte. The kernel does what a jump does itself, while it has the processor step over a test,
 * which takes two traps: 10 us in virtual machines.
 */
#define FUNCTION_ENTRY_TEST_MAX 16 /* bytes that are looked at */
uint32_t function_entry_behind_test(const uint8_t *code, size_t size);

#endif
