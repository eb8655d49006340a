// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/svg_boxes.h"

#include "flame/flame_label.h"
#include "view/markup.h"
#include "view/quantity.h"

#define GLYPH	  7.23 /* width of a character in a box, pixels */
#define NARROWEST 0.5

static void put(struct svg *svg, const char *text)
{
	bytes_string(svg->bytes, text);
}

static bool is_narrow(const struct svg *svg, double width)
{
	return svg->scale > 0 && width * svg->scale < NARROWEST;
}

static double row_y(const struct svg *svg, uint32_t depth)
{
	return SVG_HEAD + ((double)svg->deepest - depth) * SVG_ROW;
}

/* "12 samples, 3.40 %", and in a comparison the base's numbers and the change. */
static void put_numbers(struct svg *svg, const struct flame_node *node)
{
	const struct flame_node *root = &svg->tree->nodes[0];
	double now = (double)node->total, before = (double)node->base_total;
	double more;

	quantity_put(svg->bytes, svg->profile->meta, node->total);
	put(svg, ", ");
	markup_percent(svg->bytes, now, (double)root->total);
	put(svg, " %");
	if (!svg->profile->base)
		return;
	put(svg, "; before: ");
	quantity_put_bare(svg->bytes, svg->profile->meta, node->base_total);
	put(svg, ", ");
	markup_percent(svg->bytes, before, (double)root->base_total);
	put(svg, " %; ");
	more = now - before * svg->layout->base_scale;
	put(svg, more < 0 ? "\xe2\x88\x92" : "+");
	if (svg->shares) {
		markup_percent(svg->bytes, more < 0 ? -more : more, (double)root->total);
		put(svg, " points");
	} else {
		quantity_put_bare(svg->bytes, svg->profile->meta,
				  (uint64_t)(more < 0 ? -more : more));
	}
}

/* The width of a character in cells, and its size in bytes. */
static unsigned int places(const char *at, size_t *ret_size)
{
	unsigned char first = (unsigned char)*at;

	*ret_size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	/* Two cells from U+1100 (e1 84 80) on. */
	return first > 0xe1 || (first == 0xe1 && (unsigned char)at[1] >= 0x84) ? 2 : 1;
}

static unsigned int cells(const char *text)
{
	unsigned int used = 0;
	size_t n;

	for (; *text; text += n)
		used += places(text, &n);
	return used;
}

/* The name, shortened if it is wider than the box, and if need be cut with an ellipsis. */
static void put_label(struct svg *svg, const char *name, double width)
{
	unsigned int capacity = width > 7 ? (unsigned int)((width - 7) / GLYPH) : 0, used = 0;
	char label[FLAME_NAME_MAX + 8];
	size_t size = 0, n;

	if (capacity < 3)
		return;
	snprintf(label, sizeof(label), "%s", name);
	for (enum flame_shorter step = 0; cells(label) > capacity && step < FLAME_N_SHORTER; step++)
		flame_label_shorten(label, step);
	if (cells(label) <= capacity) {
		markup_text(svg->bytes, label, strlen(label));
		return;
	}
	while (used + places(label + size, &n) < capacity) {
		used += places(label + size, &n);
		size += n;
	}
	markup_text(svg->bytes, label, size);
	put(svg, "\xe2\x80\xa6");
}

void svg_attribute(struct svg *svg, const char *name, double value)
{
	put(svg, " ");
	put(svg, name);
	put(svg, "=\"");
	if (value < 0)
		put(svg, "-");
	markup_number(svg->bytes, value < 0 ? -value : value);
	put(svg, "\"");
}

void svg_fill(struct svg *svg, struct flame_colour colour)
{
	put(svg, " fill=\"#");
	bytes_hex(svg->bytes,
		  (uint64_t)colour.red << 16 | (uint64_t)colour.green << 8 | colour.blue, 6, true);
	put(svg, "\"");
}

