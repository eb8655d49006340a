// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/grow.h"

#include <stdlib.h>

#define FIRST_CAPACITY 16

void *grow_memory(void *memory, size_t *capacity, size_t wanted, size_t limit, size_t size)
{
	size_t grown, most = PTRDIFF_MAX / size;
	void *moved;

	if (limit > most)
		limit = most;
	if (wanted > limit)
		return NULL;
	grown = *capacity < FIRST_CAPACITY / 2 ? FIRST_CAPACITY
		: *capacity > limit / 2	       ? limit
					       : *capacity * 2;
	if (grown < wanted)
		grown = wanted;
	if (grown > limit)
		grown = limit;
	moved = realloc(memory, grown * size);
	if (moved)
		*capacity = grown;
	return moved;
}
