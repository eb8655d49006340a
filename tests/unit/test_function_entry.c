// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where a probe fires once for each call, in code as compilers write it. It stands for reports that
 * probes count turns of a loop, or the growth of a Go stack, as calls.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trigger/function_entry.h"

#define CODE(...) ((const uint8_t[]){ __VA_ARGS__ }), sizeof((const uint8_t[]){ __VA_ARGS__ })

static struct function_entry find(const uint8_t *code, size_t size)
{
	struct function_entry entry;
	bool elsewhere = function_entry_find(code, size, &entry);

	assert_true(entry.n >= 1 && entry.n <= FUNCTION_ENTRY_MAX);
	assert_int_equal(elsewhere, entry.at[0] > 0 || entry.turns);
	for (uint32_t i = 0; i < entry.n; i++)
		assert_true(entry.at[i] < size);
	return entry;
}

static void most_functions_are_probed_at_their_first_byte(void **state)
{
	struct function_entry entry;

	(void)state;
	/* push %rbp; mov %rsp,%rbp; 1: dec %edi; jnz 1b; pop %rbp; ret */
	entry = find(CODE(0x55, 0x48, 0x89, 0xe5, 0xff, 0xcf, 0x75, 0xfc, 0x5d, 0xc3));
	assert_int_equal(entry.n, 1);
	assert_int_equal(entry.at[0], 0);
	assert_false(entry.turns);
	/* A function that calls itself by a jump behind its frame: push %rbx; pop %rbx; jnz; ret */
	entry = find(CODE(0x53, 0x5b, 0x75, 0xfc, 0xc3));
	assert_int_equal(entry.at[0], 0);
	assert_false(entry.turns);
	/* It calls itself with a frame that it makes late: test; je; push; call; pop; jmp; ret */
	entry = find(CODE(0x85, 0xff, 0x74, 0x09, 0x53, 0xe8, 0, 0, 0, 0, 0x5b, 0xeb, 0xf3, 0xc3));
	assert_int_equal(entry.at[0], 0);
	assert_false(entry.turns);
}

static void a_loop_is_counted_where_it_is_left(void **state)
{
	struct function_entry entry;

	(void)state;
	entry = find(CODE(0xff, 0xcf, 0x75, 0xfc, 0xc3)); /* dec %edi; jnz; ret */
	assert_int_equal(entry.n, 1);
	assert_int_equal(entry.at[0], 4);
	assert_false(entry.turns);
	/* test %edi,%edi; je 1f; dec %edi; jnz; ret; 1: nop; ret */
	entry = find(CODE(0x85, 0xff, 0x74, 0x05, 0xff, 0xcf, 0x75, 0xf8, 0xc3, 0x90, 0xc3));
	assert_int_equal(entry.n, 2);
	assert_int_equal(entry.at[0], 8);
	assert_int_equal(entry.at[1], 9);
	/* The same with both ways out to one place. */
	entry = find(CODE(0x85, 0xff, 0x74, 0x04, 0xff, 0xcf, 0x75, 0xf8, 0xc3));
	assert_int_equal(entry.n, 1);
	assert_int_equal(entry.at[0], 8);
	/* A tail call: dec %edi; jnz; jmp elsewhere */
	entry = find(CODE(0xff, 0xcf, 0x75, 0xfc, 0xe9, 0, 1, 0, 0));
	assert_int_equal(entry.at[0], 4);
}

static void where_calls_leave_a_loop_may_not_be_known(void **state)
{
	(void)state;
	assert_true(find(CODE(0xff, 0xcf, 0xeb, 0xfc)).turns); /* endless */
	/* The place behind the loop is also the head of another: 4: inc %eax; jnz 4b; ret */
	assert_true(find(CODE(0xff, 0xcf, 0x75, 0xfc, 0xff, 0xc0, 0x75, 0xfc, 0xc3)).turns);
	/* jnz out of the function */
	assert_true(find(CODE(0xff, 0xcf, 0x75, 0x70, 0x75, 0xfa, 0xc3)).turns);
	/* dec %edi; jnz; jmp *%rax */
	assert_true(find(CODE(0xff, 0xcf, 0x75, 0xfc, 0xff, 0xe0)).turns);
}

