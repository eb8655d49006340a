// SPDX-License-Identifier: GPL-2.0-or-later
/* A place is probed only where an instruction begins; x86-64 and aarch64. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <elf.h>

#include "trigger/instruction_start.h"

static size_t before, behind;

static void is(uint16_t machine, const uint8_t *code, size_t size, size_t at,
	       enum instruction_at want)
{
	/* Of its size, so that a read beyond it is found. */
	uint8_t *copy = malloc(size);

	memcpy(copy, code, size);
	assert_int_equal(instruction_start_check(machine, copy, size, at, &before, &behind), want);
	free(copy);
}

static const uint8_t CODE[] = {
	0x55,			      /* 0: push %rbp */
	0x48, 0x89, 0xe5,	      /* 1: mov %rsp,%rbp */
	0x0f, 0x1f, 0x44, 0x00, 0x00, /* 4: nop */
	0x74, 0x01,		      /* 9: je 12 */
	0x90,			      /* 11: nop */
	0x5d,			      /* 12: pop %rbp */
	0xc3,			      /* 13: ret */
};

static void starts_are_told_from_middles(void **state)
{
	static const size_t starts[] = { 0, 1, 4, 9, 11, 12, 13 };
	size_t next = 0;

	(void)state;
	for (size_t at = 0; at < sizeof(CODE); at++) {
		bool start = next < 7 && starts[next] == at;

		is(EM_X86_64, CODE, sizeof(CODE), at,
		   start ? INSTRUCTION_AT_START : INSTRUCTION_AT_MIDDLE);
		if (start) {
			next++;
			continue;
		}
		assert_int_equal(before, starts[next - 1]);
		assert_int_equal(behind, next < 7 ? starts[next] : sizeof(CODE));
	}
	is(EM_X86_64, CODE, sizeof(CODE), sizeof(CODE), INSTRUCTION_AT_UNKNOWN);
	is(EM_X86_64, CODE, sizeof(CODE), SIZE_MAX, INSTRUCTION_AT_UNKNOWN);
}

/* An instruction that ends behind the code, and bytes that are none. */
static void what_cannot_be_decoded_is_refused(void **state)
{
	static const uint8_t cut[] = { 0x90, 0x48, 0xb8, 1, 2 }, none[] = { 0x06, 0x90, 0x90 };

	(void)state;
	is(EM_X86_64, cut, sizeof(cut), 0, INSTRUCTION_AT_START);
	is(EM_X86_64, cut, sizeof(cut), 1, INSTRUCTION_AT_UNKNOWN);
	is(EM_X86_64, cut, sizeof(cut), 3, INSTRUCTION_AT_UNKNOWN);
	is(EM_X86_64, none, sizeof(none), 0, INSTRUCTION_AT_UNKNOWN);
	is(EM_X86_64, none, sizeof(none), 1, INSTRUCTION_AT_UNKNOWN);
	is(EM_386, CODE, sizeof(CODE), 0, INSTRUCTION_AT_UNKNOWN);
}

/* A jump into the middle of what was decoded: other instructions run there. */
static void overlapping_instructions_are_refused(void **state)
{
	static const uint8_t code[] = {
		0xeb, 0x02,		      /* 0: jmp 4 */
		0x48, 0xb8,		      /* 2: as decoded, movabs of the next 8 bytes */
		0x90, 0x90, 0x90, 0x90, 0x90, /* 4: what runs */
		0x90, 0x90, 0x90, 0xc3,	      /* 9 */
	};

	(void)state;
	is(EM_X86_64, code, sizeof(code), 0, INSTRUCTION_AT_START);
	is(EM_X86_64, code, sizeof(code), 2, INSTRUCTION_AT_UNKNOWN);
	is(EM_X86_64, code, sizeof(code), 4, INSTRUCTION_AT_MIDDLE);
}

static void words_of_aarch64_are_aligned(void **state)
{
	static const uint8_t code[8] = { 0 };

	(void)state;
	is(EM_AARCH64, code, sizeof(code), 4, INSTRUCTION_AT_START);
	is(EM_AARCH64, code, sizeof(code), 6, INSTRUCTION_AT_MIDDLE);
	assert_int_equal(before, 4);
	assert_int_equal(behind, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(starts_are_told_from_middles),
		cmocka_unit_test(what_cannot_be_decoded_is_refused),
		cmocka_unit_test(overlapping_instructions_are_refused),
		cmocka_unit_test(words_of_aarch64_are_aligned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
