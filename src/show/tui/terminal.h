/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes over the controlling terminal (alternate screen, no cursor, no echo) and restores it.
 * terminal_close() restores it, and so do handlers of the signals that end a process, including
 * those of crashes. A process has one controlling terminal, and signal handlers need its state, so
 * that is global; apart from the handlers, one thread at a time may use it.
 *
 * What the terminal can do is taken from the environment (TERM, COLORTERM, NO_COLOR, LC_ALL,
 * LC_CTYPE, LANG), not from terminfo; ARCHITECTURE.md says why.
 */
#ifndef STACKTALLY_TUI_TERMINAL_H
#define STACKTALLY_TUI_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "tui/screen.h"

struct terminal_capabilities {
	bool cursor_addressing; /* the cursor; without that there is nothing to draw on */
	bool utf8;
	enum screen_colours colours;
};

/* From the values of TERM (`type`), COLORTERM, NO_COLOR and the locale; each may be NULL. */
struct terminal_capabilities terminal_capabilities_of(const char *type, const char *colorterm,
						      const char *no_color, const char *encoding);
/* From this process's environment. */
struct terminal_capabilities terminal_capabilities(void);

/*
 * Takes over the terminal and installs the signal handlers, except for signals that are ignored.
 * Returns a non-blocking descriptor, which terminal_close() closes, or a negative errno.
 */
int terminal_open(struct error *err);
/* Restores the terminal and the signal handlers. Does nothing when it is not open. */
void terminal_close(void);

/* Restores the terminal and stops the process group, as Ctrl-Z does; returns when it goes on. */
void terminal_suspend(void);
/* Whether the process is being stopped: the terminal is restored, and must not be drawn on. */
bool terminal_is_suspended(void);
/* Whether the terminal takes output within that time. Async-signal-safe. */
bool terminal_is_writable(int fd, int timeout_ms);
/* True once after the process was stopped and continued: all has to be redrawn. */
bool terminal_was_resumed(void);

/* The size in cells; 24 by 80 when the terminal does not tell. */
void terminal_size(int fd, uint32_t *ret_rows, uint32_t *ret_columns);

#endif
