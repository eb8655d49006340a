// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A flame graph as an HTML page in one file (flame/page.h). If a profile has more boxes than fit
 * into a page, the smallest are left out.
 */
#include <errno.h>

#include "base/own.h"
#include "flame/flame_layout.h"
#include "flame/page.h"
#include "report/writer.h"

/* Limits of a page: boxes, of which that many distinct ones take 4 MB, and bytes. */
#define MAX_NODES 700000u
#define MAX_SIZE  4900000u

DEFINE_OWN(struct flame_frames, flame_frames_free)

static struct flame_options html_options(const struct report_options *report)
{
	struct flame_options options = flame_tree_options(report);

	/* The page can show processes merged or apart. */
	if (options.who == FLAME_WHO_COMM && !report->by_comm)
		options.who = FLAME_WHO_PROCESS;
	options.max_nodes = MAX_NODES;
	options.leaves = true;
	return options;
}

static uint32_t html_view(const struct report_options *options)
{
	struct flame_options flame = html_options(options);

	return flame_tree_view(&flame) | PROFILE_VIEW_ENTRY_OF | PROFILE_VIEW_ASLEEP;
}

static int make_page(const struct report *report, const struct flame_frames *frames,
		     const struct flame_tree *tree, struct bytes *page)
{
	const struct profile *profile = report->profile;
	const struct measurement *measurement = &report->measurement;
	struct page_options how = { .shares = profile->base_scale.how == SCALE_SHARES,
				    .base_scale = profile->base ? scale_factor(&profile->base_scale)
								: 1 };
	own(bytes_clear) struct bytes data;
	int r;

	/* A comparison shows no times. */
	if (tree->leaf_of && measurement->timeline &&
	    timeline_tells(measurement->timeline, measurement->tally))
		how.timeline = measurement->timeline;
	bytes_start(&data, NULL);
	r = page_data(profile, frames, tree, &how, &data);
	return r < 0 ? r : page_file(data.start, data.used, page);
}

/* Leaves out larger and larger boxes until the page is small enough. */
static int fit_page(const struct report *report, const struct flame_frames *frames,
		    struct flame_tree *tree, struct bytes *page)
{
	for (;;) {
		struct flame_tree less = { 0 };
		int r = make_page(report, frames, tree, page);

		if (r < 0 || page->used <= MAX_SIZE || tree->n_nodes <= 1)
			return r;
		r = flame_tree_prune(tree, tree->minimum + tree->minimum / 4 + 1, &less);
		if (r < 0)
			return r;
		flame_tree_clear(tree);
		*tree = less;
		page->used = 0;
	}
}

static int draw(const struct report *report, struct bytes *page)
{
	own(own_flame_frames_free) struct flame_frames *frames = NULL;
	own(flame_tree_clear) struct flame_tree tree = { 0 };
	struct flame_options flame = html_options(report->options);
	int r = flame_frames_new(&frames);

	if (r < 0)
		return r;
	r = flame_layout_tree(frames, report->profile, &flame, &tree);
	if (r < 0)
		return r;
	return fit_page(report, frames, &tree, page);
}

static int html_write(const struct report *report, FILE *out, struct error *err)
{
	own(bytes_clear) struct bytes page;
	int r;

	bytes_start(&page, NULL);
	r = draw(report, &page);
	if (r == 0) {
		page.out = out;
		r = bytes_finish(&page);
	}
	return report_result(r, err);
}

static const char *const extensions[] = { ".html", ".htm", NULL };

const struct writer html_writer = {
	.name = "html",
	.description = "interactive flame graph, an HTML page in one file",
	.extensions = extensions,
	.diffs = true,
	.whole = true,
	.times = WRITER_TIMES_SECONDS,
	.view = html_view,
	.write = html_write,
};
