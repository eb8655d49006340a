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
#include "languages/java_frozen.bpf.h"
#include "languages/java_interpreted.bpf.h"
#include "languages/java_leaves.bpf.h"

#define JAVA_STUB_WORDS 16   /* that stubs push */
#define JAVA_MOST_FRAME 8192 /* bytes of a stub's frame */

/* Whether the frame pointer is that of a frame here, with a return address. */
static __always_inline bool java_has_frame(struct scratch *slot, __u32 number)
{
	__u64 sp = slot->walk.registers[UNWIND_SP], fp = slot->walk.registers[UNWIND_FP], pc;

	return UNWIND_KNOWS(&slot->walk, UNWIND_FP) && fp - sp < 4096 && !(fp & 7) &&
	       !window_read(slot, number, &pc, sizeof(pc), fp + 8) && java_returns(number, pc);
}

/* Bytes of mov between a register and another, or a word at the stack pointer; 0: it is none. */
static __always_inline __u32 java_move(__u64 code)
{
	__u8 mode = code >> 16;

	if ((code & 0xf0) != 0x40 || (code >> 8 & 0xfd) != 0x89)
		return 0;
	/* Not to rsp, which changes it. */
	if (mode >= 0xc0)
		return (code >> 8 & 0xff) == 0x8b ? (mode & 0x38) != 0x20 ? 3 : 0
		       : (mode & 7) != 4	  ? 3
						  : 0;
	if ((code >> 24 & 0xff) != 0x24)
		return 0;
	return (mode & 0xc7) == 0x04 ? 4 : (mode & 0xc7) == 0x44 ? 5 : 0;
}

#define JAVA_TAIL 24 /* instructions */

enum java_tail {
	JAVA_TAIL_ENDS, /* another instruction follows, or it cannot be read */
	JAVA_TAIL_GOES_ON,
	JAVA_TAIL_RETURNS,
};

/* Where a stub takes its frame pointer from the stack. */
static __always_inline enum java_tail java_tail_takes_fp(struct scratch *slot, __u32 number,
							 __u64 at)
{
	struct java_steps *steps = &slot->interp.java_walk.steps;

	return window_read(slot, number, &steps->fp, sizeof(steps->fp), at) ? JAVA_TAIL_ENDS
									    : JAVA_TAIL_GOES_ON;
}

/*
 * Takes one of the last instructions of a stub, an enum java_tail. A global function: the verifier
 * goes through it once, and not for each of them.
 */
__noinline int java_tail_step(__u32 number)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_JAVA, number);
	struct java_steps *steps;
	__u64 code, at;

	if (!slot)
		return JAVA_TAIL_ENDS;
	steps = &slot->interp.java_walk.steps;
	if (!read_word(&code, steps->at))
		return JAVA_TAIL_ENDS;
	if ((code & 0xff) == 0xc3 || (code & 0xffff) == 0xe0ff)
		return JAVA_TAIL_RETURNS;
	steps->at++;
	if ((code & 0xff) == 0xc9) /* leave */
		steps->sp = steps->fp;
	if ((code & 0xff) == 0xc9 || (code & 0xff) == 0x5d) { /* pop %rbp */
		at = steps->sp;
		steps->sp = at + 8;
		return java_tail_takes_fp(slot, number, at);
	}
	if ((code & 0xffffffff) == 0x246c8b48) { /* mov N(%rsp),%rbp */
		steps->at += 4;
		return java_tail_takes_fp(slot, number, steps->sp + (code >> 32 & 0x7f));
	}
	if ((code >> 8 & 0xff) == 0x8b && (code >> 24 & 0xff) == 0x24 &&
	    java_move(code)) { /* mov N(%rsp),REGISTER */
		steps->at += java_move(code) - 1;
	} else if ((code & 0xff) == 0x9d || /* popf; pop of any but rax and rsp */
		   ((code & 0xf8) == 0x58 && (code & 0xff) != 0x58 && (code & 0xff) != 0x5c)) {
		steps->sp += 8;
	} else if ((code & 0xf8ff) == 0x5841) {
		steps->sp += 8;
		steps->at++;
	} else if ((code & 0xffffff) == 0xc48348) { /* add $N,%rsp */
		steps->sp += code >> 24 & 0x7f;
		steps->at += 3;
	} else if ((code & 0xffffff) == 0xc48148) {
		steps->sp += code >> 24 & 0x7fffffff;
		steps->at += 6;
	} else if ((code & 0xffffff) == 0x77f8c5) { /* vzeroupper */
		steps->at += 2;
	} else {
		return JAVA_TAIL_ENDS;
	}
	return JAVA_TAIL_GOES_ON;
}

