/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of the distinct frames of flame graphs: functions, processes, marks for missing parts
 * of a stack. Trees refer to frames by their number in the table, so the trees of many snapshots
 * share one table and can be compared. Owns its strings. Must not know: stacks, counts, formats.
 *
 * Names are printable: valid UTF-8 without control characters, cut to FLAME_NAME_MAX bytes.
 */
#ifndef STACKTALLY_FLAME_FLAME_FRAMES_H
#define STACKTALLY_FLAME_FLAME_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "tally/languages.h"

#define FLAME_NAME_MAX 2000

/* Pages know these numbers (flame/page/). */
enum flame_kind {
	FLAME_ROOT,
	FLAME_WHO,	/* a comm, process, thread or cgroup */
	FLAME_KERNEL,	/* kernel code, modules included */
	FLAME_USER,	/* a plain name: C, Go, assembler */
	FLAME_CPP,	/* a demangled name: C++, Rust, D */
	FLAME_JIT,	/* generated code */
	FLAME_INLINED,	/* a function inlined into its caller, the box below it */
	FLAME_MARKER,	/* in brackets: nothing known, a missing part of the stack, an end of
			   unwinding */
	FLAME_IDENTITY, /* a function without a symbol: [FILE+0xSTART] */
	FLAME_BLOCKED,	/* no function: the thread was blocked */
	FLAME_WAITING,	/* no function: the thread waited for a CPU */
	FLAME_N_PLAIN,	/* above: the language of an interpreted program's function */
	FLAME_N_KINDS = FLAME_N_PLAIN + N_LANGUAGES,
};

/* The language of functions of a kind; LANGUAGE_NONE: they have none. */
static inline uint32_t flame_kind_language(enum flame_kind kind)
{
	return kind < FLAME_N_PLAIN ? LANGUAGE_NONE : kind - FLAME_N_PLAIN;
}

struct flame_frame {
	const char *name;
	/* "libc.so.6", "[kernel]"; "" if none is known; of a cgroup, its service or container */
	const char *module;
	uint64_t hash;	    /* of name, module, ids, kind and side: the same in every table */
	uint32_t tgid, tid; /* of FLAME_WHO; 0 if the tree does not show them */
	enum flame_kind kind;
	bool kernel; /* part of a kernel stack, marks included */
	/* enum frame_interest (view/entry_parts.h); no field by which frames are told apart */
	uint8_t interest;
};

struct flame_frames;

int flame_frames_new(struct flame_frames **ret_frames);
void flame_frames_free(struct flame_frames *frames);

/*
 * The number of the frame that equals this one, which is added if it is new. Computes the hash, and
 * copies the strings in printable form. 0, -ENOMEM, or -EFBIG if there are too many.
 */
int flame_frames_add(struct flame_frames *frames, const struct flame_frame *frame,
		     uint32_t *ret_number);

uint32_t flame_frames_n(const struct flame_frames *frames);
/* Valid until the next flame_frames_add(); its strings live as long as the table. */
const struct flame_frame *flame_frames_get(const struct flame_frames *frames, uint32_t number);

/* The order of siblings: by name, then by the other fields; 0 only for equal numbers. */
int flame_frames_compare(const struct flame_frames *frames, uint32_t a, uint32_t b);

#endif
