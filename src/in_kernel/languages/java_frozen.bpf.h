/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Frames of virtual threads that are in the heap. A thread that has waited goes on with its
 * innermost frames only; the last of them returns to a barrier, and the others are still in chunks,
 * objects that a Continuation has, as they were on the stack, but for frame pointers: a word has
 * how far from it the frame is that it points to. Behind the last chunk, the walk continues on the
 * stack, with Continuation.enterSpecial.
 */
#ifndef STACKTALLY_LANGUAGES_JAVA_FROZEN_BPF_H
#define STACKTALLY_LANGUAGES_JAVA_FROZEN_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/hints.h"
#include "bpf/interpreter_wire.h"
#include "bpf/scratch.bpf.h"
#include "bpf/window.bpf.h"
#include "languages/interp_run.bpf.h"
#include "languages/java_blobs.bpf.h"
#include "languages/java_frames.bpf.h"

#define JAVA_EMPTY_CHUNKS 4	     /* in a row */
#define JAVA_CHUNK_WORDS  (1u << 20) /* of a chunk's frames, at most */
#define JAVA_ENTER_BYTES  160 /* of the code before the call of a virtual thread's function */

/* The address of an object that a member of another one has; 0: none, or it cannot be read. */
static __always_inline __u64 java_object(const struct java_walk *java, __u64 address)
{
	__u32 small = 0;
	__u64 object = 0;

	if (java->is.oop_size != sizeof(small))
		return read_word(&object, address) ? object : 0;
	if (bpf_probe_read_user(&small, sizeof(small), (const void *)address) || !small)
		return 0;
	return java->is.oop_base + ((__u64)small << (java->is.oop_shift & 31));
}

/* Whether `mov %rsi,N(%rsp)` is at a place of the copy: N, or -1. As java_prologue_step(). */
__noinline int java_stores_at(__u32 number, __u64 i)
{
	const struct scratch *slot = seldom_slot_of(LANGUAGE_JAVA, number);

	OPAQUE(i);
	if (!slot || i > JAVA_ENTER_BYTES - 5)
		return -1;
	return *(const __u32 *)&slot->interp.code[i] == 0x24748948 ? slot->interp.code[i + 4] & 0x7f
								   : -1;
}

/*
 * Where in the frame of enterSpecial, which calls the function of a virtual thread, the
 * Continuation is: its code stores it there. -1: not known. A global function, which the verifier
 * checks once.
 */
__noinline int java_entered_with(__u32 number, __u64 enter_return)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_JAVA, number);
	int at = -1;

	if (!slot || bpf_probe_read_user(slot->interp.code, JAVA_ENTER_BYTES,
					 (const void *)(enter_return - JAVA_ENTER_BYTES)))
		return -1;
	for (__u64 i = 5; i <= JAVA_ENTER_BYTES && at < 0; i++)
		at = java_stores_at(number, JAVA_ENTER_BYTES - i);
	return at;
}

#define JAVA_LOST (-2) /* in place of an enum wire_end: what should be a chunk is none */

/*
 * Goes to the first frame of a chunk, or of the next one if it is empty. JAVA_GO_ON: there is none;
 * or JAVA_LOST. A global function, which the verifier checks once.
 */
