// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The output of `perf script`, which many viewers read: for each record a line and its stack, leaf
 * first.
 *
 * A sample is a record of period 1, as some readers count records and others add up periods. The
 * head says what their times are. Beyond RECORDS_MAX each record stands for several samples; the
 * head says so. Times off the CPU are nanoseconds, which a report always has more of: they get
 * TIMED_RECORDS_MAX records, as threads that sleep have deep stacks, and a million of them take
 * 2 GB.
 */
#include <errno.h>
#include <stdlib.h>

#include "report/perf_script_internal.h"
#include "view/facts.h"
#include "view/quantity.h"

#define RECORDS_MAX	  1000000u
#define TIMED_RECORDS_MAX 100000u

static uint32_t perf_script_view(const struct report_options *options)
{
	(void)options;
	return PROFILE_VIEW_ENTRY_OF | PROFILE_VIEW_PROCESS | PROFILE_VIEW_THREAD |
	       PROFILE_VIEW_ADDRESS | PROFILE_VIEW_OFFSET | PROFILE_VIEW_MODULE |
	       PROFILE_VIEW_OBJECT | PROFILE_VIEW_INLINED;
}

static void put_fact(void *context, const char *name, const char *text)
{
	struct bytes *bytes = context;

	bytes_string(bytes, "# ");
	bytes_string(bytes, name);
	bytes_string(bytes, " : ");
	bytes_name(bytes, text, strlen(text));
	bytes_char(bytes, '\n');
}

static void put_precision(struct perf_script *script)
{
	uint64_t ns = script->samples.timeline ? timeline_longest_ns(script->samples.timeline) : 0;

	bytes_string(&script->bytes, "# times : ");
	if (script->samples.timeline) {
		bytes_string(&script->bytes, "of samples, to within ");
		bytes_decimal(&script->bytes, ns / 1000000 + (ns % 1000000 ? 1 : 0));
		bytes_string(&script->bytes, " ms\n");
	} else {
		bytes_string(&script->bytes,
			     "spread evenly, as counted stacks have none of their own\n");
	}
}

/* What a record stands for: " 1 sample", " 85 bytes". */
static void put_amount(struct perf_script *script, uint64_t count)
{
	const struct profile_meta *meta = script->profile->meta;
	struct bytes *bytes = &script->bytes;

	bytes_decimal(bytes, count);
	bytes_char(bytes, ' ');
	if (meta->timed || meta->summed)
		bytes_string(bytes, quantity_unit(meta));
	else
		bytes_string(bytes, count == 1 ? "sample" : "samples");
}

static void put_head(struct perf_script *script)
{
	struct bytes *bytes = &script->bytes;

	bytes_string(bytes, "# ========\n");
	facts_each(script->profile, put_fact, bytes);
	bytes_string(bytes, "# records : ");
	bytes_decimal(bytes, script->samples.records);
	bytes_string(bytes, ", each for ");
	put_amount(script, script->samples.each);
	bytes_string(bytes, "; ");
	put_amount(script, script->profile->total - script->samples.records * script->samples.each);
	bytes_string(bytes, " in none\n");
	put_precision(script);
	bytes_string(bytes, "# ========\n#\n");
}

static int put_record(void *context, uint32_t entry, double at)
{
	struct perf_script *script = context;

	perf_script_put_record(script, &script->profile->entries[entry], at);
	return script->bytes.failed;
}

static int put_all(struct perf_script *script)
{
	const struct profile *profile = script->profile;
	int r = perf_script_make_frames(script);

	if (r < 0)
		return r;
	perf_script_put_word(&script->event,
			     profile->meta->event ? profile->meta->event : "samples");
	if (script->event.failed)
		return script->event.failed;
	put_head(script);
	r = timed_samples_each(&script->samples, put_record, script);
	return r < 0 ? r : bytes_finish(&script->bytes);
}

static int perf_script_write(const struct report *report, FILE *out, struct error *err)
{
	const struct profile *profile = report->profile;
	const struct measurement *measurement = &report->measurement;
	uint64_t most =
		profile->meta->timed || profile->meta->summed ? TIMED_RECORDS_MAX : RECORDS_MAX;
	struct perf_script script = {
		.profile = profile,
		.samples =
			timed_samples_of(profile, measurement->timeline, measurement->tally, most),
	};
	int r;

	bytes_start(&script.bytes, out);
	r = put_all(&script);
	frame_texts_clear(&script.frames);
	bytes_clear(&script.event);
	bytes_clear(&script.bytes);
	return report_result(r, err);
}

static const char *const extensions[] = { ".perf", ".perf.txt", NULL };

const struct writer perf_script_writer = {
	.name = "perf-script",
	.description = "output of perf script, one record per sample",
	.extensions = extensions,
	.times = WRITER_TIMES_FINE,
	.view = perf_script_view,
	.write = perf_script_write,
};
