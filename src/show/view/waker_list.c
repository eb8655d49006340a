// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/waker_list.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/index.h"
#include "base/own.h"
#include "view/entry_parts.h"

struct making {
	struct waker_list list;
	uint32_t capacity;
	struct index index;
};

static int add(struct making *making, uint32_t name, uint32_t function, uint64_t count)
{
	uint64_t hash = hash_u64((uint64_t)name << 32 | function);
	struct waker_list *list = &making->list;
	struct index_cursor cursor;
	uint32_t at = index_first(&making->index, hash, &cursor);
	int r;

	while (at != INDEX_NONE &&
	       (list->rows[at].name != name || list->rows[at].function != function))
		at = index_next(&making->index, &cursor);
	if (at == INDEX_NONE) {
		r = grow(&list->rows, &making->capacity, (size_t)list->n + 1);
		if (r == 0)
			r = index_add(&making->index, hash, list->n);
		if (r < 0)
			return r;
		at = list->n++;
		list->rows[at] = (struct waker_row){ .name = name, .function = function };
	}
	if (__builtin_add_overflow(list->rows[at].total, count, &list->rows[at].total))
		list->rows[at].total = UINT64_MAX;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct waker_row *one = a, *other = b;

	if (one->total != other->total)
		return one->total > other->total ? -1 : 1;
	if (one->name != other->name)
		return one->name < other->name ? -1 : 1;
	return one->function < other->function ? -1 : one->function > other->function;
}

static void making_clear(struct making *making)
{
	index_free(&making->index);
	waker_list_clear(&making->list);
}

int waker_list_make(const struct profile *profile, struct waker_list *ret_list)
{
	own(making_clear) struct making making = { 0 };

	for (uint32_t i = 0; i < profile->n_entries; i++) {
		struct profile_entry entry;
		struct entry_parts parts;
		int r;

		profile_read(profile, &profile->entries[i], &entry);
		parts = entry_parts(profile, &entry);

		if (parts.waker_name == ENTRY_NO_FRAME)
			continue;
		r = add(&making, parts.waker_name, entry_waker_frame(profile, &parts),
			entry.is->count);
		if (r < 0)
			return r;
	}
	if (making.list.n > 1)
		qsort(making.list.rows, making.list.n, sizeof(*making.list.rows), compare);
	*ret_list = making.list;
	making.list = (struct waker_list){ 0 };
	return 0;
}

void waker_list_clear(struct waker_list *list)
{
	free(list->rows);
	*list = (struct waker_list){ 0 };
}
