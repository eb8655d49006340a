// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of tasks end at their first zero byte, whatever is behind it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/comm.h"

#define SIZE 16

static void compare(const uint8_t *name)
{
	uint8_t expected[SIZE] = { 0 };
	__u64 words[2], padded[2];

	memcpy(expected, name, strnlen((const char *)name, SIZE));
	memcpy(words, name, SIZE);
	comm_pad(words, padded);
	assert_memory_equal(padded, expected, SIZE);
}

/* Names of each length, before zeros and before the rest of a longer name. */
static void names_are_padded(void **state)
{
	static const uint8_t rests[] = { 0, 1, 'x', 0x7f, 0x80, 0xff };

	(void)state;
	for (size_t length = 0; length < SIZE; length++) {
		for (size_t rest = 0; rest < sizeof(rests); rest++) {
			uint8_t name[SIZE];

			memset(name, 'b', length);
			memset(name + length, rests[rest], SIZE - length);
			name[length] = 0;
			name[SIZE - 1] = 0;
			compare(name);
		}
	}
}

/* Bytes at random, half of which are 0 or 1; in every second name, none is 0. */
static void any_bytes(void **state)
{
	(void)state;
	srandom(1);
	for (int round = 0; round < 100000; round++) {
		uint8_t name[SIZE];

		for (size_t i = 0; i < SIZE; i++) {
			long bits = random();

			name[i] = (uint8_t)(bits & 0x100 ? bits : bits & 1);
			if (round % 2)
				name[i] |= 0x10;
		}
		compare(name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_padded),
		cmocka_unit_test(any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
