/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The caller of a frame of HotSpot's generated code that is at a call, which is exact: a compiled
 * method says how large its frame is, and the interpreter keeps frame pointers.
 */
#ifndef STACKTALLY_LANGUAGES_JAVA_FRAMES_BPF_H
#define STACKTALLY_LANGUAGES_JAVA_FRAMES_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/hints.h"
#include "bpf/interpreter_wire.h"
#include "bpf/scratch.bpf.h"
#include "bpf/window.bpf.h"
#include "languages/interp_run.bpf.h"
#include "languages/java_blobs.bpf.h"
#include "languages/java_names.bpf.h"

/* Words of an interpreted function's frame, from its frame pointer. */
#define JAVA_FRAME_METHOD (-24) /* and the stack pointer of a call */
#define JAVA_FRAME_SENDER (-8)	/* the caller's stack pointer, and the caller's frame pointer */
#define JAVA_FRAME_RETURN 8
#define JAVA_FRAME_CODE	  (-64)

#define JAVA_GO_ON (-1) /* in place of an enum wire_end: it was not told */

/* There is no caller to be found. */
static __always_inline int java_fail(struct scratch *slot, __u32 reason)
{
	slot->interp.java_walk.reason = reason;
	slot->walk.callee_owner = UNWIND_GENERATED;
	return WIRE_END_JIT;
}

/* Moves the walk to the caller; its stack pointer does not descend. */
static __always_inline int java_go(struct scratch *slot, __u64 pc, __u64 sp, __u64 fp)
{
	struct unwind_walk *walk = &slot->walk;

	if (sp < walk->registers[UNWIND_SP] || sp & 7)
		return java_fail(slot, WIRE_SCRIPT_TORN);
	walk->pc = pc;
	walk->registers[UNWIND_SP] = sp;
	walk->registers[UNWIND_FP] = fp;
	walk->known = UNWIND_BIT(UNWIND_SP) | (walk->known & UNWIND_BIT(UNWIND_FP));
	walk->rbx_at = 0;
	walk->exact = 0;
	walk->by_chain = 0;
	walk->callee_owner = UNWIND_GENERATED;
	return pc < UNWIND_MIN_PC || pc >= UNWIND_MAX_USER ? java_fail(slot, WIRE_SCRIPT_NO_CALLER)
							   : WIRE_END_NONE;
}

/* As java_go(), where the caller's frame pointer was read. */
static __always_inline int java_go_saved(struct scratch *slot, __u64 pc, __u64 sp, __u64 fp)
{
	slot->walk.known |= UNWIND_BIT(UNWIND_FP);
	return java_go(slot, pc, sp, fp);
}

/* By the frame pointer, as of stubs that keep one. */
static __always_inline int java_go_by_fp(struct scratch *slot, __u32 number)
{
	__u64 fp = slot->walk.registers[UNWIND_FP], saved[2];

	if (!UNWIND_KNOWS(&slot->walk, UNWIND_FP) || fp < slot->walk.registers[UNWIND_SP] || fp & 7)
		return java_fail(slot, WIRE_SCRIPT_TORN);
	if (window_read(slot, number, saved, sizeof(saved), fp))
		return java_fail(slot, WIRE_SCRIPT_UNREADABLE);
	return java_go_saved(slot, saved[1], fp + 16, saved[0]);
}

#define JAVA_SEARCH 5 /* pairs of words that may be pushed around a call, plus 1 */

/* Bytes that are pushed right before a call that returns to `pc`, and popped behind it: 0 or 16. */
static __always_inline __u64 java_pushed_around(__u64 pc)
{
	__u64 code[2];

	if (bpf_probe_read_user(code, sizeof(code), (const void *)(pc - 8)))
		return 0;
	return (code[0] >> 24 & 0xff) == 0xe8 && (code[0] >> 8 & 0xf8f8) == 0x5050 &&
			       (code[1] & 0xf8f8) == 0x5858
		       ? 16
		       : 0;
}

/*
 * The caller of a compiled frame, `size` bytes of which are there, below words that were pushed for
 * a callee without a frame of its own. The caller's stack pointer is a multiple of 16. A global
 * function, which the verifier checks once.
 */