/*
 * The caller of a stub that was interrupted in its last instructions, which take words from the
 * stack and return, or jump to rax: what these will take is known. JAVA_GO_ON: others follow. A
 * global function, which the verifier checks once.
 */
__noinline int java_tail(__u32 number)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_JAVA, number);
	struct java_steps *steps;
	int taken = JAVA_TAIL_GOES_ON;
	__u64 top;

	if (!slot)
		return WIRE_END_STALE;
	steps = &slot->interp.java_walk.steps;
	steps->at = slot->walk.pc;
	steps->sp = slot->walk.registers[UNWIND_SP];
	steps->fp = slot->walk.registers[UNWIND_FP];
	for (__u32 i = 0; i < JAVA_TAIL && taken == JAVA_TAIL_GOES_ON; i++)
		taken = java_tail_step(number);
	if (taken != JAVA_TAIL_RETURNS || window_read(slot, number, &top, sizeof(top), steps->sp) ||
	    !java_returns(number, top))
		return JAVA_GO_ON;
	return java_go(slot, top, steps->sp + 8, steps->fp);
}

#define JAVA_HEAD	28 /* instructions */
#define JAVA_HEAD_BYTES 160

/* Takes one of the first instructions of a stub; 0: it is another one. As java_tail_step(). */
__noinline int java_head_step(__u32 number)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_JAVA, number);
	struct java_steps *steps;
	__u32 size;
	__u64 code;

	if (!slot)
		return 0;
	steps = &slot->interp.java_walk.steps;
	if (!read_word(&code, steps->at))
		return 0;
	size = java_move(code);
	if ((code & 0xf8) == 0x50) {
		steps->sp += 8;
		if ((code & 0xff) == 0x55)
			steps->fp = steps->sp;
		size = 1;
	} else if ((code & 0xff) == 0x9c) { /* pushf */
		steps->sp += 8;
		size = 1;
	} else if ((code & 0xf8ff) == 0x5041) {
		steps->sp += 8;
		size = 2;
	} else if ((code & 0xffffff) == 0xec8348) { /* sub $N,%rsp */
		steps->sp += code >> 24 & 0x7f;
		size = 4;
	} else if ((code & 0xffffff) == 0xec8148) {
		steps->sp += code >> 24 & 0x7fffffff;
		size = 7;
	}
	steps->at += size;
	return size != 0;
}

/*
 * The caller of a stub that was interrupted in its first instructions, which push words and make
 * room: how many is known. JAVA_GO_ON: others come before. A global function, which the verifier
 * checks once.
 */
__noinline int java_head(__u32 number)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_JAVA, number);
	__u64 top, sp, words[2];
	struct java_steps *steps;

	if (!slot)
		return WIRE_END_STALE;
	steps = &slot->interp.java_walk.steps;
	sp = slot->walk.registers[UNWIND_SP];
	steps->at = slot->interp.java_walk.blob.code;
	steps->sp = sp; /* the top of what they have pushed */
	steps->fp = 0;
	if (slot->walk.pc - steps->at >= JAVA_HEAD_BYTES)
		return JAVA_GO_ON;
	for (__u32 i = 0; i < JAVA_HEAD && steps->at < slot->walk.pc; i++) {
		if (!java_head_step(number))
			break;
	}
	top = steps->sp;
	if (steps->at != slot->walk.pc ||
	    window_read(slot, number, words, sizeof(words), top - 8) ||
	    !java_returns(number, words[1]))
		return JAVA_GO_ON;
	if (!steps->fp)
		return java_go(slot, words[1], top + 8, slot->walk.registers[UNWIND_FP]);
	/* It was pushed so far below the top. */
	if (window_read(slot, number, words, sizeof(words[0]), top - (steps->fp - sp)))
		return JAVA_GO_ON;
	return java_go_saved(slot, words[1], top + 8, words[0]);
}

