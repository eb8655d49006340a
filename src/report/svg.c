// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A flame graph as an SVG picture, with a script for zoom and search (flame/page/svg.js). Boxes
 * narrower than half a pixel are left out with all boxes above them.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/own.h"
#include "flame/flame_colour.h"
#include "flame/flame_layout.h"
#include "flame/page_files.h"
#include "report/writer.h"
#include "view/caption.h"
#include "view/facts.h"
#include "view/markup.h"

/* Pixels. */
#define WIDTH	  1200
#define MARGIN	  10
#define ROW	  18
#define HEAD	  64 /* above the boxes */
#define FOOT	  34
#define BELOW	  (16 + FOOT) /* below the boxes */
#define GLYPH	  7.23	      /* width of a character in a box */
#define NARROWEST 0.5

struct svg {
	const struct profile *profile;
	const struct flame_frames *frames;
	const struct flame_tree *tree;
	const struct flame_layout *layout;
	struct bytes bytes;
	double scale; /* pixels per unit of the layout */
	uint32_t deepest;
	uint32_t height;
	bool shares;
};

DEFINE_OWN(struct flame_frames, flame_frames_free)

static void put(struct svg *svg, const char *text)
{
	bytes_string(&svg->bytes, text);
}

static void put_file(struct svg *svg, struct page_file file)
{
	bytes_put(&svg->bytes, file.start, file.size);
}

static bool is_drawn(const struct svg *svg, uint32_t node)
{
	return node == 0 || svg->layout->boxes[node].width * svg->scale >= NARROWEST;
}

static uint32_t deepest_drawn(const struct svg *svg)
{
	uint32_t deepest = 0;

	for (uint32_t i = 0; i < svg->tree->n_nodes;) {
		const struct flame_node *node = &svg->tree->nodes[i];

		if (is_drawn(svg, i) && node->depth > deepest)
			deepest = node->depth;
		i = is_drawn(svg, i) ? i + 1 : node->end;
	}
	return deepest;
}

/* ---- a box ---- */

