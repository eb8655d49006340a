// SPDX-License-Identifier: GPL-2.0-or-later
#include "tui/keys.h"

#include <string.h>
#include <unistr.h>

#define ESCAPE '\033'

static uint32_t key_of_final(char final)
{
	switch (final) {
	case 'A':
		return KEY_UP;
	case 'B':
		return KEY_DOWN;
	case 'C':
		return KEY_RIGHT;
	case 'D':
		return KEY_LEFT;
	case 'F':
		return KEY_END;
	case 'H':
		return KEY_HOME;
	case 'Z':
		return KEY_BACK_TAB;
	default:
		return KEY_NONE;
	}
}

/* CSI n ~ */
static uint32_t key_of_number(const char *digits)
{
	switch (digits[0]) {
	case '1':
	case '7':
		return digits[1] == '~' ? KEY_HOME : KEY_NONE;
	case '4':
	case '8':
		return KEY_END;
	case '5':
		return KEY_PAGE_UP;
	case '6':
		return KEY_PAGE_DOWN;
	default:
		return KEY_NONE;
	}
}

/* An escape sequence, or the Escape key. */
static size_t decode_sequence(const char *bytes, size_t size, bool last, uint32_t *ret_key)
{
	size_t i = 2;

	if (size < 2 && !last)
		return 0;
	if (size < 2 || (bytes[1] != '[' && bytes[1] != 'O')) {
		/* Escape, and after it another key. */
		*ret_key = KEY_ESCAPE;
		return 1;
	}
	/* Parameters, then one final byte. */
	while (i < size && bytes[i] >= 0x20 && bytes[i] < 0x40)
		i++;
	if (i == size) {
		if (!last && size < 32)
			return 0;
		*ret_key = size == 2 ? KEY_ESCAPE : KEY_NONE;
		return size == 2 ? 1 : size;
	}
	*ret_key = bytes[i] == '~' ? key_of_number(bytes + 2) : key_of_final(bytes[i]);
	return i + 1;
}

static uint32_t key_of_control(char byte)
{
	switch (byte) {
	case '\r':
	case '\n':
		return KEY_ENTER;
	case '\t':
		return KEY_TAB;
	case '\b':
	case 0x7f:
		return KEY_BACKSPACE;
	case 'C' - '@':
		return KEY_INTERRUPT;
	case 'L' - '@':
		return KEY_REDRAW;
	case 'U' - '@':
		return KEY_ERASE;
	case 'Z' - '@':
		return KEY_SUSPEND;
	case 'B' - '@':
		return KEY_PAGE_UP;
	case 'F' - '@':
		return KEY_PAGE_DOWN;
	case 'N' - '@':
		return KEY_DOWN;
	case 'P' - '@':
		return KEY_UP;
	default:
		return KEY_NONE;
	}
}

size_t keys_decode(const char *bytes, size_t size, bool last, uint32_t *ret_key)
{
	ucs4_t character;
	int n;

	if (size == 0)
		return 0;
	if (bytes[0] == ESCAPE)
		return decode_sequence(bytes, size, last, ret_key);
	if ((unsigned char)bytes[0] < 0x20 || bytes[0] == 0x7f) {
		*ret_key = key_of_control(bytes[0]);
		return 1;
	}
	n = u8_mbtoucr(&character, (const uint8_t *)bytes, size);
	if (n == -2 && !last)
		return 0;
	*ret_key = n > 0 ? character : KEY_NONE;
	return n > 0 ? (size_t)n : 1;
}
