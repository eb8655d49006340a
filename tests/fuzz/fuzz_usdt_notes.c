// SPDX-License-Identifier: GPL-2.0-or-later
/* USDT notes: the first byte selects a 32-bit or 64-bit file, the rest is the section. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "elf/usdt_notes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct usdt_note note;
	size_t offset = 0, before = 0;

	if (size == 0)
		return 0;
	while (usdt_notes_next(data + 1, size - 1, data[0] & 1, &offset, &note)) {
		const char *end = (const char *)data + size;

		if (note.provider + strlen(note.provider) >= end ||
		    note.name + strlen(note.name) >= end || offset <= before)
			abort();
		before = offset;
	}
	return 0;
}
