/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys, from the bytes a terminal sends. Must not know: what they do. */
#ifndef STACKTALLY_TUI_KEYS_H
#define STACKTALLY_TUI_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A key is a character of Unicode, or one of these, which are none. */
enum key {
	KEY_NONE = 0x110000, /* bytes that mean no key */
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
 * The first key of the bytes; returns how many bytes it takes, 0 when more are needed to tell. With
 * `last` no more are to come soon: an escape that stands alone is the key of that name.
 */
size_t keys_take(const char *bytes, size_t size, bool last, uint32_t *ret_key);

#endif
