// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --keep: keeps a recording of each of the last intervals (run/kept.h), for `stacktally last`.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own.h"
#include "cli/message.h"
#include "recording/recording.h"
#include "run/kept.h"
#include "run/sink.h"

#define NEW "new" /* the name of a recording until it is complete */

struct keep_sink {
	const struct run_report *report;
	uint64_t keep_ns;
	int directory;
	char *path;
	bool warned; /* that something could not be kept */
};

static void keep_close(void *self)
{
	struct keep_sink *sink = self;

	if (!sink)
		return;
	if (sink->directory >= 0) {
		kept_remove(sink->directory, sink->path);
		close(sink->directory);
	}
	free(sink->path);
	free(sink);
}

DEFINE_OWN(void, keep_close)

static int keep_open(const struct sink_source *source, struct plan *plan, void **ret_self,
		     struct error *err)
{
	own(own_keep_close) void *self = NULL;
	struct keep_sink *sink;
	int r;

	if (plan->keep <= 0)
		return 0;
	self = sink = calloc(1, sizeof(*sink));
	if (!sink)
		return error_set(err, -ENOMEM, "out of memory");
	sink->directory = -1;
	sink->report = source->report;
	sink->keep_ns = (uint64_t)(plan->keep * (double)NS_PER_SECOND);
	r = kept_open(source->report->request->meta.command, &sink->directory, &sink->path, err);
	if (r == 0)
		*ret_self = take_ptr(self);
	return r;
}

static int keep_announce(void *self, struct error *err)
{
	const struct keep_sink *sink = self;
	double seconds = (double)sink->keep_ns / (double)NS_PER_SECOND;

	(void)err;
	message_note("Keeping the last %.6g s in memory: stacktally last %.6g -o last.html",
		     seconds, seconds);
	return 0;
}

static int save(const struct run_report *report, int fd)
{
	FILE *out = fdopen(fd, "w");
	int r;

	if (!out) {
		close(fd);
		return -ENOMEM;
	}
	r = recording_save(out, &report->meta, report->tally, report->names, report->timeline,
			   NULL);
	if (fclose(out) != 0 && r == 0)
		r = -errno;
	return r;
}

/* It gets its name when it is complete. */
static int keep(const struct keep_sink *sink)
{
	const struct profile_meta *meta = &sink->report->meta;
	char name[KEPT_NAME_SIZE];
	int fd, r;

	fd = openat(sink->directory, NEW, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	if (fd < 0)
		return -errno;
	r = save(sink->report, fd);
	kept_file_name(meta->start_time_ns + meta->duration_ns, name);
	if (r == 0 && renameat(sink->directory, NEW, sink->directory, name) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(sink->directory, NEW, 0);
	return r;
}

/* What cannot be kept does not end the measurement. */
static int keep_report(void *self, struct error *err)
{
	struct keep_sink *sink = self;
	uint64_t since_ns = clock_ns(CLOCK_REALTIME) - sink->keep_ns;
	int r;

	(void)err;
	kept_prune_left(since_ns);
	kept_prune(sink->directory, since_ns);
	r = keep(sink);
	if (r < 0 && !sink->warned)
		message_line("WARNING: cannot keep an interval in %s: %s", sink->path,
			     strerror(-r));
	sink->warned |= r < 0;
	return 0;
}

const struct sink_ops keep_sink = {
	.open = keep_open,
	.announce = keep_announce,
	.report = keep_report,
	.close = keep_close,
};
