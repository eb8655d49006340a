// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The "processed" format of the Firefox Profiler (https://profiler.firefox.com), of which it reads
 * old versions: a thread per process, or per thread if these were kept apart, each with its samples
 * by time. Beyond RECORDS_MAX each stands for several.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "report/firefox_internal.h"
#include "view/caption.h"
#include "view/json_text.h"

#define RECORDS_MAX	  1000000u
#define TIMED_RECORDS_MAX 100000u
#define NONE		  UINT32_MAX

#define PROCESSED_VERSION 47 /* of the format, and of that of Firefox itself then */
#define GECKO_VERSION	  27

static uint32_t firefox_view(const struct report_options *options)
{
	(void)options;
	return PROFILE_VIEW_ENTRY_OF | PROFILE_VIEW_PROCESS | PROFILE_VIEW_THREAD |
	       PROFILE_VIEW_MODULE | PROFILE_VIEW_INLINED;
}

/* ---- records ---- */

static int add_record(void *context, uint32_t entry, double at)
{
	struct firefox *firefox = context;
	int r = grow(&firefox->records, &firefox->record_capacity, (size_t)firefox->n_records + 1);

	if (r == 0)
		firefox->records[firefox->n_records++] =
			(struct firefox_record){ at, entry, firefox->group_of[entry] };
	return r;
}

static uint32_t *make_numbers(uint32_t n)
{
	uint32_t *numbers = reallocarray(NULL, (size_t)n + 1, sizeof(*numbers));

	if (numbers)
		memset(numbers, 0xff, ((size_t)n + 1) * sizeof(*numbers));
	return numbers;
}

static int make_groups(struct firefox *firefox)
{
	const struct entry_groups *groups = &firefox->groups;
	int r = entry_groups_make(&firefox->groups, firefox->profile, true);

	firefox->group_of = make_numbers(firefox->profile->n_entries);
	firefox->stack_of = make_numbers(firefox->profile->n_entries);
	if (r < 0 || !firefox->group_of || !firefox->stack_of)
		return -ENOMEM;
	for (uint32_t group = 0; group < groups->n; group++)
		for (uint32_t i = 0; i < groups->list[group].n; i++)
			firefox->group_of[groups->order[groups->list[group].first + i]] = group;
	return 0;
}

/* Links the records of each group, in their order. */
static int link_records(struct firefox *firefox)
{
	firefox->next_of = make_numbers(firefox->n_records);
	firefox->first_of = make_numbers(firefox->groups.n);
	if (!firefox->next_of || !firefox->first_of)
		return -ENOMEM;
	for (uint32_t i = firefox->n_records; i-- > 0;) {
		uint32_t *first = &firefox->first_of[firefox->records[i].group];

		firefox->next_of[i] = *first;
		*first = i;
	}
	return 0;
}

/* ---- text ---- */

static void put_categories(struct bytes *bytes)
{
	static const char *const categories[FIREFOX_N_CATEGORIES][2] = {
		[FIREFOX_OTHER] = { "Other", "grey" },
		[FIREFOX_USER] = { "User", "yellow" },
		[FIREFOX_KERNEL] = { "Kernel", "orange" },
		[FIREFOX_GENERATED] = { "Generated and interpreted", "green" },
		[FIREFOX_OFF_CPU] = { "Off the CPU", "blue" },
	};

	bytes_string(bytes, ",\"categories\":[");
	for (int i = 0; i < FIREFOX_N_CATEGORIES; i++) {
		bytes_string(bytes, i > 0 ? ",{" : "{");
		json_key(bytes, "name");
		json_string(bytes, categories[i][0]);
		bytes_char(bytes, ',');
		json_key(bytes, "color");
		json_string(bytes, categories[i][1]);
		bytes_string(bytes, ",\"subcategories\":[\"Other\"]}");
	}
	bytes_char(bytes, ']');
}

static void put_meta(struct firefox *firefox)
{
	const struct profile_meta *meta = firefox->profile->meta;
	struct bytes *bytes = &firefox->bytes;
	char numbers[160];

	snprintf(numbers, sizeof(numbers),
		 "{\"meta\":{\"version\":%d,\"preprocessedProfileVersion\":%d,"
		 "\"startTime\":%.3f,\"interval\":%.6g",
		 GECKO_VERSION, PROCESSED_VERSION, (double)meta->start_time_ns / 1e6,
		 meta->frequency ? 1e3 / (double)meta->frequency : 1);
	bytes_string(bytes, numbers);
	bytes_string(bytes, ",\"processType\":0,\"stackwalk\":1,\"debug\":false,"
			    "\"symbolicated\":true,\"presymbolicated\":true,"
			    "\"importedFrom\":\"stacktally\",\"product\":");
	json_string(bytes, meta->command_line ? meta->command_line
			   : meta->command    ? meta->command
					      : "");
	if (meta->kernel_release) {
		bytes_string(bytes, ",\"platform\":\"Linux\",\"oscpu\":");
		json_string(bytes, meta->kernel_release);
	}
	put_categories(bytes);
	bytes_string(bytes, ",\"markerSchema\":[],\"stacktally\":");
	json_measurement(bytes, firefox->profile);
	bytes_string(bytes, "},\n\"libs\":[],\"pages\":[],\"threads\":[");
}

static int put_all(struct firefox *firefox)
{
	int r = make_groups(firefox);

	if (r == 0)
		r = timed_samples_each(&firefox->samples, add_record, firefox);
	if (r == 0)
		r = link_records(firefox);
	if (r == 0)
		r = firefox_tables_make(firefox->profile, &firefox->tables);
	if (r < 0)
		return r;
	put_meta(firefox);
	for (uint32_t i = 0; r == 0 && i < firefox->groups.n; i++) {
		bytes_string(&firefox->bytes, i > 0 ? ",\n" : "\n");
		r = firefox_put_thread(firefox, i);
	}
	bytes_string(&firefox->bytes, "]}\n");
	return r < 0 ? r : bytes_finish(&firefox->bytes);
}

static int firefox_write(const struct report *report, FILE *out, struct error *err)
{
	const struct profile *profile = report->profile;
	const struct measurement *measurement = &report->measurement;
	uint64_t most = profile->meta->timed ? TIMED_RECORDS_MAX : RECORDS_MAX;
	struct firefox firefox = {
		.profile = profile,
		.samples =
			timed_samples_of(profile, measurement->timeline, measurement->tally, most),
	};
	int r;

	bytes_start(&firefox.bytes, out);
	r = put_all(&firefox);
	entry_groups_clear(&firefox.groups);
	firefox_tables_clear(&firefox.tables);
	free(firefox.records);
	free(firefox.group_of);
	free(firefox.next_of);
	free(firefox.first_of);
	free(firefox.stack_of);
	bytes_clear(&firefox.bytes);
	return report_result(r, err);
}

static const char *const extensions[] = { ".profile.json", NULL };

const struct writer firefox_writer = {
	.name = "firefox",
	.description = "JSON for profiler.firefox.com, with the time of each sample",
	.extensions = extensions,
	.whole = true,
	.times = WRITER_TIMES_FINE,
	.view = firefox_view,
	.write = firefox_write,
};
