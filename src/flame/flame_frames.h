/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The boxes of flame graphs: what a function, a process or a gap in a stack is called and of what
 * kind it is, each kept once. Trees of the same table compare boxes by their number, so trees of
 * many snapshots share one. Owns its strings. Must not know: stacks, counts, formats.
 *
 * Names are fit to be shown: valid UTF-8 without control characters, cut to FLAME_NAME_MAX bytes.
 */
#ifndef STACKTALLY_FLAME_FLAME_FRAMES_H
#define STACKTALLY_FLAME_FLAME_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#define FLAME_NAME_MAX 2000

/* Numbers that pages know, too: report/page/ follows. */
enum flame_kind {
	FLAME_ROOT,
	FLAME_WHO,     /* a comm, process, thread or cgroup */
	FLAME_KERNEL,  /* all that runs in the kernel */
	FLAME_USER,    /* a plain name: C, Go, assembler */
	FLAME_CPP,     /* a demangled one: C++, Rust, D */
	FLAME_JIT,     /* generated code */
	FLAME_INLINED, /* a function inlined into the one below it */
	FLAME_MARKER,  /* in brackets: no name, a missing part of the stack, why unwinding ended */
	FLAME_N_KINDS,
};

struct flame_frame {
	const char *name;   /* as it is shown */
	const char *module; /* "libc.so.6", "[kernel]"; "" where none is known */
	uint64_t hash;	    /* of all that tells frames apart: the same in every table */
	uint32_t tgid, tid; /* FLAME_WHO: 0 when that is not told apart */
	enum flame_kind kind;
	bool kernel; /* belongs to the kernel's side of the stack, markers too */
};

struct flame_frames;

int flame_frames_new(struct flame_frames **ret_frames);
void flame_frames_free(struct flame_frames *frames);

/*
 * The number of the frame that is equal to this one, added if it is new; its hash is made here,
 * and its strings are copied as they may be shown. 0, -ENOMEM, or -EFBIG when there are too many.
 */
int flame_frames_add(struct flame_frames *frames, const struct flame_frame *frame,
		     uint32_t *ret_number);

uint32_t flame_frames_n(const struct flame_frames *frames);
/* Valid until the next flame_frames_add(); the strings as long as the table. */
const struct flame_frame *flame_frames_get(const struct flame_frames *frames, uint32_t number);

/* The order of siblings: by name, then by what else differs; 0 for the same number only. */
int flame_frames_compare(const struct flame_frames *frames, uint32_t a, uint32_t b);

#endif