/* The return address of a call of the stub at a place of the stack; 0. As java_tail_step(). */
__noinline __u64 java_returns_here(__u32 number, __u64 at)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_JAVA, number);
	__u64 pc;

	return slot && !window_read(slot, number, &pc, sizeof(pc), at) &&
			       java_returns(number, pc) == JAVA_RETURN_HERE
		       ? pc
		       : 0;
}

/*
 * The caller of a stub that was interrupted, if one of the words that it has pushed is the return
 * address of a call of it; else JAVA_GO_ON. A global function, which the verifier checks once.
 */
__noinline int java_called_stub(__u32 number)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_JAVA, number);
	__u64 at, pc, saved[2];

	if (!slot)
		return WIRE_END_STALE;
	at = slot->walk.registers[UNWIND_SP];
	/* All of its frame is there. Words in it may be old ones. */
	if (slot->interp.java_walk.blob.frame >= 16 &&
	    !window_read(slot, number, saved, sizeof(saved),
			 at + slot->interp.java_walk.blob.frame - 16) &&
	    java_returns(number, saved[1]) == JAVA_RETURN_HERE)
		return java_go_saved(slot, saved[1], at + slot->interp.java_walk.blob.frame,
				     saved[0]);
	/* It has set its frame pointer; below that, words may be old ones. */
	if (slot->walk.registers[UNWIND_FP] - at < JAVA_MOST_FRAME &&
	    !window_read(slot, number, saved, sizeof(saved), slot->walk.registers[UNWIND_FP]) &&
	    java_returns(number, saved[1]) == JAVA_RETURN_HERE)
		return java_go_by_fp(slot, number);
	pc = 0;
	for (__u32 i = 0; i < JAVA_STUB_WORDS && !pc; i++, at += 8)
		pc = java_returns_here(number, at);
	if (pc)
		return java_go(slot, pc, at, slot->walk.registers[UNWIND_FP]);
	return JAVA_GO_ON;
}

/* The word that may be the return address of a stub without a frame pointer. */
static __always_inline int java_stub_words(struct scratch *slot, __u32 number)
{
	const struct java_candidates *found =
		java_look(slot, number, slot->walk.registers[UNWIND_SP] + 8, JAVA_STUB_WORDS, 8);

	if (!found->n || (found->n > 1 && found->fitting != 1))
		return java_fail(slot, WIRE_SCRIPT_TORN);
	/* The frame pointer of a frame that was just taken from the stack. */
	if (slot->walk.registers[UNWIND_FP] == found->sp - 16)
		return java_go_saved(slot, found->pc, found->sp, found->fp);
	return java_go(slot, found->pc, found->sp, slot->walk.registers[UNWIND_FP]);
}

/* By a frame of a known size, the frame pointer, or without a frame. */
static __always_inline int java_stub_frame(struct scratch *slot, __u32 number)
{
	const struct java_blob *blob = &slot->interp.java_walk.blob;
	__u64 sp = slot->walk.registers[UNWIND_SP], saved[2], top, bytes;

	if (window_read(slot, number, &top, sizeof(top), sp))
		return java_fail(slot, WIRE_SCRIPT_UNREADABLE);
	/* One that throws has a copy of its return address on top. */
	if (blob->frame >= 16 &&
	    !window_read(slot, number, saved, sizeof(saved), sp + blob->frame - 16) &&
	    (top == saved[1] || !java_returns(number, top)) && java_returns(number, saved[1]))
		return java_go_saved(slot, saved[1], sp + blob->frame, saved[0]);
	if ((blob->kind == JAVA_STUBS || blob->kind == JAVA_CONTINUATION) &&
	    !java_returns(number, top) && java_has_frame(slot, number))
		return java_go_by_fp(slot, number);
	/* Native code calls some, which have no frames. */
	if (blob->kind == JAVA_RUNTIME && !blob->frame && !java_returns(number, top) &&
	    read_word(&bytes, top - 8) && is_call(bytes))
		return java_go(slot, top, sp + 8, slot->walk.registers[UNWIND_FP]);
	return java_stub_words(slot, number);
}