static struct flame_colour colour_of(const struct svg *svg, const struct flame_node *node)
{
	if (svg->profile->base)
		return flame_colour_change((double)node->total,
					   (double)node->base_total * svg->layout->base_scale);
	return flame_colour_of(flame_frames_get(svg->frames, node->frame));
}

/* Positions need two decimals. */
static double hundredth(double value)
{
	return (double)(uint64_t)(value * 100 + 0.5) / 100;
}

/* Where a box is, and what is known of it before its title. */
struct place {
	const char *class; /* or NULL */
	double x, width;   /* of the layout */
	double y;
	uint64_t total;
};

static void open_box(struct svg *svg, const struct place *place)
{
	bool narrow = is_narrow(svg, place->width);

	svg->has_narrow |= narrow;
	put(svg, "<g");
	svg_attribute(svg, "data-x", place->x);
	svg_attribute(svg, "data-w", place->width);
	svg_attribute(svg, "data-n", (double)place->total);
	if (place->class || narrow) {
		put(svg, " class=\"");
		put(svg, place->class ? place->class : "");
		put(svg, place->class && narrow ? " " : "");
		put(svg, narrow ? "off\"" : "\"");
	}
	put(svg, "><title>");
}

/* The script gives a box that is narrow its place when it shows it. */
static void close_box(struct svg *svg, const struct place *place, const struct flame_colour *colour,
		      const char *label)
{
	double x = SVG_MARGIN + place->x * svg->scale, width = place->width * svg->scale;
	bool narrow = is_narrow(svg, place->width);

	put(svg, "</title><rect");
	if (!narrow)
		svg_attribute(svg, "x", hundredth(x));
	svg_attribute(svg, "y", place->y);
	if (!narrow) {
		svg_attribute(svg, "width", hundredth(width > 0.9 ? width - 0.6 : 0.3));
		put(svg, " height=\"17\" rx=\"2\"");
	}
	if (colour)
		svg_fill(svg, *colour);
	put(svg, "/>");
	if (width >= 7 + 3 * GLYPH) {
		put(svg, "<text");
		svg_attribute(svg, "x", hundredth(x + 3.5));
		svg_attribute(svg, "y", place->y + 13);
		put(svg, ">");
		put_label(svg, label, width);
		put(svg, "</text>");
	}
	put(svg, "</g>\n");
}

static void put_box(struct svg *svg, uint32_t i)
{
	const struct flame_node *node = &svg->tree->nodes[i];
	const struct flame_frame *frame = flame_frames_get(svg->frames, node->frame);
	const struct flame_box *box = &svg->layout->boxes[i];
	const struct place place = {
		.x = box->x, .width = box->width, .y = row_y(svg, node->depth), .total = node->total
	};
	const struct flame_colour colour = colour_of(svg, node);

	open_box(svg, &place);
	markup_text(svg->bytes, frame->name, strlen(frame->name));
	/* On the line of the numbers: the search looks at the first line only. */
	put(svg, "\n");
	if (frame->module[0] && frame->kind != FLAME_MARKER) {
		markup_text(svg->bytes, frame->module, strlen(frame->module));
		put(svg, ", ");
	}
	put_numbers(svg, node);
	close_box(svg, &place, &colour, frame->name);
}

/* ---- what stands for boxes that are not drawn ---- */

/* The samples of children of a node that the tree left out; false if there are none. */
static bool left_out(const struct svg *svg, uint32_t i, struct place *ret_place)
{
	const struct flame_node *nodes = svg->tree->nodes, *node = &nodes[i];
	uint64_t total = node->total - node->self, base = node->base_total - node->base_self;
	const struct flame_box *box = &svg->layout->boxes[i];
	double x = box->x, base_width;

	for (uint32_t c = i + 1; c < node->end; c = nodes[c].end) {
		total -= nodes[c].total;
		base -= nodes[c].base_total;
		x = svg->layout->boxes[c].x + svg->layout->boxes[c].width;
	}
	base_width = (double)base * svg->layout->base_scale;
	*ret_place =
		(struct place){ .class = "rest",
				.x = x,
				.width = (double)total > base_width ? (double)total : base_width,
				.y = row_y(svg, node->depth + 1),
				.total = total };
	return total || base;
}

