/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The kernel simulates nops, since Linux 6.11; branches are not told from others here. */
static inline bool arch_emulated(const uint8_t *bytes, size_t size)
{
	uint32_t word;

	if (size < sizeof(word))
		return false;
	memcpy(&word, bytes, sizeof(word));
	return word == 0xd503201f;
}
