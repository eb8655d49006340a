// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/frame_kinds.h"

#include <string.h>

static uint8_t look_up(const struct frame_kinds *kinds, uint64_t return_address)
{
	struct kernel_symbol symbol;

	if (!kinds->find(kinds->context, return_address - 1, &symbol))
		return 0;
	for (size_t i = 0; i < kinds->n; i++)
		if (strncmp(symbol.name, kinds->list[i].prefix, strlen(kinds->list[i].prefix)) == 0)
			return kinds->list[i].kind;
	return 0;
}

uint8_t frame_kinds_of(struct frame_kinds *kinds, uint64_t return_address)
{
	uint64_t at = (return_address * 0x9e3779b97f4a7c15 >> 32) % FRAME_KINDS_CACHE;

	if (kinds->cache[at].address != return_address) {
		kinds->cache[at].kind = look_up(kinds, return_address);
		kinds->cache[at].address = return_address;
	}
	return kinds->cache[at].kind;
}
