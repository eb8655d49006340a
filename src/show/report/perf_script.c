// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The output of `perf script`, which many viewers read: for each record a line and its stack, leaf
 * first.
 *
 * A sample is a record of period 1, as some readers count records and others add up periods.
 * The times are those of the measurement's timeline: the records of a thread are spread evenly over
 * the slice of time in which they were counted. Where there is no timeline, as in recordings, the
 * records of each stack are spread evenly over the measurement, so that readers by time see no
 * phases that never were. The head says which it is. Beyond
 * RECORDS_MAX each record stands for several samples; the head says so. Times off the CPU are
 * nanoseconds, which a report always has more of: they get TIMED_RECORDS_MAX records, as threads
 * that sleep have deep stacks, and a million of them take 2 GB.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/own.h"
#include "report/writer.h"
#include "view/entry_groups.h"
#include "view/facts.h"
#include "view/frame_text.h"
#include "view/sample_order.h"
#include "view/stack_list.h"

#define RECORDS_MAX	  1000000u
#define TIMED_RECORDS_MAX 100000u

DEFINE_OWN(struct sample_order, sample_order_free)

/* A stack with `records` to write. Its k-th is due at (k + 1/2) / records of the measurement. */
struct turn {
	uint32_t entry, records, written;
};

/* A record that is due within a slice of the timeline. */
struct due {
	double at; /* seconds since the start */
	uint32_t number, entry;
};

struct perf_script {
	const struct profile *profile;
	const struct timeline *timeline; /* or NULL */
	uint64_t each;			 /* samples that a record stands for */
	uint64_t records;		 /* to write */
	uint64_t written;
	uint64_t rest;	    /* samples carried over to the next record */
	struct turn *turns; /* a heap: the stack whose record comes next is the first */
	uint32_t n_turns;
	struct due *due; /* with a timeline: the records of the current slice */
	uint32_t n_due, due_room;
	double last; /* the time of the last record */
	struct entry_groups groups;
	struct frame_texts frames;
	struct bytes bytes;
	struct bytes event; /* its name, as one word */
	uint32_t list[STACK_LIST_MAX];
};

static uint32_t perf_script_view(const struct report_options *options)
{
	(void)options;
	return PROFILE_VIEW_ENTRY_OF | PROFILE_VIEW_PROCESS | PROFILE_VIEW_THREAD |
	       PROFILE_VIEW_ADDRESS | PROFILE_VIEW_OFFSET | PROFILE_VIEW_MODULE |
	       PROFILE_VIEW_OBJECT | PROFILE_VIEW_INLINED;
}

/* Replaces blanks and parentheses, at which readers split. */
static void put_word(struct bytes *bytes, const char *word)
{
	size_t from = bytes->used;

	bytes_name(bytes, word, strlen(word));
	for (size_t i = from; i < bytes->used; i++)
		if (strchr(" ()", bytes->start[i]))
			bytes->start[i] = '_';
}

/* The file of the code, as perf prints it. */
static void put_place(struct bytes *bytes, const struct profile *profile,
		      const struct names_frame *is)
{
	bytes_string(bytes, " (");
	if (is->flags & NAMES_FRAME_INLINED)
		bytes_string(bytes, "inlined");
	else if (is->object < profile->n_objects)
		put_word(bytes, profile->objects[is->object].path);
	else
		put_word(bytes, is->module ? is->module : "[unknown]");
	bytes_string(bytes, ")\n");
}

static void put_frame(struct bytes *bytes, const struct profile *profile,
		      const struct profile_frame *frame)
{
	const struct names_frame *is = &frame->is;
	const char *name = frame_text_name(is);

	bytes_char(bytes, '\t');
	bytes_hex(bytes, frame->address, 16, true);
	bytes_char(bytes, ' ');
	bytes_name(bytes, name, strlen(name));
	if (is->name && !(is->flags & NAMES_FRAME_INLINED)) {
		bytes_string(bytes, "+0x");
		bytes_hex(bytes, is->offset, 0, false);
	}
	put_place(bytes, profile, is);
}

/* Makes the line of each frame, once. */
static int make_frames(struct perf_script *script)
{
	const struct profile *profile = script->profile;
	struct frame_texts *texts = &script->frames;
	size_t at = 0;

	texts->of = reallocarray(NULL, (size_t)profile->n_frames + 1, sizeof(*texts->of));
	if (!texts->of)
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->n_frames; i++) {
		size_t start = texts->bytes.used;

		put_frame(&texts->bytes, profile, &profile->frames[i]);
		texts->of[i].size = (uint32_t)(texts->bytes.used - start);
	}
	if (!bytes_room(&texts->bytes, 1))
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->n_frames; i++) {
		texts->of[i].text = texts->bytes.start + at;
		at += texts->of[i].size;
	}
	return 0;
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
	uint64_t ns = script->timeline ? timeline_longest_ns(script->timeline) : 0;

	bytes_string(&script->bytes, "# times : ");
	if (script->timeline) {
		bytes_string(&script->bytes, "of samples, to within ");
		bytes_decimal(&script->bytes, ns / 1000000 + (ns % 1000000 ? 1 : 0));
		bytes_string(&script->bytes, " ms\n");
	} else {
		bytes_string(&script->bytes,
			     "spread evenly, as counted stacks have none of their own\n");
	}
}