/* "12 samples, 3.40 %", and in a comparison the base's numbers and the change. */
static void put_numbers(struct svg *svg, const struct flame_node *node)
{
	const struct flame_node *root = &svg->tree->nodes[0];
	double now = (double)node->total, before = (double)node->base_total;
	double more;

	markup_count(&svg->bytes, node->total);
	put(svg, " ");
	put(svg, caption_unit(svg->profile));
	put(svg, ", ");
	markup_percent(&svg->bytes, now, (double)root->total);
	put(svg, " %");
	if (!svg->profile->base)
		return;
	put(svg, "; before: ");
	markup_count(&svg->bytes, node->base_total);
	put(svg, ", ");
	markup_percent(&svg->bytes, before, (double)root->base_total);
	put(svg, " %; ");
	more = now - before * svg->layout->base_scale;
	put(svg, more < 0 ? "\xe2\x88\x92" : "+");
	if (svg->shares) {
		markup_percent(&svg->bytes, more < 0 ? -more : more, (double)root->total);
		put(svg, " points");
	} else {
		markup_count(&svg->bytes, (uint64_t)(more < 0 ? -more : more));
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

/* The name, cut with an ellipsis if it is wider than the box. */
static void put_label(struct svg *svg, const char *name, double width)
{
	unsigned int room = width > 7 ? (unsigned int)((width - 7) / GLYPH) : 0, used = 0;
	size_t fits = 0, size = 0, n; /* fits: bytes that leave room for the ellipsis */

	if (room < 3)
		return;
	while (name[size]) {
		used += places(name + size, &n);
		if (used > room)
			break;
		size += n;
		if (used + 1 <= room)
			fits = size;
	}
	markup_text(&svg->bytes, name, name[size] ? fits : size);
	if (name[size])
		put(svg, "\xe2\x80\xa6");
}

static void put_attribute(struct svg *svg, const char *name, double value)
{
	put(svg, " ");
	put(svg, name);
	put(svg, "=\"");
	markup_number(&svg->bytes, value);
	put(svg, "\"");
}

static void put_colour(struct svg *svg, const struct flame_node *node)
{
	const struct flame_frame *frame = flame_frames_get(svg->frames, node->frame);
	struct flame_colour colour =
		svg->profile->base
			? flame_colour_change((double)node->total,
					      (double)node->base_total * svg->layout->base_scale)
			: flame_colour_of(frame);

	put(svg, " fill=\"#");
	bytes_hex(&svg->bytes,
		  (uint64_t)colour.red << 16 | (uint64_t)colour.green << 8 | colour.blue, 6, true);
	put(svg, "\"");
}

/* Positions need two decimals. */
static double hundredth(double value)
{
	return (double)(uint64_t)(value * 100 + 0.5) / 100;
}

static void put_box(struct svg *svg, uint32_t i)
{
	const struct flame_node *node = &svg->tree->nodes[i];
	const struct flame_frame *frame = flame_frames_get(svg->frames, node->frame);
	const struct flame_box *box = &svg->layout->boxes[i];
	double x = MARGIN + box->x * svg->scale, width = box->width * svg->scale;
	double y = HEAD + (double)(svg->deepest - node->depth) * ROW;

	put(svg, "<g");
	put_attribute(svg, "data-x", box->x);
	put_attribute(svg, "data-w", box->width);
	put_attribute(svg, "data-n", (double)node->total);
	put(svg, "><title>");
	markup_text(&svg->bytes, frame->name, strlen(frame->name));
	if (frame->module[0] && frame->kind != FLAME_MARKER) {
		/* On the line of the numbers: the search looks at the first line only. */
		put(svg, "\n");
		markup_text(&svg->bytes, frame->module, strlen(frame->module));
		put(svg, ", ");
	} else {
		put(svg, "\n");
	}
	put_numbers(svg, node);
	put(svg, "</title><rect");
	put_attribute(svg, "x", hundredth(x));
	put_attribute(svg, "y", y);
	put_attribute(svg, "width", hundredth(width > 0.9 ? width - 0.6 : 0.3));
	put(svg, " height=\"17\" rx=\"2\"");
	put_colour(svg, node);
	put(svg, "/>");
	if (width >= 7 + 3 * GLYPH) {
		put(svg, "<text");
		put_attribute(svg, "x", hundredth(x + 3.5));
		put_attribute(svg, "y", y + 13);
		put(svg, ">");
		put_label(svg, frame->name, width);
		put(svg, "</text>");
	}
	put(svg, "</g>\n");
}

/* ---- around the boxes ---- */

static void put_caption(struct svg *svg, void (*caption)(struct bytes *, const struct profile *))
{
	struct bytes text;

	bytes_start(&text, NULL);
	caption(&text, svg->profile);
	bytes_char(&text, '\0');
	if (text.failed)
		svg->bytes.failed = text.failed;
	else
		markup_foreign(&svg->bytes, text.start);
	bytes_clear(&text);
}

/* A background for the parts that stay in sight while the graph scrolls. */
static void put_back(struct svg *svg, double y, double height)
{
	put(svg, "<rect class=\"back\" x=\"0\" width=\"100%\"");
	put_attribute(svg, "y", y);
	put_attribute(svg, "height", height);
	put(svg, "/>");
}

static void put_legend(struct svg *svg)
{
	static const struct {
		enum flame_kind kind;
		const char *text;
	} kinds[] = {
		{ FLAME_KERNEL, "kernel" },   { FLAME_USER, "user" }, { FLAME_CPP, "C++, Rust, D" },
		{ FLAME_INLINED, "inlined" }, { FLAME_JIT, "JIT" },   { FLAME_MARKER, "unknown" },
	};
	static const struct {
		double now, before;
		const char *text;
	} changes[] = { { 100, 0, "more" }, { 100, 100, "the same" }, { 0, 100, "less" } };
	uint32_t n = svg->profile->base ? 3 : 6;
	double x = MARGIN, y = svg->height - 14;

	put(svg, "<g id=\"legend\">");
	for (uint32_t i = 0; i < n; i++) {
		struct flame_frame frame = { .name = "u", .kind = kinds[i].kind };
		struct flame_colour colour =
			svg->profile->base
				? flame_colour_change(changes[i % 3].now, changes[i % 3].before)
				: flame_colour_of(&frame);
		const char *text = svg->profile->base ? changes[i % 3].text : kinds[i].text;

		put(svg, "<rect");
		put_attribute(svg, "x", x);
		put_attribute(svg, "y", y - 10);
		put(svg, " width=\"12\" height=\"12\" rx=\"2\" fill=\"#");
		bytes_hex(&svg->bytes,
			  (uint64_t)colour.red << 16 | (uint64_t)colour.green << 8 | colour.blue, 6,
			  true);
		put(svg, "\"/><text");
		put_attribute(svg, "x", x + 17);
		put_attribute(svg, "y", y);
		put(svg, ">");
		put(svg, text);
		put(svg, "</text>");
		x += 40 + 6.5 * (double)strlen(text);
	}
	put(svg, "</g>\n");
}

static void put_button(struct svg *svg, const char *id, const char *text, int x, int width)
{
	char markup[300];

	snprintf(markup, sizeof(markup),
		 "<g id=\"%s\" class=\"button off\" transform=\"translate(%d,10)\">"
		 "<rect width=\"%d\" height=\"22\" rx=\"4\"/>"
		 "<text x=\"%d\" y=\"15\" text-anchor=\"middle\">%s</text></g>\n",
		 id, x, width, width / 2, text);
	put(svg, markup);
}

static void put_fact(void *context, const char *name, const char *text)
{
	struct svg *svg = context;

	put(svg, name);
	put(svg, ": ");
	markup_foreign(&svg->bytes, text);
	put(svg, "\n");
}

static void put_head(struct svg *svg)
{
	char size[200];

	put(svg, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	snprintf(size, sizeof(size),
		 "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" "
		 "height=\"%u\" viewBox=\"0 0 %d %u\">\n",
		 WIDTH, svg->height, WIDTH, svg->height);
	put(svg, size);
	put(svg, "<title>");
	put_caption(svg, caption_title);
	put(svg, "</title>\n<desc>");
	facts_each(svg->profile, put_fact, svg);
	put(svg, "</desc>\n<style><![CDATA[\n");
	put_file(svg, page_file_svg_css());
	put(svg, "]]></style>\n");
}

static void put_top(struct svg *svg)
{
	put(svg, "<g id=\"top\">");
	put_back(svg, 0, HEAD - 4);
	put(svg, "<text id=\"title\" x=\"10\" y=\"26\">");
	put_caption(svg, caption_title);
	put(svg, "</text>\n<text id=\"subtitle\" x=\"10\" y=\"46\">");
	put_caption(svg, caption_subtitle);
	put(svg, "</text>\n<text id=\"matched\" x=\"1190\" y=\"46\" text-anchor=\"end\"></text>\n");
	put_button(svg, "reset", "Reset zoom", WIDTH - 168, 88);
	put_button(svg, "search", "Search", WIDTH - 74, 64);
	put(svg, "</g>\n");
}

static void put_bottom(struct svg *svg)
{
	put(svg, "<g id=\"bottom\">");
	put_back(svg, svg->height - BELOW, BELOW);
	put_legend(svg);
	put(svg, "<text id=\"details\"");
	put_attribute(svg, "x", 10);
	put_attribute(svg, "y", svg->height - FOOT + 2);
	put(svg, "></text></g>\n");
}

static void put_all(struct svg *svg)
{
	put_head(svg);
	put(svg, "<g id=\"frames\">\n");
	for (uint32_t i = 0; i < svg->tree->n_nodes && !svg->bytes.failed;) {
		bool drawn = is_drawn(svg, i);

		if (drawn)
			put_box(svg, i);
		i = drawn ? i + 1 : svg->tree->nodes[i].end;
	}
	put(svg, "</g>\n");
	put_top(svg);
	put_bottom(svg);
	put(svg, "<script><![CDATA[\n");
	put_file(svg, page_file_svg_js());
	put(svg, "]]></script>\n</svg>\n");
}

static uint32_t svg_view(const struct report_options *options)
{
	struct flame_options flame = flame_tree_options(options);

	return flame_tree_view(&flame) | flame_tree_sides(options);
}

static int draw(struct svg *svg, FILE *out)
{
	double width = svg->layout->boxes[0].width;
	int r;

	svg->scale = width > 0 ? (WIDTH - 2 * MARGIN) / width : 0;
	svg->deepest = deepest_drawn(svg);
	svg->height = HEAD + (svg->deepest + 1) * ROW + BELOW;
	bytes_start(&svg->bytes, out);
	put_all(svg);
	r = bytes_finish(&svg->bytes);
	bytes_clear(&svg->bytes);
	return r;
}

static int lay_out_and_draw(const struct report *report, FILE *out)
{
	own(own_flame_frames_free) struct flame_frames *frames = NULL;
	own(flame_layout_clear) struct flame_layout layout = { 0 };
	own(flame_tree_clear) struct flame_tree tree = { 0 };
	struct flame_options flame = flame_tree_options(report->options);
	struct svg svg = { .profile = report->profile,
			   .tree = &tree,
			   .layout = &layout,
			   .shares = report->profile->base_scale.how == SCALE_SHARES };
	double scale = report->profile->base ? scale_factor(&report->profile->base_scale) : 1;
	int r = flame_frames_new(&frames);

	if (r < 0)
		return r;

	/* Half a pixel; a little less in a comparison, whose layout is wider. */
	flame.minimum = (uint64_t)((double)report->profile->total * NARROWEST / (2 * WIDTH));
	r = flame_layout_tree(frames, report->profile, &flame, &tree);
	if (r < 0)
		return r;
	r = flame_layout_make(&tree, scale, &layout);
	if (r < 0)
		return r;
	svg.frames = frames;
	return draw(&svg, out);
}

static int svg_write(const struct report *report, FILE *out, struct error *err)
{
	return report_result(lay_out_and_draw(report, out), err);
}

static const char *const extensions[] = { ".svg", NULL };

const struct writer svg_writer = {
	.name = "svg",
	.description = "flame graph, with zoom and search, for a browser",
	.extensions = extensions,
	.whole = true,
	.diffs = true,
	.view = svg_view,
	.write = svg_write,
};
