/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kernel decodes whole instructions: none is known to be taken for another one. */
static inline bool arch_unprobeable(const uint8_t *bytes, size_t size, bool is_64)
{
	(void)bytes;
	(void)size;
	(void)is_64;
	return false;
}