static void put_head(struct perf_script *script)
{
	struct bytes *bytes = &script->bytes;

	bytes_string(bytes, "# ========\n");
	facts_each(script->profile, put_fact, bytes);
	bytes_string(bytes, "# records : ");
	bytes_decimal(bytes, script->records);
	bytes_string(bytes, ", each for ");
	bytes_decimal(bytes, script->each);
	bytes_string(bytes, script->each > 1 ? " samples; " : " sample; ");
	bytes_decimal(bytes, script->profile->total - script->records * script->each);
	bytes_string(bytes, " samples in none\n");
	put_precision(script);
	bytes_string(bytes, "# ========\n#\n");
}

/* The time of the next record, if they are spread evenly. */
static double even_time(const struct perf_script *script)
{
	double duration = (double)script->profile->meta->duration_ns / 1e9;
	double least = (double)script->records / 1e6;

	return (double)script->written / (double)script->records *
	       (duration > least ? duration : least);
}

/* Seconds since the start, with microseconds; a record has at least one of its own. */
static void put_time(struct perf_script *script, double at)
{
	char text[64];

	snprintf(text, sizeof(text), "%.6f: ", at);
	bytes_string(&script->bytes, text);
}

static void put_record(struct perf_script *script, const struct profile_entry *entry, double at)
{
	const struct profile *profile = script->profile;
	uint32_t n = stack_list(profile, entry, script->list);
	struct bytes *bytes = &script->bytes;
	size_t size = strnlen(entry->comm, sizeof(entry->comm));

	if (size > 0) {
		bytes_name(bytes, entry->comm, size);
	} else {
		bytes_char(bytes, ':');
		bytes_decimal(bytes, entry->tgid);
	}
	bytes_char(bytes, ' ');
	bytes_decimal(bytes, entry->tgid);
	bytes_char(bytes, '/');
	bytes_decimal(bytes, entry->tid ? entry->tid : entry->tgid);
	bytes_char(bytes, ' ');
	put_time(script, at);
	bytes_decimal(bytes, script->each);
	bytes_char(bytes, ' ');
	bytes_put(bytes, script->event.start, script->event.used);
	bytes_string(bytes, ":\n");
	for (uint32_t i = 0; i < n; i++) {
		uint32_t frame = script->list[i];

		if (frame < profile->n_frames) {
			bytes_put(bytes, script->frames.of[frame].text,
				  script->frames.of[frame].size);
		} else {
			bytes_string(bytes, "\t0000000000000000 ");
			bytes_string(bytes, stack_mark_text(frame - profile->n_frames));
			bytes_string(bytes, " ([unknown])\n");
		}
	}
	bytes_char(bytes, '\n');
	script->written++;
}

/* ---- the order of the records */

static bool is_due_before(const struct turn *one, const struct turn *other)
{
	uint64_t due = (2ull * one->written + 1) * other->records;
	uint64_t other_due = (2ull * other->written + 1) * one->records;

	return due != other_due ? due < other_due : one->entry < other->entry;
}

/* Moves the turn at `at` down to its place in the heap. */
static void sift(struct turn *turns, uint32_t n, uint32_t at)
{
	for (;;) {
		uint32_t first = at, child = 2 * at + 1;
		struct turn moved = turns[at];

		if (child < n && is_due_before(&turns[child], &turns[first]))
			first = child;
		if (child + 1 < n && is_due_before(&turns[child + 1], &turns[first]))
			first = child + 1;
		if (first == at)
			return;
		turns[at] = turns[first];
		turns[first] = moved;
		at = first;
	}
}

/* What is less than a record is carried over, within a thread if it can be. */
static uint32_t records_of(struct perf_script *script, uint64_t count)
{
	uint64_t whole = count / script->each;

	script->rest += count % script->each;
	if (script->rest >= script->each) {
		script->rest -= script->each;
		whole++;
	}
	return (uint32_t)whole; /* RECORDS_MAX at most */
}

static int make_turns(struct perf_script *script)
{
	const struct profile *profile = script->profile;

	script->turns = reallocarray(NULL, (size_t)profile->n_entries + 1, sizeof(*script->turns));
	if (!script->turns)
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->n_entries; i++) {
		uint32_t entry = script->groups.order[i];
		uint32_t records = records_of(script, profile->entries[entry].count);

		if (records > 0)
			script->turns[script->n_turns++] =
				(struct turn){ .entry = entry, .records = records };
	}
	for (uint32_t at = script->n_turns / 2; at-- > 0;)
		sift(script->turns, script->n_turns, at);
	return 0;
}