/*
 * The caller of a stub that begins with `push %rbp; mov %rsp,%rbp` and was interrupted. JAVA_GO_ON:
 * it does not, or its return address is not where that says.
 */
static __always_inline int java_framed_leaf(struct scratch *slot, __u32 number, __u64 before,
					    __u64 code)
{
	const struct java_blob *blob = &slot->interp.java_walk.blob;
	__u64 fp = slot->walk.registers[UNWIND_FP], sp = slot->walk.registers[UNWIND_SP];
	__u64 first, saved[2];

	if (!read_word(&first, blob->code))
		return JAVA_GO_ON;
	if ((first & 0xffffffff) != 0xec8b4855 && (first & 0xffffffff) != 0xe5894855)
		return JAVA_GO_ON;
	/* pop %rcx; jmp *%rcx: an exception's handler is in the place of the return address. */
	if ((code & 0xffffff) == 0xe1ff59 || ((code & 0xffff) == 0xe1ff && before >> 56 == 0x59))
		return java_fail(slot, WIRE_SCRIPT_TORN);
	/*
	 * The frame is gone: at `ret`, at `jmp *%rax`, or where it goes on with an exception:
	 * movq $0,N(%r15); mov N(%r15),%rax; jmp
	 */
	if ((code & 0xff) == 0xc3 || (code & 0xffff) == 0xe0ff ||
	    ((code & 0xffffff) == 0x87c749 && before >> 56 == 0x5d) ||
	    ((code & 0xffffff) == 0x478b49 && !(before >> 32)) ||
	    ((code & 0xff) == 0xe9 && (before >> 56 == 0xc9 || before >> 56 == 0x5d)))
		return window_read(slot, number, saved, sizeof(saved[0]), sp) ||
				       !java_returns(number, saved[0])
			       ? JAVA_GO_ON
			       : java_go(slot, saved[0], sp + 8, fp);
	if (slot->walk.pc - blob->code < 4 || fp < sp || fp - sp > JAVA_MOST_FRAME || fp & 7)
		return JAVA_GO_ON;
	/* One that finds an exception's handler puts that into the place of its return address. */
	if (window_read(slot, number, saved, sizeof(saved), fp) ||
	    (!java_returns(number, saved[1]) && java_find(number, saved[1]) != JAVA_COMPILED))
		return java_fail(slot, WIRE_SCRIPT_TORN);
	return java_go_saved(slot, saved[1], fp + 16, saved[0]);
}

#define JAVA_ADAPTER_BYTES  192
#define JAVA_ADAPTER_BEFORE 3 /* bytes before those: a call may have begun there */

/*
 * What the instruction at a place of the copy tells of whether `pop %rax` is over, in an adapter
 * from compiled code: 1, it is; -1, it is not. A global function, which the verifier checks once.
 */
__noinline int java_room_at(__u32 number, __u64 i)
{
	const struct scratch *slot = seldom_slot_of(LANGUAGE_JAVA, number);
	const __u8 *code;

	OPAQUE(i); /* the compiler would check i - N, of which Linux 6.1 learns nothing about i */
	if (!slot || i >= JAVA_ADAPTER_BYTES - 3)
		return -1;
	code = &slot->interp.code[JAVA_ADAPTER_BEFORE + i];
	/* jmp *REGISTER; the offset of a call may look like one. */
	if (code[0] == 0xff && (code[1] & 0xf8) == 0xe0)
		return code[-1] != 0xe8 && code[-2] != 0xe8 && code[-3] != 0xe8 ? 1 : -1;
	/* lea 8(%rsp),%r13; or mov %rsp,%r13 behind it */
	if ((code[0] == 0x24 && code[1] == 0x08 && code[2] == 0x58) ||
	    (code[0] == 0x58 && code[1] == 0x4c && code[2] == 0x8b))
		return -1;
	return 0;
}

