/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Growth of arrays that their owner keeps as a pointer and a capacity.
 *
 *	r = grow(&list->items, &list->capacity, list->n + 1);
 *	if (r < 0)
 *		return r;
 *	list->items[list->n++] = item;
 */
#ifndef STACKTALLY_BASE_GROW_H
#define STACKTALLY_BASE_GROW_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Makes room for `wanted` elements in the array *ITEMS of *CAPACITY elements, at least doubling
 * it. 0, or -ENOMEM: then nothing has changed. CAPACITY is of an unsigned type, which bounds it.
 */
#define grow(items, capacity, wanted)                                                              \
	({                                                                                         \
		size_t grow_room_ = *(capacity), grow_wanted_ = (wanted);                          \
		int grow_r_ = 0;                                                                   \
		if (grow_wanted_ > grow_room_) {                                                   \
			void *grow_moved_ =                                                        \
				grow_memory(*(items), &grow_room_, grow_wanted_,                   \
					    (typeof(*(capacity)))-1, sizeof(**(items)));           \
			if (grow_moved_) {                                                         \
				*(items) = grow_moved_;                                            \
				*(capacity) = grow_room_;                                          \
			} else {                                                                   \
				grow_r_ = -ENOMEM;                                                 \
			}                                                                          \
		}                                                                                  \
		grow_r_;                                                                           \
	})

/*
 * For grow(): reallocates `memory` for `wanted` elements of `size` bytes. *room is the new
 * capacity, which never exceeds `limit`. NULL when out of memory: nothing has changed.
 */
void *grow_memory(void *memory, size_t *capacity, size_t wanted, size_t limit, size_t size);

#endif
