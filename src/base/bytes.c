// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/bytes.h"

#include <errno.h>
#include <stdlib.h>

#define BYTES_FULL  ((size_t)1 << 20) /* size of a buffer with a stream */
#define BYTES_FIRST ((size_t)1 << 8)  /* first size of one without: many hold one line */

void bytes_start(struct bytes *bytes, FILE *out)
{
	*bytes = (struct bytes){ .out = out };
}

static void flush(struct bytes *bytes)
{
	if (bytes->out && bytes->used) {
		if (fwrite(bytes->start, 1, bytes->used, bytes->out) != bytes->used)
			bytes->failed = -EIO;
		bytes->used = 0;
	}
}

bool bytes_make_room(struct bytes *bytes, size_t size)
{
	size_t grown = bytes->size ? bytes->size : bytes->out ? BYTES_FULL : BYTES_FIRST;
	char *moved;

	if (!bytes->failed)
		flush(bytes);
	if (bytes->failed)
		return false;
	if (bytes->size - bytes->used >= size)
		return true;
	while (grown - bytes->used < size) {
		if (grown > SIZE_MAX / 2) {
			bytes->failed = -ENOMEM;
			return false;
		}
		grown *= 2;
	}
	moved = realloc(bytes->start, grown);
	if (!moved) {
		bytes->failed = -ENOMEM;
		return false;
	}
	bytes->start = moved;
	bytes->size = grown;
	return true;
}

int bytes_finish(struct bytes *bytes)
{
	if (!bytes->failed)
		flush(bytes);
	return bytes->failed;
}

void bytes_clear(struct bytes *bytes)
{
	free(bytes->start);
	*bytes = (struct bytes){ 0 };
}

void bytes_decimal(struct bytes *bytes, uint64_t value)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	bytes_put(bytes, digits + at, sizeof(digits) - at);
}

void bytes_hex(struct bytes *bytes, uint64_t value, unsigned int width, bool zeros)
{
	char digits[16];
	size_t at = sizeof(digits), n;

	do {
		digits[--at] = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	n = sizeof(digits) - at;
	for (size_t i = n; zeros && i < width; i++)
		bytes_char(bytes, '0');
	bytes_put(bytes, digits + at, n);
	for (size_t i = n; !zeros && i < width; i++)
		bytes_char(bytes, ' ');
}

/* The length of the well-formed UTF-8 character that `size` bytes begin with, or 0. */
static size_t utf8_length(const unsigned char *at, size_t size)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = at[0] < 0x80 ? 1 : at[0] < 0xc0 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
	uint32_t code;

	if (n < 2 || at[0] >= 0xf8 || n > size)
		return n == 1;
	code = at[0] & (0x7f >> n);
	for (size_t i = 1; i < n; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (at[i] & 0x3f);
	}
	if (code < least[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	return n;
}

static bool is_control(const unsigned char *at, size_t length)
{
	if (length == 1)
		return at[0] < 0x20 || at[0] == 0x7f;
	if (length == 2)
		return at[0] == 0xc2 && at[1] < 0xa0; /* U+0080 to U+009F */
	if (length != 3)
		return false;
	/* Line and paragraph separators, and direction overrides. */
	if (at[0] == 0xe2 && at[1] == 0x80)
		return at[2] >= 0xa8 && at[2] <= 0xae;
	if (at[0] == 0xe2 && at[1] == 0x81)
		return at[2] >= 0xa6 && at[2] <= 0xa9;
	/* XML forbids U+FFFE and U+FFFF; U+FEFF is the byte order mark. */
	return at[0] == 0xef &&
	       ((at[1] == 0xbf && at[2] >= 0xbe) || (at[1] == 0xbb && at[2] == 0xbf));
}

void bytes_name(struct bytes *bytes, const char *name, size_t size)
{
	const unsigned char *at = (const unsigned char *)name, *end = at + size;

	while (at < end) {
		size_t length = utf8_length(at, (size_t)(end - at));

		if (length == 0 || is_control(at, length))
			bytes_char(bytes, '?');
		else
			bytes_put(bytes, at, length);
		at += length ? length : 1;
	}
}

void bytes_print_name(FILE *out, const char *name)
{
	struct bytes clean;

	bytes_start(&clean, NULL);
	bytes_name(&clean, name, strlen(name));
	if (clean.used > 0)
		fwrite(clean.start, 1, clean.used, out);
	bytes_clear(&clean);
}

void bytes_wrap(struct bytes *bytes, const char *line, size_t size, size_t columns)
{
	size_t at = 0, blank = 0, used = 0; /* of the line, from `at` on; 0: no blank yet */

	for (size_t i = 0; i < size; i++) {
		used += ((unsigned char)line[i] & 0xc0) != 0x80; /* else it goes on a character */
		if (line[i] == ' ')
			blank = i;
		if (used <= columns || blank <= at)
			continue;
		bytes_put(bytes, line + at, blank - at);
		bytes_string(bytes, "\n  ");
		at = blank + 1;
		used = 2 + i + 1 - at;
	}
	bytes_put(bytes, line + at, size - at);
}

void bytes_print_line(FILE *out, const char *text, size_t columns)
{
	struct bytes clean, folded;

	bytes_start(&clean, NULL);
	bytes_start(&folded, NULL);
	bytes_name(&clean, text, strlen(text));
	bytes_wrap(&folded, clean.start, clean.used, columns ? columns : clean.used);
	bytes_char(&folded, '\n');
	if (!clean.failed && !folded.failed)
		fwrite(folded.start, 1, folded.used, out);
	bytes_clear(&clean);
	bytes_clear(&folded);
}