/*
 * Whether `pop %rax` is over, in an adapter from compiled code: else it comes before a jump. A
 * global function, which the verifier checks once.
 */
__noinline int java_has_room(__u32 number)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_JAVA, number);
	int tells = 0;

	if (!slot ||
	    bpf_probe_read_user(slot->interp.code, JAVA_ADAPTER_BEFORE + JAVA_ADAPTER_BYTES,
				(const void *)(slot->walk.pc - JAVA_ADAPTER_BEFORE)))
		return false;
	for (__u64 i = 0; i < JAVA_ADAPTER_BYTES - 3 && !tells; i++)
		tells = java_room_at(number, i);
	return tells > 0;
}

/*
 * The caller of an adapter that was interrupted: the return address is in rax while room is made
 * for arguments. A global function, which the verifier checks once.
 */
__noinline int java_adapter_leaf(__u32 number)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_JAVA, number);
	__u64 pc, sp, rax, sender, called, code[2];
	bool made, room;

	if (!slot)
		return WIRE_END_STALE;
	sp = slot->walk.registers[UNWIND_SP];
	rax = slot->walk.registers[UNWIND_RESULT];
	if (bpf_probe_read_user(code, sizeof(code), (const void *)(slot->walk.pc - 8)) ||
	    window_read(slot, number, &pc, sizeof(pc), sp))
		return java_fail(slot, WIRE_SCRIPT_UNREADABLE);
	/* push %rax, sub $N,%rsp, mov %rax,(%rsp), and what is behind `pop %rax` */
	made = ((code[1] & 0xff) == 0x50 || (code[1] & 0xfffdff) == 0xec8148 ||
		(code[1] & 0xffffffff) == 0x24048948 || code[0] >> 56 == 0x58) &&
	       java_returns(number, rax);
	sender = slot->walk.registers[JAVA_REGISTER_SENDER];
	room = java_has_room(number);
	/* libjvm is called, to let the caller call the interpreter; registers are saved for it. */
	if (!room && sender > sp && sender - sp <= JAVA_MOST_FRAME &&
	    !window_read(slot, number, &called, sizeof(called), sender) &&
	    (!made || called == rax) && java_returns(number, called))
		return java_go(slot, called, sender + 8, slot->walk.registers[UNWIND_FP]);
	if (made)
		pc = rax;
	else if (!java_returns(number, pc))
		return java_fail(slot, WIRE_SCRIPT_TORN);
	if (!made)
		sp += 8;
	/* Once there is room for arguments, a register has the stack pointer of a compiled caller.
	 */
	if (room && !java_is_interpreter(&slot->interp.java_walk, pc) && sender > sp &&
	    sender - sp <= JAVA_MOST_LOCALS * 8 && !(sender & 15) &&
	    (code[1] & 0xffffff) != 0xec8b4c)
		sp = sender;
	return java_go(slot, pc, sp, slot->walk.registers[UNWIND_FP]);
}

/*
 * The caller of the stub in which a thread waits that has met a poll: the poll's address takes the
 * place of a word that was pushed, in the course of the stub; what is there before may be anything.
 */
static __always_inline int java_poll(struct scratch *slot, __u32 number, __u64 fp)
{
	__u64 first, bytes, saved[2];
	int end;

	if (!read_word(&first, slot->interp.java_walk.blob.code) ||
	    window_read(slot, number, saved, sizeof(saved), fp))
		return java_fail(slot, WIRE_SCRIPT_UNREADABLE);
	/* push %rbx; else the method has left its frame before. */
	if ((first & 0xff) == 0x53 ? java_find(number, saved[1]) != JAVA_COMPILED
				   : !java_returns(number, saved[1]))
		return java_fail(slot, WIRE_SCRIPT_TORN);
	end = java_go_saved(slot, saved[1], fp + 16, saved[0]);
	if (end == WIRE_END_NONE && read_word(&bytes, saved[1] - 8) && !is_call(bytes))
		slot->walk.exact = 1;
	return end;
}

