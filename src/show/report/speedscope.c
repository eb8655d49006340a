// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The format of https://www.speedscope.app, by its file-format-schema.json: a profile per process,
 * or per thread with --per-thread, the busiest first; stacks root first, inlined functions as
 * frames. The samples of a profile are in the order of time, if that is known. The member
 * "stacktally" is an addition: the facts of the measurement.
 */
#include "report/writer.h"
#include "view/entry_runs.h"
#include "view/frame_text.h"
#include "view/json_text.h"
#include "view/quantity.h"
#include "view/stack_list.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

struct speedscope {
	const struct profile *profile;
	const struct report_options *options;
	uint64_t weight; /* of one sample: its nanoseconds, or 1 */
	struct entry_groups groups;
	struct entry_runs runs;
	struct bytes bytes;
	uint32_t list[STACK_LIST_MAX];
};

static uint32_t speedscope_view(const struct report_options *options)
{
	uint32_t view = PROFILE_VIEW_ENTRY_OF | PROFILE_VIEW_PROCESS | PROFILE_VIEW_MODULE |
			PROFILE_VIEW_INLINED | PROFILE_VIEW_LINES;

	if (options->per_thread)
		view |= PROFILE_VIEW_THREAD;
	if (options->by_address)
		view |= PROFILE_VIEW_ADDRESS;
	return view;
}

static uint64_t weight_of(const struct speedscope *speedscope, uint64_t count)
{
	uint64_t weight;

	return __builtin_mul_overflow(count, speedscope->weight, &weight) ? UINT64_MAX : weight;
}

/* speedscope groups and colours frames by `file`: the source, or the module if unknown. */
static void put_frame(struct bytes *bytes, const struct names_frame *is)
{
	json_key(bytes, "name");
	json_string(bytes, frame_text_name(is));
	if (is->file || is->module) {
		bytes_char(bytes, ',');
		json_key(bytes, "file");
		json_string(bytes, is->file ? is->file : is->module);
	}
	if (is->file && is->line) {
		bytes_char(bytes, ',');
		json_key(bytes, "line");
		bytes_decimal(bytes, is->line);
	}
}

static void put_frames(struct speedscope *speedscope)
{
	const struct profile *profile = speedscope->profile;
	struct bytes *bytes = &speedscope->bytes;

	bytes_string(bytes, "\"shared\":{\"frames\":[");
	for (uint32_t i = 0; i < profile->n_frames + STACK_N_MARKS; i++) {
		bytes_string(bytes, i > 0 ? ",\n{" : "\n{");
		if (i < profile->n_frames) {
			put_frame(bytes, &profile->frames[i].is);
		} else {
			json_key(bytes, "name");
			json_string(bytes, stack_mark_text(i - profile->n_frames));
		}
		bytes_char(bytes, '}');
	}
	bytes_string(bytes, "]},\n");
}

static void put_name(struct speedscope *speedscope, const struct profile_entry *entry)
{
	char name[TALLY_COMM_SIZE + 32];

	if (speedscope->options->per_thread)
		snprintf(name, sizeof(name), "%.*s (%u/%u)", TALLY_COMM_SIZE, entry->comm,
			 entry->tgid, entry->tid);
	else
		snprintf(name, sizeof(name), "%.*s (%u)", TALLY_COMM_SIZE, entry->comm,
			 entry->tgid);
	json_string(&speedscope->bytes, name);
}

static void put_samples(struct speedscope *speedscope, const struct entry_run *runs, uint32_t n)
{
	const struct profile *profile = speedscope->profile;
	struct bytes *bytes = &speedscope->bytes;

	bytes_string(bytes, ",\"samples\":[");
	for (uint32_t i = 0; i < n; i++) {
		uint32_t depth =
			stack_list(profile, &profile->entries[runs[i].entry], speedscope->list);

		bytes_string(bytes, i > 0 ? ",\n[" : "\n[");
		while (depth-- > 0) {
			bytes_decimal(bytes, speedscope->list[depth]);
			if (depth > 0)
				bytes_char(bytes, ',');
		}
		bytes_char(bytes, ']');
	}
	bytes_string(bytes, "],\"weights\":[");
	for (uint32_t i = 0; i < n; i++) {
		if (i > 0)
			bytes_char(bytes, ',');
		bytes_decimal(bytes, weight_of(speedscope, runs[i].count));
	}
	bytes_char(bytes, ']');
}

