/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of each frame of a profile, made once, so that writing a stack is copying. All formats
 * that show frames as text take it from here.
 */
#ifndef STACKTALLY_VIEW_FRAME_TEXT_H
#define STACKTALLY_VIEW_FRAME_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "view/profile.h"

/* Texts in place of missing frames. */
#define FRAME_MISSED_KERNEL "[Missed Kernel Stack]" /* as bcc has it */
#define FRAME_MISSED_USER   "[Missed User Stack]"
#define FRAME_TRUNCATED	    "[truncated]" /* in place of the root, beyond the depth limit */
#define FRAME_NO_STACK	    "[no stack]"  /* in formats that need at least one frame */

struct frame_style {
	const char *before, *after; /* each frame, such as an indent and a newline */
	bool column;		    /* address without 0x, 16 columns wide, before the name */
	bool address;		    /* address with 0x, before the name */
	bool annotations;	    /* _[k], _[i] after the name */
	bool offset;		    /* +0x.. after the name */
	bool module;		    /* [module] after all frames */
	bool unnamed_module;	    /* [module] after those without a name */
	bool lines;		    /* (file:line) at the end */
	bool no_semicolons;	    /* those of names become colons: a semicolon ends a frame */
};

struct frame_text {
	const char *text; /* FRAME_TEXT_SPAN bytes can be read */
	uint32_t size;
};

/* Bytes that are copied at once: most frames are shorter. */
#define FRAME_TEXT_SPAN 64

struct frame_texts {
	struct frame_text *of; /* for each frame of the profile */
	struct bytes bytes;
};

/* 0 or -ENOMEM; call frame_texts_clear() in both cases. */
int frame_texts_make(struct frame_texts *texts, const struct profile *profile,
		     const struct frame_style *style);
void frame_texts_clear(struct frame_texts *texts);

/*
 * Appends `n` frames, from `frames` on upwards (`step` 1) or downwards (-1). It keeps the position
 * in the buffer in registers, because large reports spend their time here.
 */
static inline void frame_texts_put(const struct frame_texts *texts, const uint32_t *frames,
				   uint32_t n, int step, struct bytes *bytes)
{
	char *at, *end;

	if (n == 0 || !bytes_room(bytes, FRAME_TEXT_SPAN))
		return;
	at = bytes->start + bytes->used;
	end = bytes->start + bytes->size;
	for (; n > 0; n--, frames += step) {
		const struct frame_text *frame = &texts->of[*frames];

		if (__builtin_expect((size_t)(end - at) < (size_t)frame->size + FRAME_TEXT_SPAN,
				     0)) {
			bytes->used = (size_t)(at - bytes->start);
			if (!bytes_room(bytes, (size_t)frame->size + FRAME_TEXT_SPAN))
				return;
			at = bytes->start + bytes->used;
			end = bytes->start + bytes->size;
		}
		memcpy(at, frame->text, FRAME_TEXT_SPAN);
		if (__builtin_expect(frame->size > FRAME_TEXT_SPAN, 0))
			memcpy(at + FRAME_TEXT_SPAN, frame->text + FRAME_TEXT_SPAN,
			       frame->size - FRAME_TEXT_SPAN);
		at += frame->size;
	}
	bytes->used = (size_t)(at - bytes->start);
}

/* The name of a frame, or "[unknown]" or "[jit]" if it has none. */
const char *frame_text_name(const struct names_frame *is);

/* Whether the frame, of an interpreter, says that functions are missing that were inlined. */
bool frame_text_is_inlining_mark(const struct names_frame *is);
/* Whether it stands between a thread's frames and those of what woke it. */
bool frame_text_is_woken_mark(const struct names_frame *is);

/* Appends the path of a cgroup, or its id in brackets if the path is not known. */
void frame_text_cgroup(struct bytes *bytes, const struct profile *profile, uint64_t cgroup);
/*
 * The same with the names of the container and the pod behind it: "/docker/ID (web)",
 * "(NAMESPACE/POD/CONTAINER)" with the beginning of its id if it has no name, or "-" if there is
 * none; without the namespace for pods of Podman. Other slashes and parentheses are '?'.
 */
void frame_text_cgroup_named(struct bytes *bytes, const struct profile *profile, uint64_t cgroup);

#endif
