// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/usdt_notes.h"

#include <string.h>

#define NOTE_OWNER "stapsdt"
#define NOTE_TYPE  3

struct note_header {
	uint32_t owner_size, content_size, type;
};

static size_t aligned(size_t size)
{
	return (size + 3) & ~(size_t)3;
}

/* The string at *at, which moves behind it. NULL: it does not end before `end`. */
static const char *take_string(const char **at, const char *end)
{
	const char *string = *at;
	const char *nul = memchr(string, '\0', (size_t)(end - string));

	if (!nul)
		return NULL;
	*at = nul + 1;
	return string;
}

static uint64_t take_word(const char **at, bool is_64)
{
	uint64_t wide = 0;
	uint32_t narrow = 0;

	if (is_64)
		memcpy(&wide, *at, sizeof(wide));
	else
		memcpy(&narrow, *at, sizeof(narrow));
	*at += is_64 ? sizeof(wide) : sizeof(narrow);
	return is_64 ? wide : narrow;
}

static bool parse_content(const char *at, size_t size, bool is_64, struct usdt_note *ret_note)
{
	const char *end = at + size;
	struct usdt_note note;

	if (size < 3 * (is_64 ? sizeof(uint64_t) : sizeof(uint32_t)))
		return false;
	note.address = take_word(&at, is_64);
	note.base = take_word(&at, is_64);
	note.semaphore = take_word(&at, is_64);
	note.provider = take_string(&at, end);
	note.name = note.provider ? take_string(&at, end) : NULL;
	if (!note.name)
		return false;
	note.arguments = take_string(&at, end);
	if (!note.arguments)
		note.arguments = "";
	*ret_note = note;
	return true;
}

bool usdt_notes_next(const void *bytes, size_t size, bool is_64, size_t *offset,
		     struct usdt_note *ret_note)
{
	while (*offset <= size && size - *offset >= sizeof(struct note_header)) {
		const char *at = (const char *)bytes + *offset;
		size_t capacity = size - *offset - sizeof(struct note_header);
		struct note_header header;

		memcpy(&header, at, sizeof(header));
		at += sizeof(header);
		if (header.owner_size > capacity || aligned(header.owner_size) > capacity ||
		    header.content_size > capacity - aligned(header.owner_size))
			return false;
		*offset +=
			sizeof(header) + aligned(header.owner_size) + aligned(header.content_size);
		if (header.type != NOTE_TYPE || header.owner_size != sizeof(NOTE_OWNER) ||
		    memcmp(at, NOTE_OWNER, sizeof(NOTE_OWNER)) != 0)
			continue;
		return parse_content(at + aligned(header.owner_size), header.content_size, is_64,
				     ret_note);
	}
	return false;
}
