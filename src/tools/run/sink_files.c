// SPDX-License-Identifier: GPL-2.0-or-later
/* The outputs of the plan: stdout and files, and the warnings on stderr that go with a report. */
#include "run/sink.h"

static int files_open(const struct sink_source *source, struct plan *plan, void **ret_self,
		      struct error *err)
{
	int r = run_report_open(source->report, plan->interval > 0, err);

	if (r < 0)
		run_report_close(source->report);
	else
		*ret_self = source->report;
	return r;
}

static int files_announce(void *self, struct error *err)
{
	return run_report_announce(self, err);
}

static int files_report(void *self, struct error *err)
{
	return run_report_write(self, err);
}

static int files_finish(void *self, struct error *err)
{
	return run_report_finish(self, err);
}

static void files_close(void *self)
{
	run_report_close(self);
}

const struct sink_ops files_sink = {
	.open = files_open,
	.announce = files_announce,
	.report = files_report,
	.finish = files_finish,
	.close = files_close,
};
