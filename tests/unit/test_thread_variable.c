// SPDX-License-Identifier: GPL-2.0-or-later
/* Variables of threads, found in the code of functions that read them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "interpreters/thread_variable.h"

#define ENDBR	      0xf3, 0x0f, 0x1e, 0xfa
#define LEA_SLOT      0x48, 0x8d, 0x3d, 0x00, 0x10, 0x00, 0x00 /* lea 0x1000(%rip),%rdi */
#define CALL	      0xe8, 0x10, 0x00, 0x00, 0x00
#define LOAD_FROM_RAX 0x48, 0x8b, 0x80, 0x28, 0x00, 0x00, 0x00 /* mov 0x28(%rax),%rax */
#define RETURN	      0xc3

static void of_the_program_itself(void **state)
{
	/* mov %fs:-0x28,%rax */
	static const uint8_t code[] = { ENDBR, 0x64, 0x48, 0x8b, 0x04,	0x25,
					0xd8,  0xff, 0xff, 0xff, RETURN };
	struct thread_variable variable;

	(void)state;
	assert_true(thread_variable_find(code, sizeof(code), 0x5000, &variable));
	assert_int_equal(variable.slot, 0);
	assert_int_equal(variable.offset, -0x28);
}

static void to_any_register(void **state)
{
	/* mov %fs:-0x50,%r13 */
	static const uint8_t code[] = { ENDBR, 0x64, 0x4c, 0x8b, 0x2c,	0x25,
					0xb0,  0xff, 0xff, 0xff, RETURN };
	struct thread_variable variable;

	(void)state;
	assert_true(thread_variable_find(code, sizeof(code), 0x5000, &variable));
	assert_int_equal(variable.slot, 0);
	assert_int_equal(variable.offset, -0x50);
}

static void of_a_library(void **state)
{
	static const uint8_t code[] = { ENDBR, 0x55, LEA_SLOT, CALL, 0x5d, LOAD_FROM_RAX, RETURN };
	struct thread_variable variable;

	(void)state;
	assert_true(thread_variable_find(code, sizeof(code), 0x5000, &variable));
	assert_int_equal(variable.slot, 0x5000 + 4 + 1 + 7 + 0x1000);
	assert_int_equal(variable.offset, 0x28);
}

static void of_nothing(void **state)
{
	static const uint8_t no_call[] = { LEA_SLOT, LOAD_FROM_RAX, RETURN };
	static const uint8_t other_call[] = { LEA_SLOT, 0x90, CALL, LOAD_FROM_RAX, RETURN };
	static const uint8_t overwritten[] = { LEA_SLOT, CALL, 0x31, 0xc0, LOAD_FROM_RAX, RETURN };
	static const uint8_t no_instruction[] = { 0x06, LEA_SLOT, CALL, LOAD_FROM_RAX };
	static const struct {
		const uint8_t *bytes;
		uint32_t size;
	} codes[] = { { no_call, sizeof(no_call) },
		      { other_call, sizeof(other_call) },
		      { overwritten, sizeof(overwritten) },
		      { no_instruction, sizeof(no_instruction) },
		      { no_call, 0 } };
	struct thread_variable variable;

	(void)state;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		assert_false(
			thread_variable_find(codes[i].bytes, codes[i].size, 0x5000, &variable));
}

/* Code that ends in the middle of an instruction, or is anything, is read to its end at most. */
static void cut_off(void **state)
{
	static const uint8_t code[] = { ENDBR, 0x55, LEA_SLOT, CALL, 0x5d, LOAD_FROM_RAX };

	(void)state;
	for (uint32_t size = 0; size < sizeof(code); size++) {
		struct thread_variable variable;
		uint8_t bytes[sizeof(code)];

		memcpy(bytes, code, size);
		memset(bytes + size, 0, sizeof(bytes) - size);
		assert_false(thread_variable_find(bytes, size, 0x5000, &variable));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_the_program_itself),
		cmocka_unit_test(to_any_register),
		cmocka_unit_test(of_a_library),
		cmocka_unit_test(of_nothing),
		cmocka_unit_test(cut_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
