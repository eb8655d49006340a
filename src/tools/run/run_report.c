// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/run_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "base/own.h"
#include "cli/message.h"
#include "run/compared.h"
#include "run/growth.h"
#include "run/rebuilt.h"
#include "run/rescue.h"
#include "run/run_notes.h"
#include "run/symbols_table.h"

/* The measurement to compare with; *ret_base is NULL if there is none. */
static int load_base(struct run_report *report, const struct measurement **ret_base,
		     struct error *err)
{
	const char *path = report->request->plan->diff;
	int r;

	if (report->before) {
		*ret_base = report->before;
		return 0;
	}
	r = loaded_load(path, report->request->plan->value, &report->loaded, err);
	if (r == 0 && report->loaded.before.meta)
		return error_set(err, -EINVAL, "cannot compare with %s: it is a difference itself",
				 path);
	*ret_base = report->loaded.measurement.meta ? &report->loaded.measurement : NULL;
	return r;
}

/* Selects from the base the comm and the cgroup that are measured. */
static int open_base(struct run_report *report, struct error *err)
{
	const struct plan *plan = report->request->plan;
	struct part_wanted wanted = { .selection.name = plan->filter.name };
	const struct measurement *base = NULL;
	int r = load_base(report, &base, err);

	if (r < 0 || !base)
		return r;
	if (base->meta->has.cgroups)
		wanted.selection.groups = part_groups(&plan->filter.groups);
	wanted.range = report->loaded.range;
	wanted.name = report->loaded.path;
	return part_make(&wanted, base, &report->base, err);
}

int run_report_open(struct run_report *report, bool intervals, struct error *err)
{
	int r = open_base(report, err);

	return r < 0 ? r
		     : outputs_open(report->request->plan, intervals, report->began,
				    &report->outputs, err);
}

int run_report_compare(const struct run_report *report, struct error *err)
{
	struct profile_meta now = report->meta;
	const struct compared compared = { &now, report->base.measurement.meta,
					   report->request->plan->diff };

	if (!report->saved)
		now.duration_ns = 1; /* it will have one */
	return compared.base && !report->before
		       ? compared_check(&compared, report->request->report.diff_scale, err)
		       : 0;
}

void run_report_close(struct run_report *report)
{
	outputs_close(&report->outputs);
	names_free(report->base_apart);
	part_clear(&report->base);
	loaded_clear(&report->loaded);
}

int run_report_announce(struct run_report *report, struct error *err)
{
	for (uint32_t i = 0; i < report->outputs.n; i++) {
		struct output *output = &report->outputs.list[i];
		int r;

		if (!output->writer->titled || output->path)
			continue;
		bytes_print_line(output->stream, report->meta.title,
				 output->writer->wraps ? output_screen(output).width : 0);
		r = output_flush(output, err);
		if (r < 0)
			return r;
	}
	report->announced = true;
	return 0;
}

static struct report_head head_of(const struct run_report *report, const struct output *output)
{
	bool announced = report->announced && !output->path;
	time_t at = report->ended ? report->ended : time(NULL);

	return (struct report_head){
		.title = output->each || output->redraws || (!report->reported && !announced),
		.follows = report->reported && !output->each && !output->redraws,
		.time = report->request->timestamp && !output->each ? at : 0,
	};
}

static struct measurement measurement_of(const struct run_report *report)
{
	return (struct measurement){ &report->meta, report->tally, report->names,
				     report->timeline };
}

static struct report report_of(const struct run_report *report)
{
	return (struct report){
		.measurement = measurement_of(report),
		.base = report->base.measurement.meta ? &report->base.measurement : NULL,
		.base_has_names_only = report->loaded.imported.of_others,
		.base_name = report->request->plan->diff,
		.options = &report->request->report,
	};
}

static int write_one(struct run_report *report, struct output *output, struct error *err)
{
	struct report written = report_of(report);
	struct report_shown shown = { 0 };
	int r = output_begin(output, err);

	if (r < 0)
		return r;
	written.head = head_of(report, output);
	written.screen = output_screen(output);
	r = report_write(output->writer, &written, output->stream, &shown, err);
	if ((shown.stacks || shown.left_out) && (!report->shown.stacks || !output->path))
		report->shown = shown;
	return r < 0 ? r : output_flush(output, err);
}

