// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A flame graph as an SVG picture, with a script for zoom and search (flame/page/svg.js). A
 * profile with more boxes than fit into 4 MB loses the smallest, and says so where they were.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/own.h"
#include "flame/page_files.h"
#include "report/svg_boxes.h"
#include "report/writer.h"
#include "view/caption.h"
#include "view/facts.h"
#include "view/markup.h"

/* Pixels. */
#define FOOT  34
#define BELOW (16 + FOOT) /* below the boxes */

/* Limits of a picture: boxes and bytes. */
#define MAX_NODES 100000u
#define MAX_SIZE  4000000u

DEFINE_OWN(struct flame_frames, flame_frames_free)

static void put(struct svg *svg, const char *text)
{
	bytes_string(svg->bytes, text);
}

static void put_file(struct svg *svg, struct page_file file)
{
	bytes_put(svg->bytes, file.start, file.size);
}

static void put_caption(struct svg *svg, void (*caption)(struct bytes *, const struct profile *))
{
	struct bytes text;

	bytes_start(&text, NULL);
	caption(&text, svg->profile);
	bytes_char(&text, '\0');
	if (text.failed)
		svg->bytes->failed = text.failed;
	else
		markup_foreign(svg->bytes, text.start);
	bytes_clear(&text);
}

/* A background for the parts that stay in sight while the graph scrolls. */
static void put_back(struct svg *svg, double y, double height)
{
	put(svg, "<rect class=\"back\" x=\"0\" width=\"100%\"");
	svg_attribute(svg, "y", y);
	svg_attribute(svg, "height", height);
	put(svg, "/>");
}

/* An entry at `x`, of a colour or a class of boxes. Returns where the next one begins. */
static double put_entry(struct svg *svg, double x, const struct flame_colour *colour,
			const char *class, const char *text)
{
	double y = svg->height - 14;

	put(svg, "<rect");
	svg_attribute(svg, "x", x);
	svg_attribute(svg, "y", y - 10);
	put(svg, " width=\"12\" height=\"12\" rx=\"2\"");
	if (colour) {
		svg_fill(svg, *colour);
	} else {
		put(svg, " class=\"");
		put(svg, class);
		put(svg, "\"");
	}
	put(svg, "/><text");
	svg_attribute(svg, "x", x + 17);
	svg_attribute(svg, "y", y);
	put(svg, ">");
	put(svg, text);
	put(svg, "</text>");
	return x + 40 + 6.5 * (double)strlen(text);
}

static double put_kind(struct svg *svg, double x, enum flame_kind kind, const char *text)
{
	struct flame_frame frame = { .name = "u", .kind = kind };
	struct flame_colour colour = flame_colour_of(&frame);

	return put_entry(svg, x, &colour, NULL, text);
}

/* The kinds of frames that are in the picture: functions, then why threads were off the CPU. */
static double put_kinds(struct svg *svg, double x)
{
	static const struct {
		enum flame_kind kind;
		const char *text;
	} kinds[] = {
		{ FLAME_KERNEL, "kernel" },
		{ FLAME_USER, "user" },
		{ FLAME_CPP, "C++, Rust, D" },
		{ FLAME_INLINED, "inlined" },
		{ FLAME_JIT, "JIT" },
		{ FLAME_MARKER, "unknown" },
		{ FLAME_IDENTITY, "no symbol" },
	};
	bool present[FLAME_N_KINDS] = { 0 };

	for (uint32_t i = 0; i < svg->tree->n_nodes; i++)
		present[flame_frames_get(svg->frames, svg->tree->nodes[i].frame)->kind] = true;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (present[kinds[i].kind])
			x = put_kind(svg, x, kinds[i].kind, kinds[i].text);
	for (uint32_t kind = FLAME_N_PLAIN; kind < FLAME_N_KINDS; kind++)
		if (present[kind])
			x = put_kind(svg, x, kind, language_look(flame_kind_language(kind))->title);
	if (present[FLAME_BLOCKED])
		x = put_kind(svg, x, FLAME_BLOCKED, "blocked");
	return present[FLAME_WAITING] ? put_kind(svg, x, FLAME_WAITING, "waiting for a CPU") : x;
}

/* What is in the picture. */
static void put_legend(struct svg *svg)
{
	static const struct {
		double now, before;
		const char *text;
	} changes[] = { { 100, 0, "more" }, { 100, 100, "the same" }, { 0, 100, "less" } };
	bool base = svg->profile->base;
	double x = SVG_MARGIN;

	put(svg, "<g id=\"legend\">");
	for (size_t i = 0; base && i < sizeof(changes) / sizeof(changes[0]); i++) {
		struct flame_colour colour = flame_colour_change(changes[i].now, changes[i].before);

		x = put_entry(svg, x, &colour, NULL, changes[i].text);
	}
	if (!base)
		x = put_kinds(svg, x);
	if (svg->has_narrow)
		x = put_entry(svg, x, NULL, "band", "too narrow: click to zoom");
	if (svg->has_rest)
		put_entry(svg, x, NULL, "rest", "not in this file");
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
	markup_foreign(svg->bytes, text);
	put(svg, "\n");
}