__noinline int java_search(__u32 number, __u64 size)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_JAVA, number);
	__u64 sp, saved[2];

	if (!slot)
		return WIRE_END_STALE;
	sp = slot->walk.registers[UNWIND_SP] + size;
	sp += (sp & 8) + java_pushed_around(slot->walk.pc);
	for (__u32 i = 0; i < JAVA_SEARCH; i++) {
		if (window_read(slot, number, saved, sizeof(saved), sp - 16))
			return java_fail(slot, WIRE_SCRIPT_UNREADABLE);
		if (java_returns(number, saved[1]))
			return java_go_saved(slot, saved[1], sp, saved[0]);
		sp += 16;
	}
	return java_fail(slot, WIRE_SCRIPT_NO_CALLER);
}

/* The caller of a frame at a call. */
static __always_inline int java_compiled(struct scratch *slot, __u32 number, bool by_java)
{
	struct java_walk *java = &slot->interp.java_walk;
	__u64 sp = slot->walk.registers[UNWIND_SP], size = java->blob.frame, saved[2], pc;

	if (size < 16)
		return java_fail(slot, WIRE_SCRIPT_TORN);
	/* Deoptimized: where it was is kept in its frame. */
	if (java->blob.original_pc) {
		if (window_read(slot, number, &pc, sizeof(pc), sp + (__u32)java->blob.original_pc))
			return java_fail(slot, WIRE_SCRIPT_UNREADABLE);
		java->pc = pc;
	}
	if (!by_java)
		return java_search(number, size);
	if (window_read(slot, number, saved, sizeof(saved), sp + size - 16))
		return java_fail(slot, WIRE_SCRIPT_UNREADABLE);
	return java_go_saved(slot, saved[1], sp + size, saved[0]);
}

#define JAVA_REGISTER_CODE 13 /* r13: the address of the next bytecode, of the interpreter */

/* An interpreted function whose frame is there. */
static __always_inline int java_interpreted(struct scratch *slot, __u32 number)
{
	struct java_walk *java = &slot->interp.java_walk;
	__u64 fp = slot->walk.registers[UNWIND_FP], method[2], sender[2], pc;

	if (!UNWIND_KNOWS(&slot->walk, UNWIND_FP) || fp < slot->walk.registers[UNWIND_SP] || fp & 7)
		return java_fail(slot, WIRE_SCRIPT_TORN);
	if (window_read(slot, number, method, sizeof(method), fp + JAVA_FRAME_METHOD) ||
	    window_read(slot, number, sender, sizeof(sender), fp + JAVA_FRAME_SENDER) ||
	    window_read(slot, number, &pc, sizeof(pc), fp + JAVA_FRAME_RETURN))
		return java_fail(slot, WIRE_SCRIPT_UNREADABLE);
	java->method = method[0];
	/* In the innermost frame a register has it, in most places. */
	if (java->exact)
		java->bytecode = slot->walk.registers[JAVA_REGISTER_CODE];
	else if (config_has(WIRE_LINES) &&
		 window_read(slot, number, &java->bytecode, sizeof(java->bytecode),
			     fp + JAVA_FRAME_CODE))
		return java_fail(slot, WIRE_SCRIPT_UNREADABLE);
	/* What links method handles takes its own argument, the last one, from below. */
	if (sender[0] < fp + 8)
		return java_fail(slot, WIRE_SCRIPT_TORN);
	return java_go_saved(slot, pc, sender[0], sender[1]);
}

/*
 * As java_interpreted(), of a function that has called a stub: those whose whole work a stub does
 * have no frame, but only the return address. A global function, which the verifier checks once.
 */
__noinline int java_entered_stub(__u32 number)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_JAVA, number);
	const struct java_walk *java;
	__u64 pc, sp, code;

	if (!slot)
		return WIRE_END_STALE;
	java = &slot->interp.java_walk;
	sp = slot->walk.registers[UNWIND_SP];
	if (slot->walk.pc - java->is.entry_low >= java->is.entry_high - java->is.entry_low)
		return java_interpreted(slot, number);
	/* add $8,%rsp, which was aligned for the call */
	if (read_word(&code, slot->walk.pc) && (code & 0xffffffff) == 0x08c48348)
		sp += 8;
	if (window_read(slot, number, &pc, sizeof(pc), sp))
		return java_fail(slot, WIRE_SCRIPT_UNREADABLE);
	/* Of a compiled caller the stack pointer would have to be known. */
	if (!java_is_interpreter(java, pc))
		return java_fail(slot, WIRE_SCRIPT_TORN);
	slot->interp.java_walk.kind = JAVA_ENTRY;
	return java_go(slot, pc, sp + 8, slot->walk.registers[UNWIND_FP]);
}

#endif
