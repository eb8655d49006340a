// SPDX-License-Identifier: GPL-2.0-or-later
/* --tui: the flame graph in the terminal (watch.h). */
#include <errno.h>
#include <stdlib.h>

#include "base/own.h"
#include "run/sink.h"
#include "run/watch.h"

struct tui_sink {
	struct watch *watch;
	const struct run_report *report;
};

static void tui_close(void *self)
{
	struct tui_sink *tui = self;

	if (!tui)
		return;
	watch_free(tui->watch);
	free(tui);
}

DEFINE_OWN(void, tui_close)

/* The command that the session makes ready inherits the hidden terminal. */
static int tui_open(const struct sink_source *source, struct plan *plan, void **ret_self,
		    struct error *err)
{
	own(own_tui_close) void *self = NULL;
	struct tui_sink *tui;
	int r;

	if (!plan->tui)
		return 0;
	self = tui = calloc(1, sizeof(*tui));
	if (!tui)
		return error_set(err, -ENOMEM, "out of memory");
	tui->report = source->report;
	r = watch_new(&source->report->request->report, &tui->watch);
	if (r < 0)
		return error_set(err, r, "out of memory");
	r = plan->command ? watch_hide_terminal(tui->watch, err) : 0;
	if (r == 0)
		*ret_self = take_ptr(self);
	return r;
}

static int tui_loaded(void *self, struct error *err)
{
	(void)err;
	watch_show_terminal(((struct tui_sink *)self)->watch);
	return 0;
}

static int tui_begin(void *self, const struct sink_source *source, struct error *err)
{
	return watch_begin(((struct tui_sink *)self)->watch, &source->report->meta, err);
}

static bool tui_wants_names(void *self)
{
	return watch_is_due(((struct tui_sink *)self)->watch);
}

static int tui_show(void *self, enum session_event event, struct error *err)
{
	struct tui_sink *tui = self;
	const struct run_report *report = tui->report;
	int r = watch_update(tui->watch, report->tally, report->names, &report->meta, err);

	/* After an interrupt, do not wait for another key. */
	if (r == 0 && !session_goes_on(event))
		watch_end(tui->watch, event == SESSION_ENDED);
	return r;
}

const struct sink_ops tui_sink = {
	.cumulative = true,
	.takes_terminal = true,
	.open = tui_open,
	.loaded = tui_loaded,
	.begin = tui_begin,
	.wants_names = tui_wants_names,
	.show = tui_show,
	.close = tui_close,
};