static void put_head(struct svg *svg)
{
	char size[200];

	put(svg, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	snprintf(size, sizeof(size),
		 "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" "
		 "height=\"%u\" viewBox=\"0 0 %d %u\">\n",
		 SVG_WIDTH, svg->height, SVG_WIDTH, svg->height);
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
	put_back(svg, 0, SVG_HEAD - 4);
	put(svg, "<text id=\"title\" x=\"10\" y=\"26\">");
	put_caption(svg, caption_title);
	put(svg, "</text>\n<text id=\"subtitle\" x=\"10\" y=\"46\">");
	put_caption(svg, caption_subtitle);
	put(svg, "</text>\n<text id=\"matched\" x=\"1190\" y=\"46\" text-anchor=\"end\"></text>\n");
	put_button(svg, "reset", "Reset zoom", SVG_WIDTH - 168, 88);
	put_button(svg, "search", "Search", SVG_WIDTH - 74, 64);
	put(svg, "</g>\n");
}

static void put_bottom(struct svg *svg)
{
	put(svg, "<g id=\"bottom\">");
	put_back(svg, svg->height - BELOW, BELOW);
	put_legend(svg);
	put(svg, "<text id=\"details\"");
	svg_attribute(svg, "x", 10);
	svg_attribute(svg, "y", svg->height - FOOT + 2);
	put(svg, "></text></g>\n");
}

static void put_all(struct svg *svg)
{
	put_head(svg);
	svg_boxes(svg);
	put_top(svg);
	put_bottom(svg);
	put(svg, "<script><![CDATA[\n");
	put_file(svg, page_file_label_js());
	put_file(svg, page_file_svg_js());
	put(svg, "]]></script>\n</svg>\n");
}

static uint32_t svg_view(const struct report_options *options)
{
	struct flame_options flame = flame_tree_options(options);

	return flame_tree_view(&flame);
}

static int draw(struct svg *svg, struct bytes *picture)
{
	own(flame_layout_clear) struct flame_layout layout = { 0 };
	const struct profile *profile = svg->profile;
	double base_scale = profile->base ? scale_factor(&profile->base_scale) : 1;
	int r = flame_layout_make(svg->tree, base_scale, &layout);

	if (r < 0)
		return r;
	svg->layout = &layout;
	svg->bytes = picture;
	svg->scale = layout.boxes[0].width > 0
			     ? (SVG_WIDTH - 2 * SVG_MARGIN) / layout.boxes[0].width
			     : 0;
	svg->deepest = svg_deepest(svg);
	svg->height = SVG_HEAD + (svg->deepest + 1) * SVG_ROW + BELOW;
	put_all(svg);
	return picture->failed;
}

/* Leaves out larger and larger boxes until the picture is small enough. */
static int fit_picture(struct svg *svg, struct flame_tree *tree, struct bytes *picture)
{
	for (;;) {
		struct flame_tree less = { 0 };
		int r = draw(svg, picture);

		if (r < 0 || picture->used <= MAX_SIZE || tree->n_nodes <= 1)
			return r;
		r = flame_tree_prune(tree, tree->minimum + tree->minimum / 4 + 1, &less);
		if (r < 0)
			return r;
		flame_tree_clear(tree);
		*tree = less;
		picture->used = 0;
	}
}

static int make_picture(const struct report *report, struct bytes *picture)
{
	own(own_flame_frames_free) struct flame_frames *frames = NULL;
	own(flame_tree_clear) struct flame_tree tree = { 0 };
	struct flame_options flame = flame_tree_options(report->options);
	struct svg svg = { .profile = report->profile,
			   .tree = &tree,
			   .shares = report->profile->base_scale.how == SCALE_SHARES };
	int r = flame_frames_new(&frames);

	if (r < 0)
		return r;
	flame.max_nodes = MAX_NODES;
	r = flame_layout_tree(frames, report->profile, &flame, &tree);
	if (r < 0)
		return r;
	svg.frames = frames;
	return fit_picture(&svg, &tree, picture);
}

static int svg_write(const struct report *report, FILE *out, struct error *err)
{
	own(bytes_clear) struct bytes picture;
	int r;

	bytes_start(&picture, NULL);
	r = make_picture(report, &picture);
	if (r == 0) {
		picture.out = out;
		r = bytes_finish(&picture);
	}
	return report_result(r, err);
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
