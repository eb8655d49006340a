// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The multi-line report, in the layout of bcc's profile or stackcount: the stack, leaf first, the
 * kernel's part before the user's, then the process and the count.
 *
 * Beyond bcc: a stack that was not stored is one line in both layouts (bcc's stackcount prints
 * nothing), -a marks frames as in folded output, and a thread is `COMM (TGID/TID)`.
 *
 * A difference adds up processes of one name, as ids differ from run to run; its counts are
 * `+DIFFERENCE (BASE -> COUNT)`.
 */
#include "base/own.h"
#include "report/diff.h"
#include "report/threads_text.h"
#include "report/writer.h"
#include "view/frame_text.h"
#include "view/quantity.h"

struct text {
	const struct profile *profile;
	const struct report_options *options;
	const char *indent;
	struct frame_texts frames;
	struct bytes bytes;
};

static bool is_stackcount(const struct report_options *options)
{
	return options->layout == REPORT_LAYOUT_STACKCOUNT;
}

static bool shows_process(const struct report_options *options)
{
	if (!is_stackcount(options) || options->per_thread)
		return true;
	return options->per_process && !options->hide_process_line;
}

static uint32_t text_view(const struct report_options *options)
{
	uint32_t view = 0;

	if (shows_process(options))
		view |= options->by_comm ? PROFILE_VIEW_COMM : PROFILE_VIEW_PROCESS;
	if (options->per_thread)
		view |= PROFILE_VIEW_THREAD;
	if (options->show_cgroup)
		view |= PROFILE_VIEW_CGROUP;
	if (options->by_address || options->address || options->verbose_address)
		view |= PROFILE_VIEW_ADDRESS;
	if (options->offset || options->address)
		view |= PROFILE_VIEW_OFFSET | PROFILE_VIEW_INLINED;
	if (options->offset && !is_stackcount(options))
		view |= PROFILE_VIEW_UNNAMED;
	if (options->address)
		view |= PROFILE_VIEW_MODULE;
	if (options->annotations)
		view |= PROFILE_VIEW_INLINED;
	if (options->lines)
		view |= PROFILE_VIEW_LINES;
	return view;
}

static void put_marker(struct text *text, const char *marker)
{
	bytes_string(&text->bytes, text->indent);
	bytes_string(&text->bytes, marker);
	bytes_char(&text->bytes, '\n');
}

static void put_stack(struct text *text, const uint32_t *frames, uint32_t n, bool cut)
{
	frame_texts_put(&text->frames, frames, n, 1, &text->bytes);
	if (cut)
		put_marker(text, FRAME_TRUNCATED);
}

static bool is_delimited(const struct report_options *options, const struct profile_entry *entry)
{
	if (!options->delimited || options->user_only || options->kernel_only)
		return false;
	/* As in bcc: profile prints it between two parts, stackcount always. */
	return is_stackcount(options) || (entry->n_kernel && entry->n_user);
}

/* The process, and the cgroup behind it or on a line of its own. */
static void put_process(void *context, const struct profile *profile,
			const struct tally_entry *entry, struct bytes *bytes)
{
	const struct text *text = context;
	const struct report_options *options = text->options;
	bool stackcount = is_stackcount(options), process = shows_process(options);

	if (process && options->by_comm && !options->per_thread) {
		bytes_string(bytes, stackcount ? "    " : "    -                ");
		bytes_name(bytes, entry->comm, strnlen(entry->comm, sizeof(entry->comm)));
	} else if (process) {
		bytes_string(bytes, stackcount ? "    " : "    -                ");
		bytes_name(bytes, entry->comm, strnlen(entry->comm, sizeof(entry->comm)));
		bytes_string(bytes, stackcount ? " [" : " (");
		bytes_decimal(bytes, entry->tgid);
		if (options->per_thread) {
			bytes_char(bytes, '/');
			bytes_decimal(bytes, entry->tid);
		}
		bytes_char(bytes, stackcount ? ']' : ')');
	}
	if (options->show_cgroup) {
		bytes_string(bytes, process ? " " : "    ");
		frame_text_cgroup_named(bytes, profile, entry->cgroup);
	}
	if (process || options->show_cgroup)
		bytes_char(bytes, '\n');
}

static void put_entry(struct text *text, const struct tally_entry *of)
{
	struct bytes *bytes = &text->bytes;
	struct profile_entry entry;

	profile_read(text->profile, of, &entry);
	put_stack(text, entry.kernel, entry.n_kernel, entry.kernel_cut);
	if (entry.kernel_missed)
		put_marker(text, FRAME_MISSED_KERNEL);
	if (is_delimited(text->options, &entry))
		bytes_string(bytes, "    --\n");
	put_stack(text, entry.user, entry.n_user, entry.user_cut);
	if (entry.user_missed)
		put_marker(text, FRAME_MISSED_USER);
	put_process(text, text->profile, of, bytes);
	bytes_string(bytes, is_stackcount(text->options) ? "    " : "        ");
}