__noinline int java_enter_chunk(__u32 number, __u64 chunk)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_JAVA, number);
	struct java_walk *java;
	__u32 first = 0, bottom = 0;
	__u64 saved[2], sp;
	__s64 distance;

	if (!slot)
		return WIRE_END_STALE;
	java = &slot->interp.java_walk;
	for (__u32 i = 0; i < JAVA_EMPTY_CHUNKS && chunk; i++) {
		if (bpf_probe_read_user(&first, sizeof(first),
					(const void *)(chunk + java->is.chunk_sp)) ||
		    bpf_probe_read_user(&bottom, sizeof(bottom),
					(const void *)(chunk + java->is.chunk_bottom)))
			return JAVA_LOST;
		if (first != bottom)
			break;
		chunk = java_object(java, chunk + java->is.chunk_parent);
	}
	if (!chunk)
		return JAVA_GO_ON;
	sp = chunk + java->is.chunk_stack + first * 8ull;
	if (first >= bottom || bottom > JAVA_CHUNK_WORDS || sp & 7 ||
	    window_read(slot, number, saved, sizeof(saved), sp - 16) ||
	    saved[1] - java->is.low >= java->is.high - java->is.low)
		return JAVA_LOST;
	distance = saved[0];
	java->frozen.chunk = chunk;
	java->frozen.at = sp;
	java->frozen.end = chunk + java->is.chunk_stack + bottom * 8ull;
	slot->walk.registers[UNWIND_SP] = 0; /* a chunk may be anywhere */
	return java_go_saved(slot, saved[1], sp, sp - 16 + distance * 8);
}

/* From the heap back to the stack. */
static __always_inline int java_leave_heap(struct scratch *slot)
{
	struct java_frozen *frozen = &slot->interp.java_walk.frozen;

	frozen->chunk = 0;
	slot->walk.registers[UNWIND_SP] = 0;
	return java_go_saved(slot, frozen->pc, frozen->sp, frozen->fp);
}

/* As java_leave_heap(), where the frames that are left in the heap cannot be followed. */
static __always_inline int java_lose_frozen(struct scratch *slot)
{
	slot->interp.java_walk.reason = WIRE_SCRIPT_FROZEN;
	return java_leave_heap(slot);
}

#define JAVA_ENTRY_WORDS                                                                           \
	32 /* between the last frame on the stack and that of enterSpecial: arguments */

/*
 * Whether the frame of enterSpecial is at a place of the stack: it has the Continuation at
 * `offset`, whose chunk leads back to it. Returns the chunk; 0: it is not. A global function, which
 * the verifier checks once.
 */
__noinline __u64 java_chunk_at(__u32 number, __u64 entry, __u32 offset)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_JAVA, number);
	const struct java_walk *java;
	__u64 thread, chunk;

	if (!slot || window_read(slot, number, &thread, sizeof(thread), entry + offset) ||
	    !thread || thread & 7)
		return 0;
	java = &slot->interp.java_walk;
	chunk = java_object(java, thread + java->is.tail);
	return chunk && java_object(java, chunk + java->is.chunk_of) == thread ? chunk : 0;
}

/*
 * At the barrier: goes to the frames that are in the heap. JAVA_GO_ON: they cannot be followed. A
 * global function, which the verifier checks once.
 */
__noinline int java_thaw(__u32 number)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_JAVA, number);
	__u64 pc = 0, entry, chunk = 0, saved;
	struct java_walk *java;
	int offset;

	if (!slot)
		return WIRE_END_STALE;
	java = &slot->interp.java_walk;
	if (!java->is.chunk_stack || !read_word(&pc, java->is.enter_return) ||
	    java_find(number, pc) == JAVA_NONE || java->other.frame < 32)
		return JAVA_GO_ON;
	java->frozen.fp = java->other.frame - 16;
	offset = java_entered_with(number, pc);
	if (offset < 0)
		return JAVA_GO_ON;
	entry = slot->walk.registers[UNWIND_SP];
	for (__u32 i = 0; i < JAVA_ENTRY_WORDS && !chunk; i++, entry += 8)
		chunk = java_chunk_at(number, entry, offset);
	if (!chunk)
		return JAVA_GO_ON;
	entry -= 8;
	java->frozen.pc = pc;
	java->frozen.sp = entry;
	java->frozen.fp += entry;
	saved = slot->walk.registers[UNWIND_SP];
	if (java_enter_chunk(number, chunk)) {
		slot->walk.registers[UNWIND_SP] = saved;
		return JAVA_GO_ON;
	}
	java->kind = JAVA_TO_HEAP;
	return WIRE_END_NONE;
}

/*
 * From a frame in the heap, up to `at`, to its caller, whose frame pointer is so many words above
 * `saved_fp`, or below.
 */
