/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The controlling terminal of this process, taken over and given back: alternate screen, no cursor,
 * no echo. It is given back on every way out that lets us run: by terminal_close(), and by handlers
 * of the signals that end a process, crashes too. There is one, so its state is the process's.
 *
 * What it can do comes from the environment (TERM, COLORTERM, NO_COLOR, LC_ALL, LC_CTYPE, LANG), no
 * terminfo is read: ARCHITECTURE.md says why.
 */
#ifndef STACKTALLY_TUI_TERMINAL_H
#define STACKTALLY_TUI_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "tui/screen.h"

struct terminal_abilities {
	bool positions; /* the cursor; without that there is nothing to draw on */
	bool utf8;
	enum screen_colours colours;
};

/* Of the environment, each as getenv() gives it; `type` is TERM. */
struct terminal_abilities terminal_abilities(const char *type, const char *colorterm,
					     const char *no_color, const char *encoding);
/* Of ours. */
struct terminal_abilities terminal_our_abilities(void);

/*
 * Takes it over. Signals that end us are handled from here on, where nobody else waits for them.
 * Returns the descriptor, which does not block, or a negative errno.
 */
int terminal_open(struct error *err);
/* Harmless when it is not open. */
void terminal_close(void);

/* Gives it back and stops our process group, as Ctrl-Z would; returns when we go on. */
void terminal_suspend(void);
/* Whether it is given back for now: not to be drawn on. */
bool terminal_is_away(void);
/* Whether it takes output within that time; safe in handlers of signals. */
bool terminal_takes_more(int fd, int timeout_ms);
/* After a stop (SIGTSTP) and going on: true once, then all has to be drawn anew. */
bool terminal_was_stopped(void);

void terminal_size(int fd, uint32_t *ret_rows, uint32_t *ret_columns);

#endif
