// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The multi-line report, in the layout of bcc's profile or of its stackcount: a stack leaf first,
 * the kernel's part before the user's, then who ran it and how often.
 *
 * Where both tools are silent: a stack that could not be kept shows as one line on either layout
 * (stackcount used to print nothing), -a marks frames here as it does in folded output, and a
 * thread is `COMM (TGID/TID)`.
 */
#include "report/frame_text.h"
#include "report/writer.h"

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
		view |= PROFILE_VIEW_PROCESS;
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
	if (options->user_only)
		view |= PROFILE_VIEW_NO_KERNEL;
	if (options->kernel_only)
		view |= PROFILE_VIEW_NO_USER;
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
	/* profile wants something on both sides of it, stackcount has it in every entry. */
	return is_stackcount(options) || (entry->n_kernel && entry->n_user);
}

/* Who ran it; the cgroup has a line of its own where the process has none. */
static void put_process(struct text *text, const struct profile_entry *entry)
{
	const struct report_options *options = text->options;
	bool stackcount = is_stackcount(options), process = shows_process(options);
	struct bytes *bytes = &text->bytes;

	if (process) {
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
		frame_text_cgroup(bytes, text->profile, entry->cgroup);
	}
	if (process || options->show_cgroup)
		bytes_char(bytes, '\n');
}

static void put_entry(struct text *text, const struct profile_entry *entry)
{
	struct bytes *bytes = &text->bytes;

	put_stack(text, entry->kernel, entry->n_kernel, entry->kernel_cut);
	if (entry->kernel_missed)
		put_marker(text, FRAME_MISSED_KERNEL);
	if (is_delimited(text->options, entry))
		bytes_string(bytes, "    --\n");
	put_stack(text, entry->user, entry->n_user, entry->user_cut);
	if (entry->user_missed)
		put_marker(text, FRAME_MISSED_USER);
	put_process(text, entry);
	bytes_string(bytes, is_stackcount(text->options) ? "    " : "        ");
	bytes_decimal(bytes, entry->count);
	bytes_string(bytes, "\n\n");
}

static int text_write(const struct profile *profile, const struct report_options *options,
		      FILE *out, struct error *err)
{
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
	for (uint32_t i = 0; r == 0 && !text.bytes.failed && i < profile->n_entries; i++) {
		profile_prefetch(profile, i + 8);
		put_entry(&text, &profile->entries[i]);
	}
	if (r == 0)
		r = bytes_finish(&text.bytes);
	frame_texts_clear(&text.frames);
	bytes_clear(&text.bytes);
	return report_result(r, err);
}

static const char *const extensions[] = { ".txt", NULL };

const struct writer text_writer = {
	.name = "text",
	.description = "stacks on several lines, leaf first",
	.extensions = extensions,
	.view = text_view,
	.write = text_write,
};
