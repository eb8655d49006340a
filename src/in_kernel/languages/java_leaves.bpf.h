/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The caller of the innermost frame, if that is of compiled code: it may be anywhere between a
 * method's first instruction and its last. What was pushed or popped is told by the instructions
 * there, and a return address must be one. What cannot be told ends the walk, with a reason.
 */
#ifndef STACKTALLY_LANGUAGES_JAVA_LEAVES_BPF_H
#define STACKTALLY_LANGUAGES_JAVA_LEAVES_BPF_H

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

enum java_state {
	JAVA_POPPED, /* its return address is at the stack pointer */
	JAVA_SAVED,  /* and the caller's frame pointer below it */
	JAVA_NO_FP,  /* the frame is there, but the register is still the caller's */
	JAVA_WHOLE,
};

/* cmp N(%r15),%rsp: a method returns, and looks whether it is to wait first. */
static __always_inline bool java_is_poll(__u64 code)
{
	return (code & 0xffffff) == 0x673b49 || (code & 0xffffff) == 0xa73b49;
}

/* Whether the last instructions of a method follow a `pop %rbp`. */
static __always_inline bool java_is_left(__u64 code)
{
	return (code & 0xff) == 0xc3 || java_is_poll(code) || (code & 0xff) == 0xe9 ||
	       (code & 0xffff) == 0xe0ff || (code & 0xffffff) == 0x77f8c5;
}

/*
 * What the instructions around the next one tell: `around` are the 8 bytes before it, and the 24
 * from it on.
 */
static __always_inline enum java_state java_leaving(const __u64 around[4])
{
	__u64 before = around[0], code = around[1], more = around[2];
	bool popped = before >> 56 == 0x5d;
	__u64 after = (code & 0xffffff) == 0x673b49 ? code >> 32 : code >> 56 | (more & 0xff) << 8;

	if ((code & 0xff) == 0xc3)
		return JAVA_POPPED;
	if ((code & 0xff) == 0x5d && java_is_left(code >> 8))
		return JAVA_SAVED;
	if (java_is_poll(code) && ((after & 0xffff) == 0x870f || (after & 0xffff) == 0x820f))
		return JAVA_POPPED;
	if ((code & 0xffff) == 0x870f && (code >> 48 & 0xff) == 0xc3)
		return JAVA_POPPED;
	if (popped && java_is_left(code))
		return JAVA_POPPED;
	/* lea N(%rip),%r10; mov %r10,N(%r15); jmp: it waits now. */
	if ((code & 0xffffff) == 0x158d4c && (code >> 56 | (more & 0xffff) << 8) == 0x97894d &&
	    more >> 48 == 0xe9)
		return JAVA_POPPED;
	/* As before, by mov $N,%r10. */
	if ((code & 0xffff) == 0xba49 && (more >> 16 & 0xffffff) == 0x97894d &&
	    (around[3] >> 8 & 0xff) == 0xe9)
		return JAVA_POPPED;
	if ((code & 0xffffff) == 0x97894d && code >> 56 == 0xe9)
		return JAVA_POPPED;
	if ((code & 0xff) == 0xe9 && (before >> 8 & 0xffffff) == 0x97894d)
		return JAVA_POPPED;
	return JAVA_WHOLE;
}

/*
 * As java_leaving(), of the wrapper of a native method: leave; a poll, which may wait as methods
 * do; cmp $0,N(%r15); jne; ret; jmp.
 */
static __always_inline bool java_leaves_wrapper(__u64 before, __u64 code, __u64 more)
{
	bool checks = (code & 0xfffdff) == 0x7f8149, polls = (code & 0xffffff) == 0x47f641;

	if (before >> 56 == 0xc9 && (checks || polls || java_is_poll(code)))
		return true;
	/* jne or je, behind the poll */
	if ((code & 0xfe) == 0x74 && (before >> 24 & 0xffffff) == 0x47f641)
		return true;
	if (checks && (more >> 24 & 0xff) == 0xc3)
		return true;
	if ((code & 0xffff) == 0x850f && (code >> 48 & 0xff) == 0xc3)
		return true;
	return (code & 0xff) == 0xe9 && before >> 56 == 0xc3;
}

/*
 * Where a call in compiled code goes that leads on to the interpreter, if that may be here:
 * mov $N,%rbx; jmp. 0: it is not.
 */
static __always_inline __u64 java_leads_on(__u64 pc, __u64 code)
{
	return (code & 0xffff) == 0xbb48 ? pc : (code & 0xff) == 0xe9 ? pc - 10 : 0;
}