static __always_inline int java_go_frozen(struct scratch *slot, __u32 number, __u64 pc, __u64 sp,
					  __u64 saved_fp, __s64 words, __u64 at)
{
	struct java_frozen *frozen = &slot->interp.java_walk.frozen;
	int end;

	if (at <= frozen->at || at > frozen->end + 16)
		return java_lose_frozen(slot);
	frozen->at = at;
	/* The last frame of a chunk has no return address; variables of its own may be behind it.
	 */
	if (pc && at < frozen->end) {
		if (pc - slot->interp.java_walk.is.low >=
		    slot->interp.java_walk.is.high - slot->interp.java_walk.is.low)
			return java_lose_frozen(slot);
		slot->walk.registers[UNWIND_SP] = 0;
		return java_go_saved(slot, pc, sp, saved_fp + words * 8);
	}
	end = java_enter_chunk(number,
			       java_object(&slot->interp.java_walk,
					   frozen->chunk + slot->interp.java_walk.is.chunk_parent));
	return end == JAVA_GO_ON  ? java_leave_heap(slot)
	       : end == JAVA_LOST ? java_lose_frozen(slot)
				  : end;
}

/* An interpreted function's frame in the heap. */
static __always_inline int java_frozen_interpreted(struct scratch *slot, __u32 number)
{
	struct java_walk *java = &slot->interp.java_walk;
	__u64 fp = slot->walk.registers[UNWIND_FP], method, sender[2], pc;

	java->kind = JAVA_INTERPRETED;
	if (fp & 7 || fp <= java->frozen.at || fp >= java->frozen.end)
		return java_lose_frozen(slot);
	if (window_read(slot, number, &method, sizeof(method), fp + JAVA_FRAME_METHOD) ||
	    window_read(slot, number, sender, sizeof(sender), fp + JAVA_FRAME_SENDER) ||
	    window_read(slot, number, &pc, sizeof(pc), fp + JAVA_FRAME_RETURN) ||
	    window_read(slot, number, &java->bytecode, sizeof(java->bytecode),
			fp + JAVA_FRAME_CODE))
		return java_lose_frozen(slot);
	java->method = method;
	return java_go_frozen(slot, number, pc, fp + sender[0] * 8, fp, sender[1], fp + 16);
}

/*
 * Takes the slot's walk to the caller of a frame in the heap. A global function, which the verifier
 * checks once.
 */
__noinline int java_step_frozen(__u32 number)
{
	struct scratch *slot = slot_of(LANGUAGE_JAVA, number);
	struct java_walk *java;
	__u64 sp, saved[2], pc;

	if (!slot)
		return WIRE_END_STALE;
	java = &slot->interp.java_walk;
	sp = slot->walk.registers[UNWIND_SP];
	pc = slot->walk.pc;
	java->pc = pc;
	java->exact = 0;
	java->method = 0;
	java->bytecode = JAVA_NO_BYTECODE;
	java->reason = WIRE_SCRIPT_KNOWN;
	if (java_is_interpreter(java, pc))
		return java_frozen_interpreted(slot, number);
	java->kind = java_find(number, pc);
	java->blob = java->other;
	if (java->kind == JAVA_NONE)
		return java_lose_frozen(slot);
	java->method = java->blob.method;
	if (java->blob.frame < 16)
		return java_lose_frozen(slot);
	if (pc != java->blob.deopt && pc != java->blob.deopt_handle)
		java->blob.original_pc = 0;
	/* Deoptimized: where it was is kept in its frame. */
	if (java->blob.original_pc) {
		if (window_read(slot, number, &pc, sizeof(pc), sp + (__u32)java->blob.original_pc))
			return java_lose_frozen(slot);
		java->pc = pc;
	}
	sp += java->blob.frame;
	if (window_read(slot, number, saved, sizeof(saved), sp - 16))
		return java_lose_frozen(slot);
	return java_go_frozen(slot, number, saved[1], sp, sp - 16, saved[0], sp);
}

#endif
