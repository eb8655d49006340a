// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Folded stacks, one per line: `COMM;root;...;leaf COUNT`, the user's part before the kernel's, as
 * flamegraph.pl and many other programs read them.
 *
 * The first element is the comm; `COMM-TGID/TID` with --per-thread; empty when stackcount adds up
 * processes, so that its lines begin with a semicolon as bcc's do. With --show-cgroup the cgroup
 * precedes it. A semicolon in a comm, a cgroup or a symbol becomes a colon, as programs that fold
 * perf's output have it: users choose these names, and would make frames of their own.
 *
 * A difference has two counts per line, that of the base first.
 */
#include <string.h>

#include "base/own.h"
#include "report/diff.h"
#include "report/writer.h"
#include "view/frame_text.h"
#include "view/quantity.h"

struct folded {
	const struct profile *profile;
	const struct report_options *options;
	struct frame_texts frames;
	struct bytes bytes;
};

static bool is_stackcount(const struct report_options *options)
{
	return options->layout == REPORT_LAYOUT_STACKCOUNT;
}

static bool shows_process(const struct report_options *options)
{
	return !is_stackcount(options) || options->per_process || options->per_thread;
}

static uint32_t folded_view(const struct report_options *options)
{
	uint32_t view = 0;

	if (shows_process(options))
		view |= PROFILE_VIEW_COMM;
	if (options->per_thread)
		view |= PROFILE_VIEW_THREAD;
	if (options->show_cgroup)
		view |= PROFILE_VIEW_CGROUP;
	if (options->by_address)
		view |= PROFILE_VIEW_ADDRESS;
	if (options->annotations)
		view |= PROFILE_VIEW_INLINED;
	if (options->lines)
		view |= PROFILE_VIEW_LINES;
	return view;
}

static bool is_delimited(const struct report_options *options, const struct profile_entry *entry)
{
	if (!options->delimited || options->user_only || options->kernel_only)
		return false;
	return is_stackcount(options) || (entry->n_kernel && entry->n_user);
}

/* Root first. Each text begins with a semicolon. */
static void put_stack(struct folded *folded, const uint32_t *frames, uint32_t n, bool cut)
{
	if (cut)
		bytes_string(&folded->bytes, ";" FRAME_TRUNCATED);
	if (n > 0)
		frame_texts_put(&folded->frames, frames + n - 1, n, -1, &folded->bytes);
}

/* A name in which semicolons become colons. */
static void put_text(struct bytes *bytes, const char *text, size_t size)
{
	const char *semicolon;

	while ((semicolon = memchr(text, ';', size))) {
		size_t n = (size_t)(semicolon - text);

		bytes_name(bytes, text, n);
		bytes_char(bytes, ':');
		text += n + 1;
		size -= n + 1;
	}
	bytes_name(bytes, text, size);
}

static void put_cgroup(struct bytes *bytes, const struct profile *profile, uint64_t cgroup)
{
	struct bytes name;

	bytes_start(&name, NULL);
	frame_text_cgroup_named(&name, profile, cgroup);
	put_text(bytes, name.start, name.used);
	if (name.failed)
		bytes->failed = name.failed;
	bytes_clear(&name);
}

static void put_process(void *context, const struct profile *profile,
			const struct tally_entry *entry, struct bytes *bytes)
{
	const struct folded *folded = context;
	const struct report_options *options = folded->options;

	if (options->show_cgroup) {
		put_cgroup(bytes, profile, entry->cgroup);
		bytes_char(bytes, ';');
	}
	if (!shows_process(options))
		return;
	put_text(bytes, entry->comm, strnlen(entry->comm, sizeof(entry->comm)));
	if (options->per_thread) {
		bytes_char(bytes, '-');
		bytes_decimal(bytes, entry->tgid);
		bytes_char(bytes, '/');
		bytes_decimal(bytes, entry->tid);
	}
}

static void put_entry(struct folded *folded, const struct tally_entry *of)
{
	struct bytes *bytes = &folded->bytes;
	struct profile_entry entry;

	profile_read(folded->profile, of, &entry);
	put_process(folded, folded->profile, of, bytes);
	put_stack(folded, entry.user, entry.n_user, entry.user_cut);
	if (entry.user_missed)
		bytes_string(bytes, ";" FRAME_MISSED_USER);
	if (is_delimited(folded->options, &entry))
		bytes_string(bytes, ";-");
	put_stack(folded, entry.kernel, entry.n_kernel, entry.kernel_cut);
	if (entry.kernel_missed)
		bytes_string(bytes, ";" FRAME_MISSED_KERNEL);
	bytes_char(bytes, ' ');
}

static void put_count(struct folded *folded, uint64_t count, char end)
{
	bytes_decimal(&folded->bytes, quantity_number(folded->profile->meta, count));
	bytes_char(&folded->bytes, end);
}

static int put_entries(struct folded *folded)
{
	const struct profile *profile = folded->profile;

	for (uint32_t i = 0; !folded->bytes.failed && i < profile->n_entries; i++) {
		profile_prefetch(profile, i);
		put_entry(folded, &profile->entries[i]);
		put_count(folded, profile->entries[i].count, '\n');
	}
	return bytes_finish(&folded->bytes);
}

static int put_changes(struct folded *folded, struct folded *vanished)
{
	own(diff_clear) struct diff diff = { 0 };
	int r = diff_make(&diff, folded->profile, &folded->frames, &vanished->frames, put_process,
			  folded);

	if (r < 0)
		return r;
	for (uint32_t i = 0; !folded->bytes.failed && i < diff.n; i++) {
		const struct diff_entry *entry = &diff.entries[i];

		if (entry->vanished) {
			vanished->bytes = folded->bytes; /* both write to one buffer */
			put_entry(vanished, entry->entry);
			folded->bytes = vanished->bytes;
		} else {
			put_entry(folded, entry->entry);
		}
		put_count(folded, entry->base, ' ');
		put_count(folded, entry->count, '\n');
	}
	return bytes_finish(&folded->bytes);
}

static int put_difference(struct folded *folded, const struct frame_style *style)
{
	struct folded vanished = {
		.profile = folded->profile->base,
		.options = folded->options,
	};
	int r = frame_texts_make(&vanished.frames, vanished.profile, style);

	if (r == 0)
		r = put_changes(folded, &vanished);
	frame_texts_clear(&vanished.frames);
	return r;
}

static int folded_write(const struct report *report, FILE *out, struct error *err)
{
	const struct profile *profile = report->profile;
	const struct report_options *options = report->options;
	/* No offsets or addresses, even with -s and -A: programs that read this match names. */
	struct frame_style style = { .before = ";",
				     .after = "",
				     .annotations = options->annotations,
				     .lines = options->lines,
				     .no_semicolons = true };
	struct folded folded = { .profile = profile, .options = options };
	int r = frame_texts_make(&folded.frames, profile, &style);

	bytes_start(&folded.bytes, out);
	if (r == 0)
		r = profile->base ? put_difference(&folded, &style) : put_entries(&folded);
	frame_texts_clear(&folded.frames);
	bytes_clear(&folded.bytes);
	return report_result(r, err);
}

static const char *const extensions[] = { ".folded", ".collapsed", NULL };

const struct writer folded_writer = {
	.name = "folded",
	.description = "one line per stack, for flamegraph.pl",
	.extensions = extensions,
	.diffs = true,
	.dumps = true,
	.view = folded_view,
	.write = folded_write,
};