/*
 * The caller of the stub of the first compiler by which an exception leaves a method, whose frame
 * is gone: the return address is at the stack pointer, or a word above, or in rdx at the end. The
 * stub's code tells it: mov %rax,%r14; mov (%rsp),%rdx. JAVA_GO_ON: it is another stub.
 */
static __always_inline int java_unwinding_leaf(struct scratch *slot, __u32 number, __u64 code)
{
	__u64 sp = slot->walk.registers[UNWIND_SP], fp = slot->walk.registers[UNWIND_FP];
	__u64 first, words[2];

	if (!read_word(&first, slot->interp.java_walk.blob.code) ||
	    (first & 0xffffffffffffff) != 0x24148b48f08b4c)
		return JAVA_GO_ON;
	if ((code & 0xffff) == 0xe3ff)
		return java_go(slot, slot->walk.registers[JAVA_REGISTER_RDX], sp, fp);
	if (window_read(slot, number, words, sizeof(words), sp))
		return java_fail(slot, WIRE_SCRIPT_UNREADABLE);
	return java_returns(number, words[0])	? java_go(slot, words[0], sp + 8, fp)
	       : java_returns(number, words[1]) ? java_go(slot, words[1], sp + 16, fp)
						: java_fail(slot, WIRE_SCRIPT_TORN);
}

/* What links method handles enters functions as the interpreter does. */
static __always_inline int java_linker_leaf(struct scratch *slot, __u32 number)
{
	__u64 code[2];
	int end = 0;

	if (bpf_probe_read_user(code, sizeof(code), (const void *)(slot->walk.pc - 8)) ||
	    !java_is_entering(slot, number, code, &end))
		return java_fail(slot, WIRE_SCRIPT_TORN);
	return end;
}

/*
 * The caller of a stub that has pushed a word, -1, in front of its frame: by the frame pointer, or
 * before there is one, or after. The word becomes the stack pointer that the method's caller had,
 * if the method must not be entered. JAVA_GO_ON: it is none.
 */
static __always_inline int java_marked_leaf(struct scratch *slot, __u32 number)
{
	__u64 sp = slot->walk.registers[UNWIND_SP], fp = slot->walk.registers[UNWIND_FP];
	__u64 words[2], saved, code;

	/* First, as words below a frame pointer may be old ones. */
	if (fp >= sp && fp - sp <= JAVA_MOST_FRAME && !(fp & 7) &&
	    !window_read(slot, number, words, sizeof(words), fp + 8) &&
	    java_returns(number, words[1]) &&
	    !window_read(slot, number, &saved, sizeof(saved), fp)) {
		if (words[0] == ~0ull)
			return java_go_saved(slot, words[1], fp + 24, saved);
		/* The method must not be entered, and its frame is gone. */
		if (words[0] - fp <= JAVA_MOST_FRAME && !(words[0] & 7))
			return java_fail(slot, WIRE_SCRIPT_TORN);
	}
	/* Then: test %rsp,(%rsp); mov (%rsp),%rsp; jmp *-8(%rsp) */
	if (read_word(&code, slot->walk.pc) &&
	    ((code & 0xffffffff) == 0x24248548 || (code & 0xffffffff) == 0x24248b48 ||
	     (code & 0xffffffff) == 0xf82464ff))
		return java_fail(slot, WIRE_SCRIPT_TORN);
	if (!window_read(slot, number, words, sizeof(words), sp) && words[0] == ~0ull &&
	    java_returns(number, words[1]))
		return java_go(slot, words[1], sp + 16, fp);
	if (!window_read(slot, number, words, sizeof(words), sp + 8) && words[0] == ~0ull &&
	    java_returns(number, words[1]) && !window_read(slot, number, &saved, sizeof(saved), sp))
		return java_go_saved(slot, words[1], sp + 24, saved);
	return JAVA_GO_ON;
}

