// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/frame_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tally/cgroup_path.h"
#include "tally/scripts.h"

const char *frame_text_name(const struct names_frame *is)
{
	if (is->name)
		return is->name;
	return is->flags & NAMES_FRAME_JIT ? "[jit]" : "[unknown]";
}

bool frame_text_is_inlining_mark(const struct names_frame *is)
{
	const char *reason = script_reason_name(SCRIPT_INLINED);
	const char *found =
		is->language && is->name && is->name[0] == '[' ? strstr(is->name, reason) : NULL;

	return found && strcmp(found + strlen(reason), "]") == 0;
}

bool frame_text_is_woken_mark(const struct names_frame *is)
{
	return is->name && strcmp(is->name, "--") == 0;
}

/* Whether a name ends with " (file)". */
static bool ends_with(const char *name, size_t size, const char *file, size_t n)
{
	return size > n + 3 && name[size - 1] == ')' && !memcmp(name + size - 1 - n, file, n) &&
	       !memcmp(name + size - 3 - n, " (", 2);
}

/* How much of a function's name is left without its file in brackets, which is " (x.py)" in most
 * languages, and the whole of node's own, " (node:internal/timers)". */
static size_t size_without_file(const char *name, const char *file)
{
	const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
	size_t size = strlen(name);

	if (ends_with(name, size, file, strlen(file)))
		return size - strlen(file) - 3;
	return ends_with(name, size, base, strlen(base)) ? size - strlen(base) - 3 : size;
}

static void put_name(struct bytes *bytes, const struct names_frame *is,
		     const struct frame_style *style)
{
	const char *name = frame_text_name(is);
	bool file_follows = style->lines && is->file && is->language;

	bytes_name(bytes, name, file_follows ? size_without_file(name, is->file) : strlen(name));
}

/* The names of kernel modules and the vDSO have brackets already. */
static void put_module(struct bytes *bytes, const char *module)
{
	bool bare = module[0] != '[';

	bytes_string(bytes, bare ? " [" : " ");
	bytes_name(bytes, module, strlen(module));
	if (bare)
		bytes_char(bytes, ']');
}

static void put_address(struct bytes *bytes, const struct profile_frame *frame,
			const struct frame_style *style)
{
	if (style->address) {
		bytes_string(bytes, "0x");
		bytes_hex(bytes, frame->address, 16, !(frame->is.flags & NAMES_FRAME_KERNEL));
		bytes_char(bytes, ' ');
	} else if (style->column) {
		bytes_hex(bytes, frame->address, 16, false);
		bytes_char(bytes, ' ');
	}
}

static void put_frame(struct bytes *bytes, const struct profile_frame *frame,
		      const struct frame_style *style)
{
	const struct names_frame *is = &frame->is;
	bool inlined = is->flags & NAMES_FRAME_INLINED;

	put_address(bytes, frame, style);
	put_name(bytes, is, style);
	if (style->annotations && is->flags & NAMES_FRAME_KERNEL)
		bytes_string(bytes, "_[k]");
	else if (style->annotations && inlined)
		bytes_string(bytes, "_[i]");
	if (style->offset && is->name && inlined) {
		/* Inlined code has no start that an offset could count from. */
		bytes_string(bytes, " (inlined)");
	} else if (style->offset && is->name) {
		bytes_string(bytes, "+0x");
		bytes_hex(bytes, is->offset, 0, false);
	}
	if (is->module && (style->module || (style->unnamed_module && !is->name)))
		put_module(bytes, is->module);
	if (style->lines && is->file) {
		bytes_string(bytes, " (");
		bytes_name(bytes, is->file, strlen(is->file));
		if (is->line) {
			bytes_char(bytes, ':');
			bytes_decimal(bytes, is->line);
		}
		bytes_char(bytes, ')');
	}
}

static void replace_semicolons(struct bytes *bytes, size_t from)
{
	for (size_t i = from; !bytes->failed && i < bytes->used; i++) {
		if (bytes->start[i] == ';')
			bytes->start[i] = ':';
	}
}

int frame_texts_make(struct frame_texts *texts, const struct profile *profile,
		     const struct frame_style *style)
{
	struct bytes *bytes = &texts->bytes;
	size_t at = 0;

	bytes_start(bytes, NULL);
	texts->of = reallocarray(NULL, (size_t)profile->n_frames + 1, sizeof(*texts->of));
	if (!texts->of)
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->n_frames; i++) {
		size_t start = bytes->used, frame;

		bytes_string(bytes, style->before);
		frame = bytes->used;
		put_frame(bytes, &profile->frames[i], style);
		if (style->no_semicolons)
			replace_semicolons(bytes, frame);
		bytes_string(bytes, style->after);
		texts->of[i].size = (uint32_t)(bytes->used - start);
	}
	if (!bytes_room(bytes, FRAME_TEXT_SPAN))
		return -ENOMEM;
	memset(bytes->start + bytes->used, 0, FRAME_TEXT_SPAN);
	for (uint32_t i = 0; i < profile->n_frames; i++) { /* from here on the buffer stays */
		texts->of[i].text = bytes->start + at;
		at += texts->of[i].size;
	}
	return 0;
}

void frame_texts_clear(struct frame_texts *texts)
{
	free(texts->of);
	texts->of = NULL;
	bytes_clear(&texts->bytes);
}

void frame_text_cgroup(struct bytes *bytes, const struct profile *profile, uint64_t cgroup)
{
	const struct names_cgroup *known = profile_cgroup(profile, cgroup);

	if (known) {
		bytes_name(bytes, known->path, strlen(known->path));
		return;
	}
	bytes_string(bytes, "[cgroup ");
	if (cgroup)
		bytes_decimal(bytes, cgroup);
	else
		bytes_char(bytes, '?');
	bytes_char(bytes, ']');
}

/* Without what stands between names, so that none can pass for several. */
static void put_one_name(struct bytes *bytes, const char *name)
{
	char text[256]; /* what is read of a name is not longer */

	snprintf(text, sizeof(text), "%s", name);
	for (char *at = text + strcspn(text, "/()"); *at; at += strcspn(at, "/()"))
		*at = '?';
	bytes_name(bytes, text, strlen(text));
}

void frame_text_cgroup_named(struct bytes *bytes, const struct profile *profile, uint64_t cgroup)
{
	const struct names_cgroup *known = profile_cgroup(profile, cgroup);
	const char *pod = names_cgroup_label(known, LABEL_POD);
	const char *container = names_cgroup_label(known, LABEL_CONTAINER_NAME);
	const char *const names[] = { names_cgroup_label(known, LABEL_NAMESPACE), pod, container };
	const char *id = names_cgroup_label(known, LABEL_CONTAINER_ID);
	bool any = false;

	frame_text_cgroup(bytes, profile, cgroup);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!names[i])
			continue;
		bytes_string(bytes, any ? "/" : " (");
		put_one_name(bytes, names[i]);
		any = true;
	}
	if (pod && !container) {
		bytes_char(bytes, '/');
		for (size_t i = 0; id && i < CGROUP_SHORT_ID && isxdigit((unsigned char)id[i]); i++)
			bytes_char(bytes, id[i]);
		if (!id)
			bytes_char(bytes, '-');
	}
	if (any)
		bytes_char(bytes, ')');
}
