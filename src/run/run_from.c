// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/own.h"
#include "cli/message.h"
#include "recording/recording.h"
#include "run/run_live.h"
#include "run/run_report.h"
#include "run/watch.h"

DEFINE_OWN(struct recording, recording_free)

static int browse(struct run_report *report, struct error *err)
{
	own(own_watch_free) struct watch *watch = NULL;
	int r = watch_new(&report->request->report, &watch);

	if (r < 0)
		return error_set(err, r, "out of memory");
	r = watch_begin(watch, &report->meta, err);
	if (r < 0)
		return r;
	r = watch_update(watch, report->tally, report->names, &report->meta, err);
	if (r < 0)
		return r;
	watch_end(watch, true);
	return 0;
}

/* Opens the outputs before --live or --tui shows the recording: errors come first. */
static int show_and_report(struct run_report *report, const struct recording *recording,
			   struct error *err)
{
	const struct run_request *request = report->request;
	int r = run_report_open(report, false, err);

	if (r == 0 && request->plan->live)
		r = run_live_serve(request, recording, err);
	if (r == 0 && request->plan->tui)
		r = browse(report, err);
	if (r == 0)
		r = run_report_write(report, err);
	return r < 0 ? r : run_report_finish(report, err);
}

static int report_recording(const struct run_request *request, const char *path, struct error *err)
{
	own(own_recording_free) struct recording *recording = NULL;
	struct run_report report = { .request = request };
	/* Not to wait for a writer if the path is a FIFO. */
	own(own_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int r;

	if (fd < 0)
		return error_set(err, -errno, "cannot read %s: %s", path, strerror(errno));
	r = recording_load(fd, path, &recording, err);
	if (r < 0)
		return r;
	report.meta = recording->meta;
	report.tally = recording->tally;
	report.names = recording->names;
	r = show_and_report(&report, recording, err);
	run_report_close(&report);
	return r;
}

int run_from(const struct run_request *request, const char *path)
{
	struct error err = { 0 };

	if (report_recording(request, path, &err) < 0)
		return message_error(request->program, &err);
	return EXIT_CLASS_OK;
}
