/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The numbers of a page's data: unsigned LEB128. Internal to flame/. */
#ifndef STACKTALLY_FLAME_PAGE_NUMBER_H
#define STACKTALLY_FLAME_PAGE_NUMBER_H

#include "base/bytes.h"

static inline void page_number(struct bytes *bytes, uint64_t number)
{
	if (!bytes_room(bytes, 10))
		return;
	for (; number >= 0x80; number >>= 7)
		bytes->start[bytes->used++] = (char)(number | 0x80);
	bytes->start[bytes->used++] = (char)number;
}

#endif
