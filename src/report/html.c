// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A flame graph as a page of one file: report/page.h. Of profiles with more boxes than a page can
 * hold, the smallest are left out.
 */
#include <errno.h>

#include "base/own.h"
#include "flame/flame_layout.h"
#include "flame/page.h"
#include "report/writer.h"

/* Boxes of a page: so many, of which no two are alike, take 4 MB. */
#define MAX_NODES 700000u
#define MAX_SIZE  4900000u

DEFINE_OWN(struct flame_frames, flame_frames_free)

static struct flame_options html_options(const struct report_options *report)
{
	struct flame_options options = flame_tree_options(report);

	/* The page puts processes together, or tells them apart, as its reader likes. */
	if (options.who == FLAME_WHO_COMM && !report->diff)
		options.who = FLAME_WHO_PROCESS;
	options.max_nodes = MAX_NODES;
	return options;
}

static uint32_t html_view(const struct report_options *options)
{
	struct flame_options flame = html_options(options);

	return flame_tree_view(&flame) | flame_tree_sides(options);
}

static int make_page(const struct profile *profile, const struct flame_frames *frames,
		     const struct flame_tree *tree, const struct report_options *options,
		     struct bytes *page)
{
	struct page_options how = { .shares = !options->diff_counts };
	struct bytes data;
	int r;

	bytes_start(&data, NULL);
	r = page_data(profile, frames, tree, &how, &data);
	if (r == 0)
		r = page_file(data.start, data.used, page);
	bytes_clear(&data);
	return r;
}

/* Raises what is left out until the page is small enough. */
static int fit_page(const struct profile *profile, const struct flame_frames *frames,
		    struct flame_tree *tree, const struct report_options *options,
		    struct bytes *page)
{
	int r;

	while ((r = make_page(profile, frames, tree, options, page)) == 0 &&
	       page->used > MAX_SIZE && tree->n_nodes > 1) {
		struct flame_tree less = { 0 };

		r = flame_tree_prune(tree, tree->minimum + tree->minimum / 4 + 1, &less);
		if (r < 0)
			return r;
		flame_tree_clear(tree);
		*tree = less;
		page->used = 0;
	}
	return r;
}

static int html_write(const struct report *report, FILE *out, struct error *err)
{
	const struct profile *profile = report->profile;
	const struct report_options *options = report->options;
	own(own_flame_frames_free) struct flame_frames *frames = NULL;
	struct flame_options flame = html_options(options);
	struct flame_tree tree = { 0 };
	struct bytes page;
	int r = flame_frames_new(&frames);

	bytes_start(&page, NULL);
	if (r == 0)
		r = flame_layout_tree(frames, profile, &flame, &tree);
	if (r == 0)
		r = fit_page(profile, frames, &tree, options, &page);
	if (r == 0) {
		page.out = out;
		r = bytes_finish(&page);
	}
	flame_tree_clear(&tree);
	bytes_clear(&page);
	return report_result(r, err);
}

static const char *const extensions[] = { ".html", ".htm", NULL };

const struct writer html_writer = {
	.name = "html",
	.description = "flame graph to walk through, a page of one file for a browser",
	.extensions = extensions,
	.diffs = true,
	.whole = true,
	.view = html_view,
	.write = html_write,
};