static void put_next(struct perf_script *script)
{
	struct turn *turn = &script->turns[0];
	const struct profile_entry *entry = &script->profile->entries[turn->entry];

	put_record(script, entry, even_time(script));
	if (++turn->written == turn->records)
		*turn = script->turns[--script->n_turns];
	sift(script->turns, script->n_turns, 0);
}

static int put_evenly(struct perf_script *script)
{
	int r = entry_groups_make(&script->groups, script->profile, true);

	if (r == 0)
		r = make_turns(script);
	while (r == 0 && !script->bytes.failed && script->n_turns > 0)
		put_next(script);
	return r;
}

/* ---- the same, by a timeline */

static int compare_due(const void *a, const void *b)
{
	const struct due *one = a, *other = b;

	if (one->at != other->at)
		return one->at < other->at ? -1 : 1;
	return one->number < other->number ? -1 : 1;
}

static int add_due(struct perf_script *script, uint32_t entry, uint32_t records)
{
	int r = grow(&script->due, &script->due_room, (size_t)script->n_due + records);

	for (uint32_t i = 0; r == 0 && i < records; i++, script->n_due++)
		script->due[script->n_due] =
			(struct due){ .number = script->n_due, .entry = entry };
	return r;
}

/* Spreads the records from `first` on, which are those of a thread, over the slice. */
static void spread(struct perf_script *script, uint32_t first, const struct timeline_slice *slice)
{
	double begin = (double)(slice->begin_ns - script->timeline->begin_ns) / 1e9;
	double length = (double)(slice->end_ns - slice->begin_ns) / 1e9;

	for (uint32_t i = first; i < script->n_due; i++)
		script->due[i].at =
			begin + ((double)(i - first) + 0.5) / (script->n_due - first) * length;
}

static int put_slice(struct perf_script *script, const struct sample_runs *runs,
		     const struct timeline_slice *slice)
{
	const struct profile_entry *entries = script->profile->entries, *last = NULL;
	uint32_t first = 0;
	int r = 0;

	script->n_due = 0;
	for (uint32_t i = 0; r == 0 && i < runs->n; i++) {
		const struct profile_entry *entry = &entries[runs->list[i].entry];

		if (last && (last->tgid != entry->tgid || last->tid != entry->tid)) {
			spread(script, first, slice);
			first = script->n_due;
		}
		last = entry;
		r = add_due(script, runs->list[i].entry, records_of(script, runs->list[i].count));
	}
	if (r < 0 || script->n_due == 0)
		return r;
	spread(script, first, slice);
	qsort(script->due, script->n_due, sizeof(*script->due), compare_due);
	for (uint32_t i = 0; i < script->n_due && !script->bytes.failed; i++) {
		double at = script->due[i].at;

		if (script->written > 0 && at < script->last + 1e-6)
			at = script->last + 1e-6;
		script->last = at;
		put_record(script, &entries[script->due[i].entry], at);
	}
	return 0;
}

static int put_by_time(struct perf_script *script)
{
	own(own_sample_order_free) struct sample_order *order = NULL;
	const struct timeline *timeline = script->timeline;
	int r = sample_order_new(script->profile, timeline, &order);

	for (uint32_t i = 0; r == 0 && i < timeline->n_slices && !script->bytes.failed; i++) {
		const struct sample_runs *runs = NULL;

		r = sample_order_next(order, &runs);
		if (r == 0 && runs)
			r = put_slice(script, runs, &timeline->slices[i]);
	}
	return r;
}

static int put_all(struct perf_script *script)
{
	const struct profile *profile = script->profile;
	int r = make_frames(script);

	if (r < 0)
		return r;
	put_word(&script->event, profile->meta->event ? profile->meta->event : "samples");
	if (script->event.failed)
		return script->event.failed;
	put_head(script);
	r = script->timeline ? put_by_time(script) : put_evenly(script);
	return r < 0 ? r : bytes_finish(&script->bytes);
}

static int perf_script_write(const struct report *report, FILE *out, struct error *err)
{
	const struct profile *profile = report->profile;
	const struct timeline *timeline = report->timeline;
	struct perf_script script = { .profile = profile };
	uint64_t most = profile->meta->timed ? TIMED_RECORDS_MAX : RECORDS_MAX;
	int r;

	script.each = profile->total / most + (profile->total % most ? 1 : 0);
	if (script.each == 0)
		script.each = 1;
	script.records = profile->total / script.each;
	if (timeline && timeline_tells(timeline, report->measurement.tally))
		script.timeline = timeline;
	bytes_start(&script.bytes, out);
	r = put_all(&script);
	entry_groups_clear(&script.groups);
	free(script.turns);
	free(script.due);
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
	.addresses = true,
	.times = true,
	.view = perf_script_view,
	.write = perf_script_write,
};
