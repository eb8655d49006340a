/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The colours of boxes: a hue for each kind of frame, a shade for each name. */
#ifndef STACKTALLY_TUI_COLOURS_H
#define STACKTALLY_TUI_COLOURS_H

#include "flame/flame_frames.h"
#include "tui/screen.h"

/* `level`: how many colours there are; with few, shades would be other hues. */
struct screen_style colours_of(const struct flame_frame *frame, enum screen_colours level);

#endif