#define NOT_HERE "narrower frames, not in this file"

static void put_rest(struct svg *svg, uint32_t i)
{
	struct place place;

	if (!left_out(svg, i, &place))
		return;
	svg->has_rest = true;
	open_box(svg, &place);
	put(svg, NOT_HERE "\n");
	quantity_put(svg->bytes, svg->profile->meta, place.total);
	put(svg, ", ");
	markup_percent(svg->bytes, (double)place.total, (double)svg->tree->nodes[0].total);
	put(svg, " %: each frame has less than ");
	quantity_put_bare(svg->bytes, svg->profile->meta, svg->tree->minimum);
	close_box(svg, &place, NULL, NOT_HERE);
}

/* A run of boxes side by side, each too narrow to draw. */
struct run {
	double x, width;
	uint32_t depth;
};

static void put_band(struct svg *svg, struct run *run)
{
	if (run->width > 0 && !is_narrow(svg, run->width)) {
		put(svg, "<rect");
		svg_attribute(svg, "x", hundredth(SVG_MARGIN + run->x * svg->scale));
		svg_attribute(svg, "y", row_y(svg, run->depth));
		svg_attribute(svg, "width", hundredth(run->width * svg->scale));
		put(svg, " height=\"17\"/>\n");
	}
	run->width = 0;
}

static void extend(struct run *run, double x, double width)
{
	if (run->width <= 0)
		run->x = x;
	run->width = x + width - run->x;
}

/* Puts the bands above a box that is drawn. */
static void put_bands(struct svg *svg, uint32_t i)
{
	const struct flame_node *nodes = svg->tree->nodes;
	struct run run = { .depth = nodes[i].depth + 1 };
	struct place rest;

	for (uint32_t c = i + 1; c < nodes[i].end; c = nodes[c].end) {
		const struct flame_box *box = &svg->layout->boxes[c];

		if (is_narrow(svg, box->width))
			extend(&run, box->x, box->width);
		else
			put_band(svg, &run);
	}
	if (left_out(svg, i, &rest) && is_narrow(svg, rest.width))
		extend(&run, rest.x, rest.width);
	put_band(svg, &run);
}

/* The node after this one that may be drawn: nothing above a narrow one is. */
static uint32_t next_drawn(const struct svg *svg, uint32_t i)
{
	const struct flame_node *nodes = svg->tree->nodes;

	for (i++; i < svg->tree->n_nodes && is_narrow(svg, svg->layout->boxes[i].width);)
		i = nodes[i].end;
	return i;
}

uint32_t svg_deepest(const struct svg *svg)
{
	const struct flame_node *nodes = svg->tree->nodes;
	uint32_t deepest = 0;

	for (uint32_t i = 0; i < svg->tree->n_nodes; i = next_drawn(svg, i)) {
		/* A band or the rest may be drawn above it. */
		uint32_t depth = nodes[i].depth + (nodes[i].total > nodes[i].self ||
						   nodes[i].base_total > nodes[i].base_self);

		if (depth > deepest)
			deepest = depth;
	}
	return deepest;
}

void svg_boxes(struct svg *svg)
{
	const struct flame_node *nodes = svg->tree->nodes;

	put(svg, "<g id=\"frames\">\n");
	for (uint32_t i = 0; i < svg->tree->n_nodes && !svg->bytes->failed; i++) {
		put_box(svg, i);
		/* The rest of a node comes after its children, at the right. */
		for (uint32_t last = i; nodes[last].end == i + 1; last = nodes[last].parent) {
			put_rest(svg, last);
			if (last == 0)
				break;
		}
	}
	put(svg, "</g>\n<g id=\"bands\" data-unit=\"");
	put(svg, quantity_unit(svg->profile->meta));
	put(svg, "\">\n");
	for (uint32_t i = 0; i < svg->tree->n_nodes && !svg->bytes->failed; i = next_drawn(svg, i))
		put_bands(svg, i);
	put(svg, "</g>\n");
}
