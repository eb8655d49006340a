/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The frame that LuaJIT's interpreter has on the C stack (x86-64, 64-bit references: LJ_GC64, the
 * default since 2019). The code that its traces are compiled to runs on that frame, below which it
 * has words of its own: up to 1,024 bytes, and what an exit from it saves. How many is known to
 * the trace only, but the frame can be recognized: it has the address of the Lua state, and the
 * state has that of its innermost frame, which has that of the one before, and so on. Part of
 * bpf/unwind_step.h, whose includers define the macros.
 */
#ifndef STACKTALLY_BPF_UNWIND_LUAJIT_H
#define STACKTALLY_BPF_UNWIND_LUAJIT_H

#include <stdbool.h>

#include "bpf/unwind_walk.h"
#include "bpf/unwind_wire.h"

/* From the frame's lowest word: */
#define LUAJIT_FRAME_STATE  16 /* the address of the Lua state */
#define LUAJIT_FRAME_BEFORE 32 /* that of the state's frame before this one */
#define LUAJIT_FRAME_RBX    56
#define LUAJIT_FRAME_FP	    64	 /* and above it the return address */
#define LUAJIT_STATE_FRAME  80	 /* in the Lua state: the address of its innermost frame */
#define LUAJIT_FLAGS	    3ull /* low bits of addresses of frames */
#define LUAJIT_ALIGNMENT    16
#define LUAJIT_BELOW	    1328 /* bytes: spilled words 1,024, saved registers 288, 2 words */
#define LUAJIT_NESTED	    16	 /* frames of one state that are followed */

/* Whether an address of the stack is that of a frame of LuaJIT's interpreter. */
UNWIND_INLINE bool unwind_is_luajit_frame(__u64 at UNWIND_CONTEXT)
{
	__u64 state, frame, next;

	if (UNWIND_CODE(&state, sizeof(state), at + LUAJIT_FRAME_STATE) || state & 7 ||
	    state < UNWIND_MIN_PC || state >= UNWIND_MAX_USER)
		return false;
	next = state + LUAJIT_STATE_FRAME;
	for (int i = 0; i < LUAJIT_NESTED; i++) {
		if (UNWIND_CODE(&frame, sizeof(frame), next))
			return false;
		frame &= ~LUAJIT_FLAGS;
		if (frame >= at || frame == 0)
			return frame == at;
		next = frame + LUAJIT_FRAME_BEFORE;
	}
	return false;
}

#ifndef UNWIND_IS_LUAJIT_FRAME
#define UNWIND_IS_LUAJIT_FRAME(at) unwind_is_luajit_frame(at UNWIND_PASS)
#endif

/*
 * The lowest word of the innermost frame of LuaJIT's interpreter above this stack pointer, which is
 * that of its code, or of code that it has compiled; 0: there is none.
 */
UNWIND_INLINE __u64 unwind_luajit_frame(__u64 sp UNWIND_CONTEXT)
{
	__u64 from = (sp + LUAJIT_ALIGNMENT - 1) & ~(__u64)(LUAJIT_ALIGNMENT - 1);

	for (__u32 below = 0; below <= LUAJIT_BELOW; below += LUAJIT_ALIGNMENT) {
		if (UNWIND_IS_LUAJIT_FRAME(from + below))
			return from + below;
	}
	return 0;
}

#endif
