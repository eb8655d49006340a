/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of each frame of a profile, made once: a stack is then written by copying. How a frame
 * is spelled is decided here, for all formats that show frames as text.
 */
#ifndef STACKTALLY_REPORT_FRAME_TEXT_H
#define STACKTALLY_REPORT_FRAME_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "report/bytes.h"
#include "report/profile.h"

/*
 * What stands for frames that are not there. The last one is where the root would be when the
 * stack is deeper than the depth limit; bcc ends such a stack without a word.
 */
#define FRAME_MISSED_KERNEL "[Missed Kernel Stack]"
#define FRAME_MISSED_USER   "[Missed User Stack]"
#define FRAME_TRUNCATED	    "[truncated]"

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
#define FRAME_TEXT_SPAN 32

struct frame_texts {
	struct frame_text *of; /* for each frame of the profile */
	struct bytes bytes;
};

/* 0 or -ENOMEM; frame_texts_clear() is due in both cases. */
int frame_texts_make(struct frame_texts *texts, const struct profile *profile,
		     const struct frame_style *style);
void frame_texts_clear(struct frame_texts *texts);

static inline void frame_text_put(struct bytes *bytes, const struct frame_text *frame)
{
	char *to;

	if (!bytes_room(bytes, (size_t)frame->size + FRAME_TEXT_SPAN))
		return;
	to = bytes->start + bytes->used;
	memcpy(to, frame->text, FRAME_TEXT_SPAN);
	if (__builtin_expect(frame->size > FRAME_TEXT_SPAN, 0))
		memcpy(to + FRAME_TEXT_SPAN, frame->text + FRAME_TEXT_SPAN,
		       frame->size - FRAME_TEXT_SPAN);
	bytes->used += frame->size;
}

/* The cgroup as reports show it: its path, or its id in brackets when there is none. */
void frame_text_cgroup(struct bytes *bytes, const struct profile *profile, uint64_t cgroup);

#endif