/* One of the units that the schema has. */
static const char *unit_of(const struct profile_meta *meta)
{
	static const char *const units[] = { "bytes", "microseconds", "milliseconds", "seconds" };

	if (profile_sample_ns(meta) || quantity_is_time(meta))
		return "nanoseconds";
	for (size_t i = 0; meta->unit && i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(meta->unit, units[i]) == 0)
			return units[i];
	return "none";
}

static void put_group(struct speedscope *speedscope, uint32_t number)
{
	const struct entry_group *group = &speedscope->groups.list[number];
	const uint32_t *first = &speedscope->runs.first[number];
	struct bytes *bytes = &speedscope->bytes;

	bytes_string(bytes, "{\"type\":\"sampled\",\"name\":");
	put_name(speedscope, group->heaviest);
	bytes_string(bytes, ",\"unit\":\"");
	bytes_string(bytes, unit_of(speedscope->profile->meta));
	bytes_char(bytes, '"');
	bytes_string(bytes, ",\"startValue\":0,\"endValue\":");
	bytes_decimal(bytes, weight_of(speedscope, group->total));
	put_samples(speedscope, speedscope->runs.list + first[0], first[1] - first[0]);
	bytes_char(bytes, '}');
}

static void put_all(struct speedscope *speedscope)
{
	const struct profile_meta *meta = speedscope->profile->meta;
	struct bytes *bytes = &speedscope->bytes;

	bytes_string(bytes, "{\"$schema\":\"" SCHEMA "\",\n");
	bytes_string(bytes, "\"exporter\":\"stacktally\",\n\"name\":");
	json_string(bytes, meta->command_line ? meta->command_line
			   : meta->command    ? meta->command
					      : "");
	bytes_string(bytes, ",\n\"activeProfileIndex\":0,\n\"stacktally\":");
	json_measurement(bytes, speedscope->profile);
	bytes_string(bytes, ",\n");
	put_frames(speedscope);
	bytes_string(bytes, "\"profiles\":[");
	for (uint32_t i = 0; !bytes->failed && i < speedscope->groups.n; i++) {
		bytes_string(bytes, i > 0 ? ",\n" : "\n");
		put_group(speedscope, i);
	}
	bytes_string(bytes, "]}\n");
}

static int speedscope_write(const struct report *report, FILE *out, struct error *err)
{
	const struct profile *profile = report->profile;
	const struct measurement *measurement = &report->measurement;
	const struct timeline *timeline = measurement->timeline;
	struct speedscope speedscope = { .profile = profile,
					 .options = report->options,
					 .weight = profile_sample_ns(profile->meta) };
	int r = entry_groups_make(&speedscope.groups, profile, report->options->per_thread);

	if (timeline && !timeline_tells(timeline, measurement->tally))
		timeline = NULL;
	if (r == 0)
		r = entry_runs_make(&speedscope.runs, &speedscope.groups, profile, timeline);
	if (speedscope.weight == 0)
		speedscope.weight = 1;
	bytes_start(&speedscope.bytes, out);
	if (r == 0) {
		put_all(&speedscope);
		r = bytes_finish(&speedscope.bytes);
	}
	bytes_clear(&speedscope.bytes);
	entry_runs_clear(&speedscope.runs);
	entry_groups_clear(&speedscope.groups);
	return report_result(r, err);
}

static const char *const extensions[] = { ".speedscope.json", ".speedscope", NULL };

const struct writer speedscope_writer = {
	.name = "speedscope",
	.description = "JSON for speedscope, one profile per process",
	.extensions = extensions,
	.whole = true,
	.times = WRITER_TIMES_FINE,
	.view = speedscope_view,
	.write = speedscope_write,
};
