/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A flame graph in the terminal, drawn by a thread of its own while other threads measure. Takes
 * over the terminal from tui_open() to tui_close(). When the user quits before the end, it sends
 * SIGINT to this process. Knows neither sessions nor tallies.
 *
 * All functions are called by the thread that measures.
 */
#ifndef STACKTALLY_TUI_TUI_H
#define STACKTALLY_TUI_TUI_H

#include "base/error.h"
#include "base/own.h"
#include "flame/flame_tree.h"

struct tui;

/*
 * `title` says what is measured; it is copied. `unit` and `events` are constants, as in struct
 * draw_status. 0 or a negative errno, as when there is no terminal
 * or it cannot be drawn on.
 */
int tui_open(const char *title, const char *unit, const char *events, struct tui **ret_tui,
	     struct error *err);
/* Restores the terminal and frees `tui`, which may be NULL. */
void tui_close(struct tui *tui);
DEFINE_OWN(struct tui, tui_close)

/* The numbers that the first line shows. */
struct tui_counts {
	uint64_t duration_ns, samples, lost;
};

/*
 * Shows the next tree, which is taken over unless this fails. `frames` stay the caller's; their
 * strings have to live until tui_close(). 0 or -ENOMEM.
 */
int tui_show(struct tui *tui, const struct flame_frames *frames, struct flame_tree *tree,
	     const struct tui_counts *counts);

/* Says that no more trees will follow, and waits until the user has quit. */
void tui_wait(struct tui *tui);

#endif
