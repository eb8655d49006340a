/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Colours of boxes: each kind of frame has a hue, and each name a shade of it. */
#ifndef STACKTALLY_TUI_COLOURS_H
#define STACKTALLY_TUI_COLOURS_H

#include "flame/flame_frames.h"
#include "tui/screen.h"

/* `level`: the colours of the terminal. With 16 of them there are no shades. */
struct screen_style colours_of(const struct flame_frame *frame, enum screen_colours level);

#endif
