// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/run_report.h"

#include <string.h>
#include <time.h>

#include "recording/recording.h"
#include "run/run_notes.h"

int run_report_open(struct run_report *report, bool intervals, struct error *err)
{
	const struct plan *plan = report->request->plan;
	int r = compared_load(plan->diff, &report->compared, err);

	return r < 0 ? r : outputs_open(plan, intervals, &report->outputs, err);
}

void run_report_close(struct run_report *report)
{
	outputs_close(&report->outputs);
	compared_clear(&report->compared);
}

static bool is_text(const struct output *output)
{
	return output->writer == writers[0];
}

static bool is_stdout(const struct output *output)
{
	return strcmp(output->path, "standard output") == 0;
}

int run_report_announce(struct run_report *report, struct error *err)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < report->outputs.n; i++) {
		struct output *output = &report->outputs.list[i];

		if (!is_text(output) || !is_stdout(output))
			continue;
		fprintf(output->stream, "%s\n", report->meta.title);
		r = output_flush(output, err);
	}
	return r;
}

/* What stands before the entries: the title (where it is not there yet), a blank line, the time. */
static void write_head(const struct run_report *report, struct output *output, bool titled)
{
	const struct run_request *request = report->request;
	time_t now = time(NULL);
	char clock[16];

	if (output->writer && output->writer->whole)
		return;
	if (is_text(output)) {
		if (!titled && (!report->reported || output->each))
			fprintf(output->stream, "%s\n", report->meta.title);
		fputc('\n', output->stream);
	} else if (report->reported && !output->each && output->writer && !request->timestamp) {
		fputc('\n', output->stream);
	}
	if (request->timestamp && output->writer && !output->each) {
		strftime(clock, sizeof(clock), "%H:%M:%S", localtime(&now));
		fprintf(output->stream, "%-8s\n", clock);
	}
}

/* The profile in the writer's view, and the base if there is one. */
static int write_profile(struct run_report *report, struct output *output, bool titled,
			 struct error *err)
{
	const struct report_options *options = &report->request->report;
	const struct compared *compared = &report->compared;
	uint32_t view = output->writer->view(options);
	struct profile profile = { 0 }, base = { 0 };
	int r = profile_build(report->tally, report->names, &report->meta, view, &profile);

	if (r == 0 && compared->meta)
		r = profile_build(compared->tally, compared->names, compared->meta, view, &base);
	if (r == 0 && compared->base)
		r = profile_recognize(&base, &profile);
	if (r == 0) {
		profile.base = compared->meta ? &base : NULL;
		write_head(report, output, titled);
		r = output->writer->write(&profile, options, output->stream, err);
	} else {
		error_set(err, r, "cannot build the report: %s", strerror(-r));
	}
	profile_clear(&profile);
	profile_clear(&base);
	return r;
}

static int write_one(struct run_report *report, struct output *output, bool titled,
		     struct error *err)
{
	int r = output_begin(output, err);

	if (r < 0)
		return r;
	if (output->writer)
		r = write_profile(report, output, titled, err);
	else
		r = recording_save(output->stream, &report->meta, report->tally, report->names,
				   err);
	return r < 0 ? r : output_flush(output, err);
}

int run_report_write(struct run_report *report, bool titled, struct error *err)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < report->outputs.n; i++) {
		struct output *output = &report->outputs.list[i];

		r = write_one(report, output, titled && is_stdout(output), err);
	}
	report->reported = true;
	return r < 0 ? r : run_notes_of_report(report, err);
}

int run_report_finish(struct run_report *report, struct error *err)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < report->outputs.n; i++) {
		struct output *output = &report->outputs.list[i];

		if (report->request->farewell && is_text(output) && output->stream)
			fprintf(output->stream, "%s\n", report->request->farewell);
		r = output_finish(output, err);
	}
	return r;
}
