/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A flame graph in the terminal, browsed by a thread of its own while others go on to measure. It
 * takes over the terminal from tui_open() to tui_close(), and sends this process SIGINT when the
 * user wants to end. Must not know: what a session is, names, tallies.
 */
#ifndef STACKTALLY_TUI_TUI_H
#define STACKTALLY_TUI_TUI_H

#include "base/error.h"
#include "base/own.h"
#include "flame/flame_tree.h"

struct tui;

/* `title`: what is measured, copied. 0 or a negative errno: there is no terminal, or a dumb one. */
int tui_open(const char *title, struct tui **ret_tui, struct error *err);
/* Gives the terminal back, whatever the state. */
void tui_close(struct tui *tui);
DEFINE_OWN(struct tui, tui_close)

/* What can be told of the measurement at any time. */
struct tui_counts {
	uint64_t duration_ns, samples, lost;
};

/*
 * The next tree, which is taken over, and its frames, which stay the caller's: their strings have
 * to live until tui_close(). 0 or -ENOMEM.
 */
int tui_show(struct tui *tui, const struct flame_frames *frames, struct flame_tree *tree,
	     const struct tui_counts *counts);

/* Nothing more is to come; waits until the user has seen enough, unless he said so already. */
void tui_wait(struct tui *tui);

#endif
