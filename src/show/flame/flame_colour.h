/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The colours of flame graphs, in files and on terminals. The kind of a frame gives the hue, its
 * name the shade, so a name always has the same colour. Pages compute the same colours
 * (flame/page/colour.js).
 */
#ifndef STACKTALLY_FLAME_FLAME_COLOUR_H
#define STACKTALLY_FLAME_FLAME_COLOUR_H

#include "flame/flame_frames.h"

struct flame_colour {
	uint8_t red, green, blue;
};

struct flame_colour flame_colour_of(const struct flame_frame *frame);

/*
 * The colour of a difference: red for more, blue for less, white for the same. `now` and `before`
 * are samples on one scale. Large changes of a frame are stronger; changes that chance alone
 * explains stay pale.
 */
struct flame_colour flame_colour_change(double now, double before);

#endif