/* Bytes of an instruction that does nothing; 0: it is none. */
static __always_inline __u32 java_nop(__u64 code)
{
	__u8 mode = code >> 16, far = code >> 24;

	if ((code & 0xff) == 0x90)
		return 1;
	if ((code & 0xffff) == 0x9066)
		return 2;
	if ((code & 0xffff) == 0x1f0f)
		return mode == 0x84   ? 8
		       : mode == 0x80 ? 7
		       : mode == 0x44 ? 5
		       : mode == 0x40 ? 4
				      : 3;
	if ((code & 0xffffff) == 0x1f0f66)
		return far == 0x84 ? 9 : 6;
	return (code & 0xffffff) == 0x906666 ? 3 : (code & 0xffffffff) == 0x90666666 ? 4 : 0;
}

/* Bytes of an instruction of a prologue, and what it does to the state; 0: it is none. */
static __always_inline __u32 java_prologue(__u64 code, enum java_state *state)
{
	if ((code & 0xffffff) == 0x248489) /* mov %eax,-N(%rsp) */
		return 7;
	if ((code & 0xff) == 0x55) { /* push %rbp */
		*state = JAVA_SAVED;
		return 1;
	}
	if ((code & 0xffffff) == 0xec8b48 || (code & 0xffffff) == 0xe58948) /* mov %rsp,%rbp */
		return 3;
	if ((code & 0xffffff) == 0xec8348 || (code & 0xffffff) == 0xec8148) { /* sub $N,%rsp */
		*state = *state == JAVA_SAVED ? JAVA_WHOLE : JAVA_NO_FP;
		return (code & 0xff00) == 0x8300 ? 4 : 7;
	}
	if ((code & 0xffffffff) == 0x246c8948 || (code & 0xffffffff) == 0x24ac8948) {
		*state = JAVA_WHOLE; /* mov %rbp,N(%rsp) */
		return (code & 0xff0000) == 0x6c0000 ? 5 : 8;
	}
	return java_nop(code);
}

#define JAVA_PROLOGUE	    12 /* instructions */
#define JAVA_PROLOGUE_BYTES 64
#define JAVA_STATE_SHIFT    8 /* of java_prologue_step() */

/*
 * Takes an instruction of a prologue, in a state: its bytes, and the state behind it, shifted. 0:
 * it is none. A global function: the verifier goes through it once, and not for each of them.
 */
__noinline __u32 java_prologue_step(__u64 at, __u32 before)
{
	enum java_state state = before;
	__u64 code;
	__u32 size;

	if (!read_word(&code, at))
		return 0;
	size = java_prologue(code, &state);
	return size ? size | (__u32)state << JAVA_STATE_SHIFT : 0;
}

/*
 * What the instructions from `entry` up to `pc` have done. A global function, which the verifier
 * checks once.
 */
__noinline int java_entering(__u64 entry, __u64 pc)
{
	__u32 state = JAVA_POPPED;

	for (__u32 i = 0; i < JAVA_PROLOGUE && entry < pc && state != JAVA_WHOLE; i++) {
		__u32 taken = java_prologue_step(entry, state);

		if (!taken)
			return JAVA_WHOLE;
		entry += taken & ((1u << JAVA_STATE_SHIFT) - 1);
		state = taken >> JAVA_STATE_SHIFT;
	}
	return state;
}

#define JAVA_WRAPPER_BYTES 128

/* Whether `push %rbp; mov %rsp,%rbp` is at a place of the copy. As java_prologue_step(). */
__noinline int java_frame_at(__u32 number, __u64 i)
{
	const struct scratch *slot = seldom_slot_of(LANGUAGE_JAVA, number);

	OPAQUE(i);
	if (!slot || i > JAVA_WRAPPER_BYTES - sizeof(__u32))
		return 0;
	return *(const __u32 *)&slot->interp.code[i] == 0xec8b4855;
}

/*
 * As java_entering(), of a wrapper, `into` bytes of which are over: some have a short way out
 * before their `push %rbp; mov %rsp,%rbp; sub $N,%rsp`.
 */
static __always_inline enum java_state java_wrapper_entering(struct scratch *slot, __u32 number,
							     __u64 into)
{
	__u64 i = 0;

	if (into >= JAVA_WRAPPER_BYTES ||
	    bpf_probe_read_user(slot->interp.code, JAVA_WRAPPER_BYTES,
				(const void *)slot->interp.java_walk.blob.entry))
		return JAVA_WHOLE;
	while (i < JAVA_WRAPPER_BYTES - 4 && !java_frame_at(number, i))
		i++;
	if (i == JAVA_WRAPPER_BYTES - 4)
		return JAVA_WHOLE;
	return into <= i ? JAVA_POPPED : into <= i + 4 ? JAVA_SAVED : JAVA_WHOLE;
}

