// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/report.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "base/own.h"
#include "report/writer.h"

static void write_head(const struct writer *writer, const struct report *report, FILE *out)
{
	const struct report_head *head = &report->head;
	const char *title = report->measurement.meta->title;
	struct tm local;
	char clock[16];

	if (writer->whole)
		return;
	if (writer->titled) {
		if (head->title)
			bytes_print_line(out, title ? title : "",
					 writer->wraps ? report->screen.width : 0);
		fputc('\n', out);
	} else if (head->follows && !head->time) {
		fputc('\n', out);
	}
	if (head->time) {
		strftime(clock, sizeof(clock), "%H:%M:%S", localtime_r(&head->time, &local));
		fprintf(out, "%-8s\n", clock);
	}
}

static int build(const struct report *report, const struct measurement *measurement, uint32_t view,
		 struct profile *ret_profile)
{
	return profile_build(measurement->tally, measurement->names, measurement->meta, view,
			     report->options->filter, ret_profile);
}

int report_build(const struct report *report, uint32_t view, struct profile *profile,
		 struct profile *base)
{
	int r;

	if (!profile_is_of_all(report->measurement.meta))
		view &= ~(uint32_t)PROFILE_VIEW_AWAKE;
	r = build(report, &report->measurement, view, profile);
	profile->caption = report->options->caption;
	if (r < 0 || !report->base)
		return r;
	r = build(report, report->base, view, base);
	if (r < 0)
		return r;
	profile->base = base;
	profile->base_name = report->base_name;
	profile->base_scale = scale_make(report->options->diff_scale, profile->meta, profile->total,
					 base->meta, base->total);
	return report->base_has_names_only ? profile_recognize(base, profile) : 0;
}

int report_write(const struct writer *writer, const struct report *report, FILE *out,
		 struct report_shown *ret_shown, struct error *err)
{
	own(profile_clear) struct profile profile = { 0 }, base = { 0 };
	struct report filled = *report;
	int r;

	if (writer->view) {
		r = report_build(report, writer_view(writer, report->options), &profile, &base);
		if (r < 0)
			return error_set(err, r, "cannot build the report: %s", strerror(-r));
		filled.profile = &profile;
		if (ret_shown)
			*ret_shown = (struct report_shown){ profile.n_entries, profile.total,
							    profile.left_out, profile.as_others };
	}
	write_head(writer, report, out);
	return writer->write(&filled, out, err);
}

int report_result(int r, struct error *err)
{
	if (r == -EIO)
		return 0;
	if (r < 0)
		return error_set(err, r, "cannot write the report: %s", strerror(-r));
	return 0;
}