/* A report could not be written: completes the others, and keeps a recording. */
static void save_what_is_left(struct run_report *report, const bool *failed)
{
	const struct measurement measurement = measurement_of(report);
	bool kept = report->saved || tally_n_entries(report->tally) == 0;

	for (uint32_t i = 0; i < report->outputs.n; i++) {
		struct output *output = &report->outputs.list[i];
		bool complete = !failed[i] && output_finish(output, NULL) == 0;

		kept |= complete && output->path && output->writer == &recording_writer;
	}
	if (!kept)
		rescue(&measurement);
}

static int write_symbols(const struct run_report *report, struct error *err)
{
	int r = symbols_table_write(report->tally, report->names, stdout, err);

	if (r < 0)
		return r;
	if (fflush(stdout) != 0 && errno == EPIPE)
		return error_set(err, -EPIPE, "%s", "");
	if (ferror(stdout))
		return error_set(err, errno ? -errno : -EIO, "cannot write standard output: %s",
				 strerror(errno));
	return 0;
}

/* At the first report: functions of another build are not compared by their addresses. */
static int keep_builds_apart(struct run_report *report)
{
	struct measurement *base = &report->base.measurement;
	char files[REBUILT_LINE];
	int r;

	if (!base->meta || report->before || report->reported || report->loaded.imported.of_others)
		return 0;
	r = rebuilt_make(report->names, base->names, files, &report->base_apart);
	if (r < 0 || !report->base_apart)
		return r;
	base->names = report->base_apart;
	message_note("compared with another build of %s: functions without a symbol, which only "
		     "their addresses tell, are kept apart (--debuginfo DIR names them)",
		     files);
	return 0;
}

static int check_growth(struct run_report *report, struct error *err)
{
	const struct report of = report_of(report);
	double most = report->request->plan->most_growth;
	bool grew = false;
	int r;

	if (!report->request->plan->fail_if_more)
		return 0;
	if (!of.base)
		return error_usage(err, "argument --fail-if-more: needs --diff");
	r = growth_tell(&of, most, &grew);
	report->grew |= grew;
	return r < 0 ? error_set(err, r, "cannot compare: %s", strerror(-r)) : 0;
}

int run_report_write(struct run_report *report, struct error *err)
{
	own(own_free) bool *failed = calloc(report->outputs.n + 1, sizeof(*failed));
	int first = 0, r;

	if (!failed)
		return error_set(err, -ENOMEM, "out of memory");
	r = keep_builds_apart(report);
	if (r < 0)
		return error_set(err, r, "out of memory");
	report->shown = (struct report_shown){ 0 };
	for (uint32_t i = 0; i < report->outputs.n; i++) {
		r = write_one(report, &report->outputs.list[i], first ? NULL : err);
		failed[i] = r < 0;
		first = first ? first : r;
	}
	/* A reader that closed its pipe wants no report any more. */
	if (first < 0 && first != -EPIPE)
		save_what_is_left(report, failed);
	if (first < 0)
		return first;
	if (report->request->plan->symbols) {
		r = write_symbols(report, err);
		if (r < 0)
			return r;
	}
	r = run_notes_of_report(report, err);
	if (r == 0)
		r = check_growth(report, err);
	report->reported = true;
	return r;
}

/* Finishes all outputs, also after one that cannot be. */
static int finish_all(struct run_report *report, struct error *err)
{
	int first = 0;

	for (uint32_t i = 0; i < report->outputs.n; i++) {
		struct output *output = &report->outputs.list[i];
		int r;

		if (report->request->farewell && output->writer->titled && output->stream &&
		    !output->path)
			fprintf(output->stream, "%s\n", report->request->farewell);
		r = output_finish(output, first ? NULL : err);
		first = first ? first : r;
	}
	return first;
}

int run_report_finish(struct run_report *report, struct error *err)
{
	const struct measurement measurement = measurement_of(report);
	int r = finish_all(report, err);

	if (r < 0 && r != -EPIPE && !report->saved && tally_n_entries(report->tally) > 0)
		rescue(&measurement);
	return r;
}
