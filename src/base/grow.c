// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/grow.h"

#include <stdlib.h>

#define FIRST_ROOM 16

void *grow_memory(void *memory, size_t *room, size_t wanted, size_t limit, size_t size)
{
	size_t grown, most = PTRDIFF_MAX / size;
	void *moved;

	if (limit > most)
		limit = most;
	if (wanted > limit)
		return NULL;
	grown = *room < FIRST_ROOM / 2 ? FIRST_ROOM : *room > limit / 2 ? limit : *room * 2;
	if (grown < wanted)
		grown = wanted;
	if (grown > limit)
		grown = limit;
	moved = realloc(memory, grown * size);
	if (moved)
		*room = grown;
	return moved;
}
