/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decodes the bytes that a terminal sends into keys. Does not know what the keys do. */
#ifndef STACKTALLY_TUI_KEYS_H
#define STACKTALLY_TUI_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A key is a Unicode character, or one of these, which lie beyond Unicode. */
enum key {
	KEY_NONE = 0x110000, /* bytes without a meaning */
	KEY_ENTER,
	KEY_ESCAPE,
	KEY_TAB,
	KEY_BACK_TAB,
	KEY_BACKSPACE,
	KEY_UP,
	KEY_DOWN,
	KEY_RIGHT,
	KEY_LEFT,
	KEY_HOME,
	KEY_END,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_INTERRUPT, /* Ctrl-C */
	KEY_REDRAW,    /* Ctrl-L */
	KEY_ERASE,     /* Ctrl-U */
	KEY_SUSPEND,   /* Ctrl-Z */
};

/*
 * Decodes the first key. Returns its size in bytes, or 0 when more are needed. `last` says that no
 * more will come soon: an escape character that begins no sequence is then the Escape key.
 */
size_t keys_decode(const char *bytes, size_t size, bool last, uint32_t *ret_key);

#endif
