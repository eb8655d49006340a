/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of each frame of a profile, made once: a stack is then written by copying. How a frame
 * is spelled is decided here, for all formats that show frames as text.
 */
#ifndef STACKTALLY_VIEW_FRAME_TEXT_H
#define STACKTALLY_VIEW_FRAME_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "view/profile.h"

/*
 * What stands for frames that are not there. The last one is where the root would be when the
 * stack is deeper than the depth limit; bcc ends such a stack without a word.
 */
#define FRAME_MISSED_KERNEL "[Missed Kernel Stack]"
#define FRAME_MISSED_USER   "[Missed User Stack]"
#define FRAME_TRUNCATED	    "[truncated]"
#define FRAME_NO_STACK	    "[no stack]" /* where a format wants a frame and there is none */

struct frame_style {
	const char *before, *after; /* around each frame: an indent, a newline */
	bool column;		    /* the bare address in a column of 16 */
	bool address;		    /* 0x.., before the name */
	bool annotations;	    /* _[k], _[i] after the name */
	bool offset;		    /* +0x.. after the name */
	bool module;		    /* [module] after all frames */
	bool unnamed_module;	    /* [module] after those without a name */
	bool lines;		    /* (file:line) at the end */
};

struct frame_text {
	const char *text; /* FRAME_TEXT_SPAN bytes can be read */
	uint32_t size;
};

/* What is copied at once: the frames of most programs are shorter than this. */
#define FRAME_TEXT_SPAN 64

struct frame_texts {
	struct frame_text *of; /* for each frame of the profile */
	struct bytes bytes;
};

/* 0 or -ENOMEM; frame_texts_clear() is due in both cases. */
int frame_texts_make(struct frame_texts *texts, const struct profile *profile,
		     const struct frame_style *style);
void frame_texts_clear(struct frame_texts *texts);

/*
 * Appends `n` frames, each `step` (1, or -1: backwards) after the one before. The place in the
 * buffer stays in registers meanwhile: this is where a large report spends its time.
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

/* What a frame is called: "[unknown]" or "[jit]" without a name. */
const char *frame_text_name(const struct names_frame *is);

/* The cgroup as reports show it: its path, or its id in brackets when there is none. */
void frame_text_cgroup(struct bytes *bytes, const struct profile *profile, uint64_t cgroup);

#endif
