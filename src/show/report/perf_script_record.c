// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/perf_script_internal.h"

void perf_script_put_word(struct bytes *bytes, const char *word)
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
		perf_script_put_word(bytes, profile->objects[is->object].path);
	else
		perf_script_put_word(bytes, is->module ? is->module : "[unknown]");
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

int perf_script_make_frames(struct perf_script *script)
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

/* Seconds since the start, with microseconds; a record has at least one of its own. */
static void put_time(struct perf_script *script, double at)
{
	char text[64];

	snprintf(text, sizeof(text), "%.6f: ", at);
	bytes_string(&script->bytes, text);
}

void perf_script_put_record(struct perf_script *script, const struct tally_entry *entry, double at)
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
	bytes_decimal(bytes, script->samples.each);
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
}
