// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * USDT notes and their arguments: the first byte selects a 32-bit or 64-bit file, the rest is the
 * section.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "elf/usdt_notes.h"
#include "trigger/usdt_arguments.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Registers are within the context, and values no larger than one. */
static void check(const char *text)
{
	struct event_value list[USDT_ARGUMENTS_MAX];
	uint32_t n = usdt_arguments_parse(text, list);

	if (n > USDT_ARGUMENTS_MAX)
		abort();
	for (uint32_t i = 0; i < n; i++)
		if (list[i].size > 8 || list[i].offset > 200 || list[i].index.offset > 200 ||
		    list[i].index.scale > 8)
			abort();
}

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
		check(note.arguments);
		before = offset;
	}
	return 0;
}
