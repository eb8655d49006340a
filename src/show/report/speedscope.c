// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The format of https://www.speedscope.app, by its file-format-schema.json: a profile per process,
 * or per thread with --per-thread, the busiest first; stacks root first, inlined functions as
 * frames. If there are several, one of all comes before them, as speedscope shows the first one:
 * the process or thread is the root of its stacks. The samples of a profile are in the order of
 * time, if that is known. The members "stacktally" are additions: the facts of the measurement, and
 * "all" in the profile that repeats the samples of the others.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/writer.h"
#include "view/entry_runs.h"
#include "view/frame_text.h"
#include "view/json_text.h"
#include "view/process_list.h"
#include "view/quantity.h"
#include "view/stack_list.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

struct speedscope {
	const struct profile *profile;
	const struct report_options *options;
	uint64_t weight;		 /* of one sample: its nanoseconds, or 1 */
	struct entry_groups groups, all; /* `all`: one group */
	struct entry_runs runs, all_runs;
	uint32_t *group_of; /* of each entry: the one of `groups` */
	bool by_time;
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

static void put_name(struct speedscope *speedscope, const struct entry_group *group)
{
	const struct tally_entry *entry = group->heaviest;
	char process[SERVICE_NAME_SIZE], name[SERVICE_NAME_SIZE + 32];

	if (speedscope->options->per_thread) {
		snprintf(name, sizeof(name), "%.*s (%u/%u)", TALLY_COMM_SIZE, entry->comm,
			 entry->tgid, entry->tid);
	} else {
		process_list_name(speedscope->profile, &speedscope->groups, group, process);
		snprintf(name, sizeof(name), "%s (%u)", process, entry->tgid);
	}
	json_string(&speedscope->bytes, name);
}

static bool has_all(const struct speedscope *speedscope)
{
	return speedscope->groups.n > 1;
}

/* The functions, the marks of stacks, and the groups if there is a profile of all. */
static void put_frames(struct speedscope *speedscope)
{
	const struct profile *profile = speedscope->profile;
	uint32_t n_names = profile->n_frames + STACK_N_MARKS;
	uint32_t n = n_names + (has_all(speedscope) ? speedscope->groups.n : 0);
	struct bytes *bytes = &speedscope->bytes;

	bytes_string(bytes, "\"shared\":{\"frames\":[");
	for (uint32_t i = 0; !bytes->failed && i < n; i++) {
		bytes_string(bytes, i > 0 ? ",\n{" : "\n{");
		if (i < profile->n_frames) {
			put_frame(bytes, &profile->frames[i].is);
		} else {
			json_key(bytes, "name");
			if (i < n_names)
				json_string(bytes, stack_mark_text(i - profile->n_frames));
			else
				put_name(speedscope, &speedscope->groups.list[i - n_names]);
		}
		bytes_char(bytes, '}');
	}
	bytes_string(bytes, "]},\n");
}

static void put_stack(struct speedscope *speedscope, uint32_t entry, bool of_all)
{
	const struct profile *profile = speedscope->profile;
	uint32_t depth = stack_list(profile, &profile->entries[entry], speedscope->list);
	struct bytes *bytes = &speedscope->bytes;

	bytes_char(bytes, '[');
	if (of_all) {
		bytes_decimal(bytes,
			      profile->n_frames + STACK_N_MARKS + speedscope->group_of[entry]);
		if (depth > 0)
			bytes_char(bytes, ',');
	}
	while (depth-- > 0) {
		bytes_decimal(bytes, speedscope->list[depth]);
		if (depth > 0)
			bytes_char(bytes, ',');
	}
	bytes_char(bytes, ']');
}

static void put_samples(struct speedscope *speedscope, const struct entry_run *runs, uint32_t n,
			bool of_all)
{
	struct bytes *bytes = &speedscope->bytes;

	bytes_string(bytes, ",\"samples\":[");
	for (uint32_t i = 0; i < n; i++) {
		bytes_string(bytes, i > 0 ? ",\n" : "\n");
		put_stack(speedscope, runs[i].entry, of_all);
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

static void put_totals(struct speedscope *speedscope, uint64_t total)
{
	struct bytes *bytes = &speedscope->bytes;

	bytes_string(bytes, ",\"unit\":\"");
	bytes_string(bytes, unit_of(speedscope->profile->meta));
	bytes_string(bytes, "\",\"startValue\":0,\"endValue\":");
	bytes_decimal(bytes, weight_of(speedscope, total));
}

static void put_group(struct speedscope *speedscope, uint32_t number)
{
	const struct entry_group *group = &speedscope->groups.list[number];
	const uint32_t *first = &speedscope->runs.first[number];
	struct bytes *bytes = &speedscope->bytes;

	bytes_string(bytes, "{\"type\":\"sampled\",\"name\":");
	put_name(speedscope, group);
	put_totals(speedscope, group->total);
	put_samples(speedscope, speedscope->runs.list + first[0], first[1] - first[0], false);
	bytes_char(bytes, '}');
}

static void put_all_groups(struct speedscope *speedscope)
{
	const struct entry_runs *runs = &speedscope->all_runs;
	struct bytes *bytes = &speedscope->bytes;

	bytes_string(bytes, "{\"type\":\"sampled\",\"stacktally\":\"all\",\"name\":\"all ");
	bytes_string(bytes, speedscope->options->per_thread ? "threads" : "processes");
	bytes_string(bytes, speedscope->by_time ? "\"" : ", not in the order of time\"");
	put_totals(speedscope, speedscope->all.list[0].total);
	put_samples(speedscope, runs->list, runs->first[1], true);
	bytes_string(bytes, "},");
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
	bytes_string(bytes, has_all(speedscope) ? "\"profiles\":[\n" : "\"profiles\":[");
	if (has_all(speedscope))
		put_all_groups(speedscope);
	for (uint32_t i = 0; !bytes->failed && i < speedscope->groups.n; i++) {
		bytes_string(bytes, i > 0 ? ",\n" : "\n");
		put_group(speedscope, i);
	}
	bytes_string(bytes, "]}\n");
}

static void note_groups(struct speedscope *speedscope)
{
	const struct entry_groups *groups = &speedscope->groups;

	for (uint32_t i = 0; i < groups->n; i++)
		for (uint32_t j = 0; j < groups->list[i].n; j++)
			speedscope->group_of[groups->order[groups->list[i].first + j]] = i;
}

static int prepare(struct speedscope *speedscope, const struct timeline *timeline)
{
	const struct profile *profile = speedscope->profile;
	int r = entry_groups_make(&speedscope->groups, profile, speedscope->options->per_thread);

	if (r == 0)
		r = entry_runs_make(&speedscope->runs, &speedscope->groups, profile, timeline);
	if (r < 0 || !has_all(speedscope))
		return r;
	speedscope->group_of = calloc(profile->n_entries, sizeof(*speedscope->group_of));
	if (!speedscope->group_of)
		return -ENOMEM;
	note_groups(speedscope);
	r = entry_groups_one(&speedscope->all, &speedscope->groups);
	return r < 0 ? r
		     : entry_runs_make(&speedscope->all_runs, &speedscope->all, profile, timeline);
}

static void clear(struct speedscope *speedscope)
{
	bytes_clear(&speedscope->bytes);
	entry_runs_clear(&speedscope->runs);
	entry_runs_clear(&speedscope->all_runs);
	entry_groups_clear(&speedscope->groups);
	entry_groups_clear(&speedscope->all);
	free(speedscope->group_of);
}

static int speedscope_write(const struct report *report, FILE *out, struct error *err)
{
	const struct measurement *measurement = &report->measurement;
	const struct timeline *timeline = measurement->timeline;
	struct speedscope speedscope = { .profile = report->profile,
					 .options = report->options,
					 .weight = profile_sample_ns(report->profile->meta) };
	int r;

	if (timeline && !timeline_tells(timeline, measurement->tally))
		timeline = NULL;
	speedscope.by_time = timeline != NULL;
	if (speedscope.weight == 0)
		speedscope.weight = 1;
	r = prepare(&speedscope, timeline);
	bytes_start(&speedscope.bytes, out);
	if (r == 0) {
		put_all(&speedscope);
		r = bytes_finish(&speedscope.bytes);
	}
	clear(&speedscope);
	return report_result(r, err);
}

static const char *const extensions[] = { ".speedscope.json", ".speedscope", NULL };

const struct writer speedscope_writer = {
	.name = "speedscope",
	.description = "JSON for speedscope, a profile of all and one per process",
	.extensions = extensions,
	.whole = true,
	.times = WRITER_TIMES_FINE,
	.view = speedscope_view,
	.write = speedscope_write,
};
