// SPDX-License-Identifier: GPL-2.0-or-later
#include "import/jfr_cursor.h"

#include <string.h>

static uint64_t fail(struct jfr_cursor *cursor)
{
	cursor->failed = true;
	cursor->at = cursor->end;
	return 0;
}

static size_t left(const struct jfr_cursor *cursor)
{
	return (size_t)(cursor->end - cursor->at);
}

uint64_t jfr_fixed(struct jfr_cursor *cursor, unsigned int size)
{
	uint64_t number = 0;

	if (left(cursor) < size)
		return fail(cursor);
	while (size-- > 0)
		number = number << 8 | *cursor->at++;
	return number;
}

static uint64_t compressed(struct jfr_cursor *cursor)
{
	uint64_t number = 0;

	for (unsigned int shift = 0; cursor->at < cursor->end; shift += 7) {
		uint64_t byte = *cursor->at++;

		if (shift == 56)
			return number | byte << 56;
		number |= (byte & 0x7f) << shift;
		if (byte < 0x80)
			return number;
	}
	return fail(cursor);
}

uint64_t jfr_number(struct jfr_cursor *cursor, unsigned int size)
{
	return cursor->fixed || size == 1 ? jfr_fixed(cursor, size) : compressed(cursor);
}

uint32_t jfr_count(struct jfr_cursor *cursor)
{
	uint32_t n = jfr_u32(cursor);

	return n <= left(cursor) ? n : (uint32_t)fail(cursor);
}

struct jfr_string jfr_string(struct jfr_cursor *cursor)
{
	struct jfr_string string = { .encoding = (enum jfr_encoding)jfr_fixed(cursor, 1),
				     .of = { .fixed = cursor->fixed } };
	uint32_t n;

	switch (string.encoding) {
	case JFR_NO_STRING:
	case JFR_EMPTY:
		return string;
	case JFR_CONSTANT:
		string.key = jfr_u64(cursor);
		return string;
	case JFR_UTF8:
	case JFR_LATIN1:
		n = jfr_count(cursor);
		string.of.at = cursor->at;
		cursor->at += n;
		break;
	case JFR_CHARACTERS:
		n = jfr_count(cursor);
		string.of.at = cursor->at;
		while (n-- > 0 && !cursor->failed)
			jfr_number(cursor, 2);
		break;
	default:
		fail(cursor);
		return (struct jfr_string){ .encoding = JFR_NO_STRING };
	}
	string.of.end = cursor->at;
	if (cursor->failed)
		string.encoding = JFR_NO_STRING;
	return string;
}

static void put_character(struct bytes *bytes, uint32_t code)
{
	if (code == 0)
		code = '?';
	if (code < 0x80) {
		bytes_char(bytes, (char)code);
		return;
	}
	if (code < 0x800) {
		bytes_char(bytes, (char)(0xc0 | code >> 6));
	} else {
		if (code < 0x10000) {
			bytes_char(bytes, (char)(0xe0 | code >> 12));
		} else {
			bytes_char(bytes, (char)(0xf0 | code >> 18));
			bytes_char(bytes, (char)(0x80 | (code >> 12 & 0x3f)));
		}
		bytes_char(bytes, (char)(0x80 | (code >> 6 & 0x3f)));
	}
	bytes_char(bytes, (char)(0x80 | (code & 0x3f)));
}

/* The next character, which may be two surrogates. A surrogate alone is no character. */
static uint32_t next_character(struct jfr_cursor *units)
{
	uint32_t unit = (uint16_t)jfr_number(units, 2);
	struct jfr_cursor behind = *units;

	if (unit >= 0xd800 && unit < 0xdc00 && behind.at < behind.end) {
		uint32_t low = (uint16_t)jfr_number(&behind, 2);

		if (low >= 0xdc00 && low < 0xe000) {
			*units = behind;
			return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
		}
	}
	return unit >= 0xd800 && unit < 0xe000 ? 0xfffd : unit;
}

void jfr_string_put(const struct jfr_string *string, struct bytes *bytes)
{
	struct jfr_cursor of = string->of;

	switch (string->encoding) {
	case JFR_UTF8:
		while (of.at < of.end) {
			char byte = (char)*of.at++;

			bytes_char(bytes, byte ? byte : '?');
		}
		break;
	case JFR_LATIN1:
		while (of.at < of.end)
			put_character(bytes, *of.at++);
		break;
	case JFR_CHARACTERS:
		while (of.at < of.end)
			put_character(bytes, next_character(&of));
		break;
	default:
		break;
	}
}