static void gos_stack_checks_are_passed_over(void **state)
{
	struct function_entry entry;

	(void)state;
	/* cmp 0x10(%r14),%rsp; jbe 1f; push %rbp; pop %rbp; ret; 1: call morestack; jmp 0 */
	entry = find(CODE(0x49, 0x3b, 0x66, 0x10, 0x76, 0x03, 0x55, 0x5d, 0xc3, 0xe8, 0, 1, 0, 0,
			  0xeb, 0xf0));
	assert_int_equal(entry.n, 1);
	assert_int_equal(entry.at[0], 6);
	assert_false(entry.turns);
	/*
	 * A frame above 64 KiB has two branches: mov %rsp,%r12; sub $0x20000,%r12; jb 1f;
	 * cmp 0x10(%r14),%r12; jbe 1f; push %rbp; ret; 1: mov %rax,8(%rsp); call; jmp 0
	 */
	entry = find(CODE(0x49, 0x89, 0xe4, 0x49, 0x81, 0xec, 0, 0, 2, 0, 0x72, 0x08, 0x4d, 0x3b,
			  0x66, 0x10, 0x76, 0x02, 0x55, 0xc3, 0x48, 0x89, 0x44, 0x24, 0x08, 0xe8, 0,
			  1, 0, 0, 0xeb, 0xe0));
	assert_int_equal(entry.at[0], 18);
	assert_false(entry.turns);
}

/* Code may be anything. */
static void any_bytes_are_read_within_their_bounds(void **state)
{
	(void)state;
	srand(1);
	for (int i = 0; i < 20000; i++) {
		size_t size = 1 + (size_t)rand() % 60;
		uint8_t *code = malloc(size);

		assert_non_null(code);
		for (size_t j = 0; j < size; j++)
			code[j] = (uint8_t)rand();
		if (size > 8) { /* so that it comes back */
			size_t at = 4 + (size_t)rand() % (size - 6);

			code[at] = rand() % 2 ? 0x75 : 0xeb;
			code[at + 1] = (uint8_t) - (int)(at + 2);
		}
		find(code, size);
		free(code);
	}
}

static uint32_t behind_test(const uint8_t *code, size_t size)
{
	return function_entry_behind_test(code, size);
}

static void a_test_for_null_is_passed_over(void **state)
{
	(void)state;
	/* test %rdi,%rdi; je; as free() of glibc 2.36, 2.41 and 2.42 */
	assert_int_equal(behind_test(CODE(0x48, 0x85, 0xff, 0x0f, 0x84, 0xbf, 0, 0, 0, 0x55)), 3);
	assert_int_equal(behind_test(CODE(0x48, 0x85, 0xff, 0x74, 0x10, 0x55)), 3);
	assert_int_equal(behind_test(CODE(0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x85, 0xff, 0x75, 0x01)),
			 7);
	/* another register; no jump; a jump by another flag; cut off */
	assert_int_equal(behind_test(CODE(0x48, 0x85, 0xf6, 0x74, 0x10)), 0);
	assert_int_equal(behind_test(CODE(0x48, 0x85, 0xff, 0x55, 0x53)), 0);
	assert_int_equal(behind_test(CODE(0x48, 0x85, 0xff, 0x78, 0x10)), 0);
	assert_int_equal(behind_test(CODE(0x48, 0x85, 0xff, 0x0f, 0x1f)), 0);
	assert_int_equal(behind_test(CODE(0x48, 0x85, 0xff, 0x74)), 0);
	assert_int_equal(behind_test(CODE(0x48)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(most_functions_are_probed_at_their_first_byte),
		cmocka_unit_test(a_loop_is_counted_where_it_is_left),
		cmocka_unit_test(where_calls_leave_a_loop_may_not_be_known),
		cmocka_unit_test(gos_stack_checks_are_passed_over),
		cmocka_unit_test(any_bytes_are_read_within_their_bounds),
		cmocka_unit_test(a_test_for_null_is_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