/* The caller of a stub that was interrupted. A global function, which the verifier checks once. */
__noinline int java_stub_leaf(__u32 number)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_JAVA, number);
	const struct java_blob *blob;
	__u64 sp, fp, code, around[2], words[2], top;
	int end;

	if (!slot)
		return WIRE_END_STALE;
	blob = &slot->interp.java_walk.blob;
	sp = slot->walk.registers[UNWIND_SP];
	fp = slot->walk.registers[UNWIND_FP];
	if (bpf_probe_read_user(around, sizeof(around), (const void *)(slot->walk.pc - 8)) ||
	    window_read(slot, number, words, sizeof(words), sp))
		return java_fail(slot, WIRE_SCRIPT_UNREADABLE);
	code = around[1];
	top = words[0];
	/* ret, push %rbp, or the first instruction */
	if (((code & 0xff) == 0xc3 || (code & 0xff) == 0x55 || slot->walk.pc == blob->code) &&
	    java_returns(number, top))
		return java_go(slot, top, sp + 8, fp);
	/* Before a stub's push %rbp; mov %rsp,%rbp */
	if ((code >> 24 & 0xffffffff) == 0xec8b4855 && java_returns(number, top))
		return java_go(slot, top, sp + 8, fp);
	/* mov %rsp,%rbp */
	if (((code & 0xffffff) == 0xec8b48 || (code & 0xffffff) == 0xe58948) && words[0] == fp &&
	    java_returns(number, words[1]))
		return java_go(slot, words[1], sp + 16, fp);
	end = java_unwinding_leaf(slot, number, code);
	if (end != JAVA_GO_ON)
		return end;
	end = java_framed_leaf(slot, number, around[0], code);
	return end == JAVA_GO_ON ? java_stub_frame(slot, number) : end;
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

	if (slot->walk.exact && blob->kind == JAVA_VTABLE)
		return window_read(slot, number, saved, sizeof(saved[0]),
				   slot->walk.registers[UNWIND_SP]) ||
				       !java_returns(number, saved[0])
			       ? java_fail(slot, WIRE_SCRIPT_TORN)
			       : java_go(slot, saved[0], slot->walk.registers[UNWIND_SP] + 8,
					 slot->walk.registers[UNWIND_FP]);
	if (slot->walk.exact && blob->kind == JAVA_ADAPTER)
		return java_adapter_leaf(number);
	if (slot->walk.exact && blob->kind == JAVA_LINKER)
		return java_linker_leaf(slot, number);
	if (blob->kind == JAVA_POLL && !slot->walk.exact && blob->frame >= 16)
		return java_poll(slot, number, sp - 16);
	if (blob->kind == JAVA_POLL && read_word(&bytes, blob->code) && (bytes & 0xff) == 0x53)
		return slot->walk.registers[UNWIND_FP] - slot->walk.registers[UNWIND_SP] >
				       JAVA_MOST_FRAME
			       ? java_fail(slot, WIRE_SCRIPT_TORN)
			       : java_poll(slot, number, slot->walk.registers[UNWIND_FP]);
	if (slot->walk.exact) {
		int end;

		/* push %rdx: it catches an exception, and was jumped to. */
		if (blob->kind == JAVA_RUNTIME && read_word(&bytes, blob->code) &&
		    (bytes & 0xff) == 0x52)
			return java_fail(slot, WIRE_SCRIPT_TORN);
		end = java_tail(number);
		if (end == JAVA_GO_ON && blob->kind == JAVA_RUNTIME)
			end = java_head(number);
		if (end == JAVA_GO_ON && blob->kind == JAVA_STUBS)
			end = java_marked_leaf(slot, number);
		if (end == JAVA_GO_ON)
			end = java_called_stub(number);
		return end == JAVA_GO_ON ? java_stub_leaf(number) : end;
	}
	/* The frames between are in the heap; the frame pointer is that of the first one behind. */
	if (blob->kind == JAVA_CONTINUATION && read_word(&bytes, slot->walk.pc - 8) &&
	    !is_call(bytes)) {
		int end;

		slot->interp.java_walk.kind = JAVA_BARRIER;
		end = java_thaw(number);
		return end == JAVA_GO_ON ? java_go_by_fp(slot, number) : end;
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
