/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The caller of a frame of a stub: of code that HotSpot has generated and that is no method. Some
 * keep frame pointers, some have a frame of a known size, some none.
 */
#ifndef STACKTALLY_LANGUAGES_JAVA_STUBS_BPF_H
#define STACKTALLY_LANGUAGES_JAVA_STUBS_BPF_H

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
#include "languages/java_leaves.bpf.h"

#define JAVA_STUB_WORDS 16 /* that stubs push */

/* Whether the frame pointer is that of a frame here, with a return address. */
static __always_inline bool java_has_frame(struct scratch *slot, __u32 number)
{
	__u64 sp = slot->walk.registers[UNWIND_SP], fp = slot->walk.registers[UNWIND_FP], pc;

	return UNWIND_KNOWS(&slot->walk, UNWIND_FP) && fp - sp < 4096 && !(fp & 7) &&
	       !window_read(slot, number, &pc, sizeof(pc), fp + 8) && java_returns(number, pc);
}

/*
 * The caller of a stub that was interrupted, if one of the words that it has pushed is the return
 * address of a call of it; else JAVA_GO_ON. A global function, which the verifier checks once.
 */
__noinline int java_called_stub(__u32 number)
{
	struct scratch *slot = slot_of(LANGUAGE_JAVA, number);
	__u64 at, saved[2];

	if (!slot)
		return WIRE_END_STALE;
	at = slot->walk.registers[UNWIND_SP];
	for (__u32 i = 0; i < JAVA_STUB_WORDS; i++, at += 8) {
		__u64 fp = slot->walk.registers[UNWIND_FP];

		if (window_read(slot, number, saved, sizeof(saved), at - 8))
			break;
		if (java_returns(number, saved[1]) != JAVA_RETURN_HERE)
			continue;
		/* It has set its frame pointer. */
		if (i > 0 && fp == at - 8)
			return java_go_saved(slot, saved[1], at + 8, saved[0]);
		return java_go(slot, saved[1], at + 8, fp);
	}
	return JAVA_GO_ON;
}

/* The word that may be the return address of a stub without a frame pointer. */
static __always_inline int java_stub_words(struct scratch *slot, __u32 number)
{
	const struct java_candidates *found =
		java_look(slot, number, slot->walk.registers[UNWIND_SP] + 8, JAVA_STUB_WORDS, 8);

	if (!found->n || (found->n > 1 && found->fitting != 1))
		return java_fail(slot, WIRE_SCRIPT_TORN);
	return java_go(slot, found->pc, found->sp, slot->walk.registers[UNWIND_FP]);
}

/* By a frame of a known size, the frame pointer, or without a frame. */
static __always_inline int java_stub_frame(struct scratch *slot, __u32 number)
{
	const struct java_blob *blob = &slot->interp.java_walk.blob;
	__u64 sp = slot->walk.registers[UNWIND_SP], saved[2], top, bytes;

	if (window_read(slot, number, &top, sizeof(top), sp))
		return java_fail(slot, WIRE_SCRIPT_UNREADABLE);
	if (blob->frame >= 16 && !java_returns(number, top) &&
	    !window_read(slot, number, saved, sizeof(saved), sp + blob->frame - 16) &&
	    java_returns(number, saved[1]))
		return java_go_saved(slot, saved[1], sp + blob->frame, saved[0]);
	if ((blob->kind == JAVA_STUBS || blob->kind == JAVA_CONTINUATION) &&
	    !java_returns(number, top) && java_has_frame(slot, number))
		return java_go_by_fp(slot, number);
	/* Native code calls some, which have no frames. */
	if (blob->kind == JAVA_RUNTIME && !blob->frame && !java_returns(number, top) &&
	    read_word(&bytes, top - 8) && java_is_call(bytes))
		return java_go(slot, top, sp + 8, slot->walk.registers[UNWIND_FP]);
	return java_stub_words(slot, number);
}

/* The caller of a stub that was interrupted. A global function, which the verifier checks once. */
__noinline int java_stub_leaf(__u32 number)
{
	struct scratch *slot = slot_of(LANGUAGE_JAVA, number);
	const struct java_blob *blob;
	__u64 sp, fp, code, words[2], top;

	if (!slot)
		return WIRE_END_STALE;
	blob = &slot->interp.java_walk.blob;
	sp = slot->walk.registers[UNWIND_SP];
	fp = slot->walk.registers[UNWIND_FP];
	if (!read_word(&code, slot->walk.pc) || window_read(slot, number, words, sizeof(words), sp))
		return java_fail(slot, WIRE_SCRIPT_UNREADABLE);
	top = words[0];
	/* ret, push %rbp, the first instruction, or without a frame */
	if (((code & 0xff) == 0xc3 || (code & 0xff) == 0x55 || slot->walk.pc == blob->code ||
	     blob->kind == JAVA_VTABLE || blob->kind == JAVA_ADAPTER) &&
	    java_returns(number, top))
		return java_go(slot, top, sp + 8, fp);
	/* mov %rsp,%rbp */
	if (((code & 0xffffff) == 0xec8b48 || (code & 0xffffff) == 0xe58948) && words[0] == fp &&
	    java_returns(number, words[1]))
		return java_go(slot, words[1], sp + 16, fp);
	/* An adapter has it in a register while it makes room for arguments. */
	if (blob->kind == JAVA_ADAPTER && java_returns(number, slot->walk.registers[UNWIND_RESULT]))
		return java_go(slot, slot->walk.registers[UNWIND_RESULT], sp, fp);
	return java_stub_frame(slot, number);
}

/* By its frame pointer. Some push a word before they have one. */
static __always_inline int java_stub_by_fp(struct scratch *slot, __u32 number)
{
	__u64 fp = slot->walk.registers[UNWIND_FP], saved[2];

	if (UNWIND_KNOWS(&slot->walk, UNWIND_FP) && fp >= slot->walk.registers[UNWIND_SP] &&
	    !window_read(slot, number, saved, sizeof(saved), fp + 8) &&
	    !java_returns(number, saved[0]) && java_returns(number, saved[1])) {
		__u64 pc = saved[1];

		if (window_read(slot, number, saved, sizeof(saved), fp))
			return java_fail(slot, WIRE_SCRIPT_UNREADABLE);
		return java_go_saved(slot, pc, fp + 24, saved[0]);
	}
	return java_go_by_fp(slot, number);
}

static __always_inline int java_stub(struct scratch *slot, __u32 number)
{
	const struct java_blob *blob = &slot->interp.java_walk.blob;
	__u64 sp = slot->walk.registers[UNWIND_SP] + blob->frame, saved[2], bytes;

	if (slot->walk.exact) {
		int end = java_called_stub(number);

		return end == JAVA_GO_ON ? java_stub_leaf(number) : end;
	}
	/* The frames between are in the heap; the frame pointer is that of the first one below. */
	if (blob->kind == JAVA_CONTINUATION && read_word(&bytes, slot->walk.pc - 8) &&
	    !java_is_call(bytes)) {
		slot->interp.java_walk.kind = JAVA_BARRIER;
		return java_go_by_fp(slot, number);
	}
	/* Native code has called it. */
	if (blob->kind == JAVA_ENTRY && blob->frame >= 16)
		return window_read(slot, number, saved, sizeof(saved), sp - 16)
			       ? java_fail(slot, WIRE_SCRIPT_UNREADABLE)
			       : java_go_saved(slot, saved[1], sp, saved[0]);
	if (blob->frame >= 16)
		return java_search(number, blob->frame);
	return java_stub_by_fp(slot, number);
}

#endif