/*
 * Whether a frame at `sp`, in code that `pc` returns to and with frame pointer `fp`, has a caller
 * of its own. A global function, which the verifier checks once.
 */
__noinline int java_fits(__u32 number, __u64 pc, __u64 sp, __u64 fp)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_JAVA, number);
	const struct java_walk *java;
	__u64 at = fp + JAVA_FRAME_RETURN, caller;

	if (!slot)
		return 0;
	java = &slot->interp.java_walk;
	if (java_is_interpreter(java, pc)) {
		if (fp < sp || fp & 7)
			return 0;
	} else if (pc == java->is.call_stub_return) {
		return fp >= sp && !(fp & 7);
	} else {
		if (java_find(number, pc) == JAVA_NONE || java->other.frame < 16)
			return 0;
		at = sp + java->other.frame - 8;
	}
	return !window_read(slot, number, &caller, sizeof(caller), at) &&
	       java_returns(number, caller);
}

/*
 * Looks at the two words below `sp`. 1: the second is certain to be the return address of what was
 * interrupted; else it may be noted as a candidate: one that fits, before those that do not. A
 * global function, which the verifier checks once.
 */
__noinline int java_consider(__u32 number, __u64 sp)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_JAVA, number);
	struct java_candidates *found;
	struct java_walk *java;
	__u64 saved[2];
	int returns;

	if (!slot || window_read(slot, number, saved, sizeof(saved), sp - 16))
		return 0;
	returns = java_returns(number, saved[1]);
	if (!returns)
		return 0;
	java = &slot->interp.java_walk;
	found = &java->found;
	/* An adapter moves the return address of the interpreter, and leaves the old one above. */
	if (found->n && saved[1] == found->pc)
		return 0;
	/* It called another method. */
	if (found->first_fits && returns != JAVA_RETURN_HERE && java->target &&
	    java_find(number, java->target) == JAVA_COMPILED)
		return 0;
	found->n++;
	if (returns == JAVA_RETURN_HERE) {
		found->fitting = 1;
	} else if (java_fits(number, saved[1], sp, saved[0])) {
		found->fitting++;
		/* Those behind it only count, if it is the first word. */
		if (found->fitting > 1 && found->first_fits)
			return 0;
		found->first_fits = sp == found->first;
	} else if (found->n > 1) {
		return 0;
	}
	found->sp = sp;
	found->fp = saved[0];
	found->pc = saved[1];
	return returns == JAVA_RETURN_HERE;
}

/* Looks at `most` words from `sp` on, `step` bytes apart. */
static __always_inline const struct java_candidates *java_look(struct scratch *slot, __u32 number,
							       __u64 sp, __u32 most, __u64 step)
{
	struct java_candidates *found = &slot->interp.java_walk.found;

	*found = (struct java_candidates){ .first = sp };
	for (__u32 i = 0; i < most; i++) {
		if (java_consider(number, sp))
			break;
		sp += step;
	}
	return found;
}

#define JAVA_PUSHED 3 /* pairs of words that the code of a method pushes, plus 1 */

#define JAVA_CODE_BEFORE 64 /* bytes */

#define JAVA_AROUND_CALL 9 /* bytes of: push; push; call; pop; pop */

/* Whether two words are pushed at a place of the copy, not around a call. As java_prologue_step().
 */
__noinline int java_pushes_at(__u32 number, __u64 i)
{
	const struct scratch *slot = seldom_slot_of(LANGUAGE_JAVA, number);
	const __u8 *code;

	OPAQUE(i);
	if (!slot || i >= JAVA_CODE_BEFORE - 1)
		return 0;
	code = &slot->interp.code[i];
	if ((code[0] & 0xf8) != 0x50 || (code[1] & 0xf8) != 0x50)
		return 0;
	return i + JAVA_AROUND_CALL > JAVA_CODE_BEFORE || code[2] != 0xe8 ||
	       (code[7] & 0xf8) != 0x58 || (code[8] & 0xf8) != 0x58;
}

/*
 * Whether words may have been pushed by the instructions before the one that was interrupted: two
 * at once, as one alone would show in the stack pointer. Those around a call are gone behind it.
 */
static __always_inline bool java_may_have_pushed(struct scratch *slot, __u32 number)
{
	int pushes = 0;

	if (bpf_probe_read_user(slot->interp.code, JAVA_CODE_BEFORE,
				(const void *)(slot->walk.pc - JAVA_CODE_BEFORE)))
		return true;
	for (__u64 i = 0; i + 1 < JAVA_CODE_BEFORE && !pushes; i++)
		pushes = java_pushes_at(number, i);
	return pushes;
}

