/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an entry is about: a thread that ran or was off the CPU, its own frames, and the stack of
 * what woke it, which --wakers puts in front of them. Must not know: formats.
 */
#ifndef STACKTALLY_VIEW_ENTRY_PARTS_H
#define STACKTALLY_VIEW_ENTRY_PARTS_H

#include <stdint.h>

#include "view/profile.h"

/* Where a frame index is asked for and there is none. */
#define ENTRY_NO_FRAME UINT32_MAX

/* How likely it is that a reader would change the function. */
enum frame_interest {
	OF_NONE,    /* no function */
	OF_KERNEL,  /* also in a user stack: of the vDSO, ... */
	OF_SYSTEM,  /* libc, threads, the dynamic linker */
	OF_RUNTIME, /* an interpreter, a language's runtime library */
	OF_PROGRAM,
	OF_SCRIPT, /* a function of an interpreted program */
};

enum frame_interest frame_interest(const struct names_frame *is);

enum entry_state {
	ENTRY_RAN, /* also of measurements that know no other state */
	ENTRY_BLOCKED,
	ENTRY_WAITED, /* for a CPU */
	ENTRY_N_STATES,
};

/* Frame indices of the profile; the lists are parts of the entry's kernel stack. */
struct entry_parts {
	enum entry_state state;
	/* The thread's own frames, innermost first, without those that take it off its CPU. */
	const uint32_t *kernel;
	uint32_t n_kernel;
	const uint32_t *waker; /* of what woke it, outermost first; NULL and 0: not known */
	uint32_t n_waker;
	uint32_t waker_name; /* the waker's thread, or the kind of interrupt; ENTRY_NO_FRAME */
};

struct entry_parts entry_parts(const struct profile *profile, const struct profile_entry *entry);

/*
 * The function that a reader would change: the innermost one of the program, in place of the
 * kernel's, libc's and the interpreter's below it. Functions of interpreted programs come first.
 * If there is no such function, the innermost user frame, or kernel frame; ENTRY_NO_FRAME without
 * frames.
 */
uint32_t entry_program_frame(const struct profile *profile, const struct profile_entry *entry);

/* The same of the waker's frames; ENTRY_NO_FRAME if there are none. */
uint32_t entry_waker_frame(const struct profile *profile, const struct entry_parts *parts);

/* Whether the frame is a function that stacks of most programs have: of the kernel, libc, the
 * dynamic linker or an interpreter; or none, as [unwind: REASON]. */
bool entry_is_common_frame(const struct names_frame *is);

#endif
