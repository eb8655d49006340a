// SPDX-License-Identifier: GPL-2.0-or-later
#include "drain/records.h"

#include <errno.h>

/* All kinds have theirs where struct wire_count has it. */
#define KIND_AT offsetof(struct wire_count, kind)
_Static_assert(offsetof(struct wire_stack, kind) == KIND_AT, "the kind's place is the same");

int records_take(const struct records *records, const void *record, size_t size)
{
	const struct wire_count *head = record;
	const struct record_taker *taker;

	if (size < sizeof(*head) || head->kind >= WIRE_N_KINDS)
		return -EPROTO;
	taker = &records->takers[head->kind];
	if (!taker->take || size < taker->least)
		return -EPROTO;
	return taker->take(taker->context, record, size);
}
