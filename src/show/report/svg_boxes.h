/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The boxes of an SVG flame graph, and what stands for boxes that are not drawn, so that no box
 * looks like a leaf that is none. Internal to report/svg.c.
 *
 * Each box of the tree is a <g> with its <title>, in preorder. A box narrower than half a pixel is
 * not displayed until the script zooms in. Where such boxes add up to half a pixel, a band is drawn
 * in their place. Where the tree has left out nodes, a box of the class "rest" stands for them,
 * above their parent, at every zoom.
 */
#ifndef STACKTALLY_REPORT_SVG_BOXES_H
#define STACKTALLY_REPORT_SVG_BOXES_H

#include "base/bytes.h"
#include "flame/flame_colour.h"
#include "flame/flame_layout.h"

/* Pixels. */
#define SVG_WIDTH  1200
#define SVG_MARGIN 10
#define SVG_ROW	   18
#define SVG_HEAD   64 /* above the boxes */

struct svg {
	const struct profile *profile;
	const struct flame_frames *frames;
	const struct flame_tree *tree;
	const struct flame_layout *layout;
	struct bytes *bytes;
	double scale;	  /* pixels per unit of the layout */
	uint32_t deepest; /* row of the first picture; zooming shows deeper ones */
	uint32_t height;
	bool shares;
	bool has_narrow, has_rest; /* set by svg_boxes(): what the legend explains */
};

void svg_boxes(struct svg *svg);

/* The depth of the deepest box or band that is displayed without zoom. */
uint32_t svg_deepest(const struct svg *svg);

/* Appends ` name="value"`. */
void svg_attribute(struct svg *svg, const char *name, double value);
/* Appends ` fill="#rrggbb"`. */
void svg_fill(struct svg *svg, struct flame_colour colour);

#endif
