/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The colours of flame graphs, in files and on terminals: by kind of frame, within a kind always
 * the same for a name. The page computes the same ones (report/page/colour.js).
 */
#ifndef STACKTALLY_FLAME_FLAME_COLOUR_H
#define STACKTALLY_FLAME_FLAME_COLOUR_H

#include "flame/flame_frames.h"

struct flame_colour {
	uint8_t red, green, blue;
};

struct flame_colour flame_colour_of(const struct flame_frame *frame);

/*
 * Red for more, blue for less, white for the same: `now` and `before` are samples on one scale.
 * The stronger, the larger the change is for its frame; what chance alone explains stays pale.
 */
struct flame_colour flame_colour_change(double now, double before);

#endif