/* The count; of sums also their unit, of how many values, and the largest, where that is known. */
static void put_count(struct text *text, const struct tally_entry *entry)
{
	const struct profile_meta *meta = text->profile->meta;
	struct bytes *bytes = &text->bytes;

	bytes_decimal(bytes, quantity_number(meta, entry->count));
	if (meta->summed) {
		bytes_char(bytes, ' ');
		bytes_string(bytes, quantity_number_unit(meta));
		quantity_put_events(bytes, meta, entry->events, true);
	}
	if (entry->largest) {
		bytes_string(bytes, ", the largest ");
		bytes_decimal(bytes, quantity_number(meta, entry->largest));
	}
	bytes_string(bytes, "\n\n");
}

static int put_entries(struct text *text)
{
	const struct profile *profile = text->profile;

	for (uint32_t i = 0; !text->bytes.failed && i < profile->n_entries; i++) {
		profile_prefetch(profile, i);
		put_entry(text, &profile->entries[i]);
		put_count(text, &profile->entries[i]);
	}
	return bytes_finish(&text->bytes);
}

static void put_counts(struct text *text, uint64_t base_count, uint64_t now_count)
{
	const struct profile_meta *meta = text->profile->meta;
	uint64_t base = quantity_number(meta, base_count);
	uint64_t count = quantity_number(meta, now_count);
	struct bytes *bytes = &text->bytes;

	if (count != base)
		bytes_char(bytes, count > base ? '+' : '-');
	bytes_decimal(bytes, count > base ? count - base : base - count);
	bytes_string(bytes, " (");
	bytes_decimal(bytes, base);
	bytes_string(bytes, " -> ");
	bytes_decimal(bytes, count);
	bytes_string(bytes, ")\n\n");
}

static void put_total(struct text *text, const struct profile *profile, bool timed)
{
	struct bytes *bytes = &text->bytes;
	char seconds[40];

	bytes_decimal(bytes, quantity_number(profile->meta, profile->total));
	if (profile == text->profile) {
		bytes_char(bytes, ' ');
		bytes_string(bytes, quantity_number_unit(profile->meta));
	}
	snprintf(seconds, sizeof(seconds), " in %.1f s", (double)profile->meta->duration_ns / 1e9);
	bytes_string(bytes, timed ? seconds : "");
}

/* The totals of both profiles, and how they are compared. */
static void put_totals(struct text *text)
{
	const struct profile *profile = text->profile, *base = profile->base;
	const struct scale *scale = &profile->base_scale;
	struct bytes *bytes = &text->bytes;
	bool timed = profile->meta->duration_ns && base->meta->duration_ns;

	put_total(text, profile, timed);
	bytes_string(bytes, ", ");
	put_total(text, base, timed);
	bytes_string(bytes, " in the base");
	if (scale->how == SCALE_RATES && scale->now != scale->base)
		bytes_string(bytes, ", whose counts are scaled to the same time and rate");
	if (scale->how == SCALE_SHARES && scale->now != scale->base)
		bytes_string(bytes, ", whose counts are scaled to as many");
	bytes_string(bytes, "\n\n");
}

static int put_changes(struct text *text, struct text *vanished)
{
	own(diff_clear) struct diff diff = { 0 };
	int r = diff_make(&diff, text->profile, &text->frames, &vanished->frames, put_process,
			  text);

	if (r < 0)
		return r;
	put_totals(text);
	for (uint32_t i = 0; !text->bytes.failed && i < diff.n; i++) {
		const struct diff_entry *entry = &diff.entries[i];

		if (entry->vanished) {
			vanished->bytes = text->bytes; /* both write to one buffer */
			put_entry(vanished, entry->entry);
			text->bytes = vanished->bytes;
		} else {
			put_entry(text, entry->entry);
		}
		put_counts(text, entry->base, entry->count);
	}
	return bytes_finish(&text->bytes);
}

static int put_difference(struct text *text, const struct frame_style *style)
{
	struct text vanished = { .profile = text->profile->base,
				 .options = text->options,
				 .indent = text->indent };
	int r = frame_texts_make(&vanished.frames, vanished.profile, style);

	if (r == 0)
		r = put_changes(text, &vanished);
	frame_texts_clear(&vanished.frames);
	return r;
}

static int text_write(const struct report *report, FILE *out, struct error *err)
{
	const struct profile *profile = report->profile;
	const struct report_options *options = report->options;
	struct text text = { .profile = profile,
			     .options = options,
			     .indent = is_stackcount(options) ? "  " : "    " };
	struct frame_style style = {
		.before = text.indent,
		.after = "\n",
		.column = options->verbose_address,
		.address = options->address,
		.annotations = options->annotations,
		.offset = options->offset || options->address,
		.module = options->address,
		.unnamed_module = options->offset && !is_stackcount(options),
		.lines = options->lines,
	};
	int r = frame_texts_make(&text.frames, profile, &style);

	bytes_start(&text.bytes, out);
	if (r == 0)
		r = profile->meta->threads
			    ? threads_text_put(profile, &text.frames, text.indent, &text.bytes)
		    : profile->base ? put_difference(&text, &style)
				    : put_entries(&text);
	frame_texts_clear(&text.frames);
	bytes_clear(&text.bytes);
	return report_result(r, err);
}

static const char *const extensions[] = { ".txt", NULL };

const struct writer text_writer = {
	.name = "text",
	.description = "stacks on several lines, leaf first",
	.extensions = extensions,
	.diffs = true,
	.dumps = true,
	.titled = true,
	.view = text_view,
	.write = text_write,
};