/* Bytes that are pushed around a call, before it or behind it: push; push; call; pop; pop. */
static __always_inline __u64 java_pushed_here(__u64 pc)
{
	__u64 code[2];

	if (bpf_probe_read_user(code, sizeof(code), (const void *)(pc - 8)))
		return 0;
	if ((code[1] & 0xff) == 0xe8 && (code[0] >> 48 & 0xf8f8) == 0x5050 &&
	    (code[1] >> 40 & 0xf8f8) == 0x5858)
		return 16;
	return java_pushed_around(pc);
}

/*
 * The caller of an interrupted method whose frame is there. Frames of methods begin at multiples of
 * 16, so the stack pointer tells whether an odd number of words was pushed. A stack has old return
 * addresses where nothing was written since: one that is that of a call of this method is taken
 * before others, then the only one whose caller has a caller; of several none. A global function,
 * which the verifier checks once.
 */
__noinline int java_whole(__u32 number)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_JAVA, number);
	const struct java_candidates *found;
	__u64 sp, pushed, saved[2];

	if (!slot)
		return WIRE_END_STALE;
	sp = slot->walk.registers[UNWIND_SP];
	pushed = java_pushed_here(slot->walk.pc);
	if (pushed) {
		sp += pushed + slot->interp.java_walk.blob.frame;
		return window_read(slot, number, saved, sizeof(saved), sp - 16) ||
				       !java_returns(number, saved[1])
			       ? java_fail(slot, WIRE_SCRIPT_TORN)
			       : java_go_saved(slot, saved[1], sp, saved[0]);
	}
	found = java_look(slot, number, sp + slot->interp.java_walk.blob.frame + (sp & 8),
			  JAVA_PUSHED, 16);
	if (!found->n)
		return java_fail(slot, WIRE_SCRIPT_NO_CALLER);
	if (found->n > 1 && found->fitting != 1 &&
	    !(found->first_fits && !(sp & 8) && !java_may_have_pushed(slot, number)))
		return java_fail(slot, WIRE_SCRIPT_TORN);
	return java_go_saved(slot, found->pc, found->sp, found->fp);
}

/*
 * The caller of an interrupted method, unless its frame is there: then JAVA_GO_ON. A global
 * function, which the verifier checks once.
 */
__noinline int java_leaf(__u32 number)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_JAVA, number);
	const struct java_blob *blob;
	__u64 code[4], sp, fp, pc, saved[2];
	struct java_walk *java;
	int state;

	if (!slot)
		return WIRE_END_STALE;
	java = &slot->interp.java_walk;
	blob = &java->blob;
	pc = slot->walk.pc;
	sp = slot->walk.registers[UNWIND_SP];
	fp = slot->walk.registers[UNWIND_FP];
	if (bpf_probe_read_user(code, sizeof(code), (const void *)(pc - 8)))
		return java_fail(slot, WIRE_SCRIPT_UNREADABLE);
	if (blob->frame < 16 || pc < blob->entry)
		state = JAVA_POPPED;
	else
		state = java_leaving(code);
	if (blob->kind == JAVA_WRAPPER && java_leaves_wrapper(code[0], code[1], code[2]))
		state = JAVA_POPPED;
	if (state == JAVA_WHOLE && java_leads_on(pc, code[1]) &&
	    !window_read(slot, number, saved, sizeof(saved[0]), sp) &&
	    java_returns(number, saved[0]) && java->target == java_leads_on(pc, code[1]))
		state = JAVA_POPPED;
	if (state == JAVA_WHOLE && blob->kind == JAVA_WRAPPER)
		state = java_wrapper_entering(slot, number, pc - blob->entry);
	else if (state == JAVA_WHOLE && pc - blob->entry < JAVA_PROLOGUE_BYTES)
		state = java_entering(blob->entry, pc);
	if (state == JAVA_WHOLE)
		return JAVA_GO_ON;
	if (state == JAVA_NO_FP)
		sp += blob->frame - 16;
	if (state == JAVA_POPPED)
		sp -= 8;
	if (window_read(slot, number, saved, sizeof(saved), sp))
		return java_fail(slot, WIRE_SCRIPT_UNREADABLE);
	if (!java_returns(number, saved[1]))
		return java_fail(slot, WIRE_SCRIPT_TORN);
	return state == JAVA_SAVED ? java_go_saved(slot, saved[1], sp + 16, saved[0])
				   : java_go(slot, saved[1], sp + 16, fp);
}

#endif
