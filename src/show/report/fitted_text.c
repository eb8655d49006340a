// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/fitted_text.h"

#include <string.h>
#include <unistr.h>
#include <uniwidth.h>

#include "flame/flame_label.h"

#define NAME_MAX_BYTES 2000
#define CUT	       ".."

/* The bytes of the longest beginning that takes at most `width` cells, and how many these are. */
static size_t beginning(const char *text, size_t size, uint32_t width, uint32_t *ret_cells)
{
	const uint8_t *at = (const uint8_t *)text, *end = at + size;
	uint32_t cells = 0;

	while (at < end) {
		ucs4_t character;
		int n = u8_mbtouc(&character, at, (size_t)(end - at));
		int of = uc_width(character, "UTF-8");
		uint32_t more = of > 0 ? (uint32_t)of : 0;

		if (cells + more > width)
			break;
		cells += more;
		at += n;
	}
	*ret_cells = cells;
	return (size_t)(at - (const uint8_t *)text);
}

uint32_t fitted_width(const char *text, size_t size)
{
	uint32_t cells;

	beginning(text, size, UINT32_MAX, &cells);
	return cells;
}

static uint32_t put_cut(struct bytes *bytes, const char *text, uint32_t width)
{
	uint32_t cells, cut = (uint32_t)strlen(CUT);
	size_t size = strlen(text);

	if (fitted_width(text, size) <= width) {
		bytes_put(bytes, text, size);
		return fitted_width(text, size);
	}
	size = beginning(text, size, width > cut ? width - cut : width, &cells);
	bytes_put(bytes, text, size);
	if (width > cut)
		bytes_string(bytes, CUT);
	return width > cut ? cells + cut : cells;
}

uint32_t fitted_put(struct bytes *bytes, const char *text, uint32_t width)
{
	size_t start = bytes->used, size;
	char name[NAME_MAX_BYTES];

	bytes_name(bytes, text, strlen(text));
	if (bytes->failed)
		return 0;
	size = bytes->used - start;
	if (width == 0 || fitted_width(bytes->start + start, size) <= width)
		return fitted_width(bytes->start + start, size);
	if (size >= sizeof(name))
		size = sizeof(name) - 1;
	memcpy(name, bytes->start + start, size);
	name[size] = '\0';
	bytes->used = start;
	for (enum flame_shorter step = FLAME_NO_ARGUMENTS;
	     step < FLAME_NO_NAMESPACE && fitted_width(name, strlen(name)) > width; step++)
		flame_label_shorten(name, step);
	return put_cut(bytes, name, width);
}

void fitted_fill(struct bytes *bytes, const char *text, uint32_t width)
{
	for (uint32_t cells = fitted_put(bytes, text, width); cells < width; cells++)
		bytes_char(bytes, ' ');
}
