// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "flame/flame_tree.h"
#include "tui/tui.h"
#include "view/quantity.h"

#define MAX_NODES 200000u
#define SHARE	  10 /* updates take at most 1/SHARE of the time */

struct watch {
	const struct report_options *report;
	struct flame_frames *frames;
	struct tui *tui;
	int hidden[3];		   /* copies of stdin, stdout and stderr; -1: not hidden */
	int messages, real_stderr; /* where stderr goes meanwhile, and a copy of it; or -1 */
	uint64_t next_ns;	   /* no update before */
};

int watch_new(const struct report_options *report, struct watch **ret_watch)
{
	own(own_watch_free) struct watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return -ENOMEM;
	watch->report = report;
	watch->messages = watch->real_stderr = -1;
	for (int i = 0; i < 3; i++)
		watch->hidden[i] = -1;
	if (flame_frames_new(&watch->frames) < 0)
		return -ENOMEM;
	*ret_watch = take_ptr(watch);
	return 0;
}

/* ---- the standard streams */

int watch_hide_terminal(struct watch *watch, struct error *err)
{
	own(own_fd) int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (nothing < 0)
		return error_set(err, -errno, "cannot open /dev/null: %s", strerror(errno));
	for (int i = 0; i < 3; i++) {
		if (!isatty(i))
			continue;
		watch->hidden[i] = fcntl(i, F_DUPFD_CLOEXEC, 3);
		if (watch->hidden[i] < 0 || dup2(nothing, i) < 0)
			return error_set(err, -errno, "cannot redirect: %s", strerror(errno));
	}
	return 0;
}

void watch_show_terminal(struct watch *watch)
{
	for (int i = 0; i < 3; i++) {
		if (watch->hidden[i] < 0)
			continue;
		dup2(watch->hidden[i], i);
		own_fd(&watch->hidden[i]);
		watch->hidden[i] = -1;
	}
}

static int keep_messages(struct watch *watch)
{
	if (!isatty(STDERR_FILENO))
		return 0;
	watch->messages = memfd_create("messages", MFD_CLOEXEC);
	watch->real_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (watch->messages < 0 || watch->real_stderr < 0 ||
	    dup2(watch->messages, STDERR_FILENO) < 0)
		return -errno;
	return 0;
}

static void release_messages(struct watch *watch)
{
	char bytes[4096];
	ssize_t n;

	if (watch->real_stderr >= 0) {
		dup2(watch->real_stderr, STDERR_FILENO);
		lseek(watch->messages, 0, SEEK_SET);
		while ((n = read(watch->messages, bytes, sizeof(bytes))) > 0) {
			if (write(STDERR_FILENO, bytes, (size_t)n) < 0)
				break;
		}
	}
	own_fd(&watch->messages);
	own_fd(&watch->real_stderr);
	watch->messages = watch->real_stderr = -1;
}

/* ---- updates */

int watch_begin(struct watch *watch, const struct profile_meta *meta, struct error *err)
{
	const char *event = meta->event ? meta->event : "";
	const char *name = meta->command ? meta->command : meta->title ? meta->title : "";
	char title[128];
	int r;

	if (meta->frequency)
		snprintf(title, sizeof(title), "%s %s %" PRIu64 " Hz", name, event,
			 meta->frequency);
	else
		snprintf(title, sizeof(title), "%s %s", name, event);
	r = tui_open(title, quantity_unit(meta), quantity_awaited(meta), &watch->tui, err);
	if (r < 0)
		return r;
	r = keep_messages(watch);
	return r < 0 ? error_set(err, r, "cannot redirect: %s", strerror(-r)) : 0;
}

bool watch_is_due(const struct watch *watch)
{
	return monotonic_ns() >= watch->next_ns;
}

static int make_tree(struct watch *watch, const struct tally *tally, const struct names *names,
		     const struct profile_meta *meta, struct flame_tree *ret_tree)
{
	struct flame_options options = flame_tree_options(watch->report);
	own(profile_clear) struct profile profile = { 0 };
	int r;

	options.max_nodes = MAX_NODES;
	r = profile_build(tally, names, meta,
			  flame_tree_view(&options) | report_options_hidden(watch->report),
			  watch->report->filter, &profile);
	if (r < 0)
		return r;
	return flame_tree_build(watch->frames, &profile, &options, ret_tree);
}

int watch_update(struct watch *watch, const struct tally *tally, const struct names *names,
		 const struct profile_meta *meta, struct error *err)
{
	const struct tally_losses *losses = tally_losses_of(tally);
	struct tui_counts counts = {
		.duration_ns = meta->duration_ns,
		.lost = tally_lost(losses),
	};
	own(flame_tree_clear) struct flame_tree tree = { 0 };
	uint64_t start = monotonic_ns(), end;
	int r = make_tree(watch, tally, names, meta, &tree);

	if (r == 0) {
		counts.samples = tree.nodes[0].total;
		r = tui_show(watch->tui, watch->frames, &tree, &counts);
	}
	if (r < 0)
		return error_set(err, r, "cannot draw: %s", strerror(-r));
	end = monotonic_ns();
	watch->next_ns = end + (end - start) * (SHARE - 1);
	return 0;
}

void watch_end(struct watch *watch, bool wait)
{
	if (wait && watch->tui)
		tui_wait(watch->tui);
	tui_close(watch->tui);
	watch->tui = NULL;
	release_messages(watch);
}

void watch_free(struct watch *watch)
{
	if (!watch)
		return;
	watch_end(watch, false);
	watch_show_terminal(watch);
	flame_frames_free(watch->frames);
	free(watch);
}
