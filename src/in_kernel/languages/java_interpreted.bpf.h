/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The caller of the innermost frame, if that is of HotSpot's interpreter: where a function is
 * entered or left, its frame is not there, and registers have what it would have.
 */
#ifndef STACKTALLY_LANGUAGES_JAVA_INTERPRETED_BPF_H
#define STACKTALLY_LANGUAGES_JAVA_INTERPRETED_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/interpreter_wire.h"
#include "bpf/scratch.bpf.h"
#include "bpf/window.bpf.h"
#include "languages/interp_run.bpf.h"
#include "languages/java_blobs.bpf.h"
#include "languages/java_frames.bpf.h"

#define JAVA_REGISTER_METHOD 3	/* rbx: of the interpreter, when a method is entered */
#define JAVA_REGISTER_SENDER 13 /* r13: the caller's stack pointer then */
#define JAVA_REGISTER_RDI    5	/* rdi: the return address then */
#define JAVA_REGISTER_NATIVE 11 /* r11: the same, when a native method returns */
#define JAVA_NATIVE_END	     0xe7ffe38b495f
#define JAVA_REMOVAL	     0xe38b485a /* pop %rdx; mov %rbx,%rsp */
#define JAVA_ENTRY_BYTES     32		/* of code where functions go on behind a call */

#define JAVA_MOST_LOCALS 65536ull /* words of a method's variables */

/*
 * The stack pointer of an interpreted function's caller, as a register has it. What links method
 * handles takes its own argument, the last one, from below.
 */
static __always_inline __u64 java_sender(const struct unwind_walk *walk, __u32 number)
{
	__u64 sender = walk->registers[number], sp = walk->registers[UNWIND_SP];

	return sender < sp && sp - sender <= 16 ? sp : sender;
}

/*
 * The end of an interpreted function: the frame is gone, and the function with it. `*ret_pc`: the
 * return address, if it was taken from the stack already; `*ret_sp`: the caller's stack pointer.
 */
static __always_inline bool java_has_left(const __u64 around[3], const struct unwind_walk *walk,
					  __u64 *ret_pc, __u64 *ret_sp)
{
	__u64 before = around[0], code = around[1];
	__u64 rbx = java_sender(walk, JAVA_REGISTER_METHOD);
	__u64 r11 = java_sender(walk, JAVA_REGISTER_NATIVE);

	*ret_pc = 0;
	*ret_sp = rbx;
	/* A native one: leave; perhaps movb $0,N(%r15); pop %rdi; mov %r11,%rsp; jmp *%rdi */
	if ((code & 0xffffffffffff) == JAVA_NATIVE_END ||
	    (before >> 56 == 0xc9 && (around[2] & 0xffffffffffff) == JAVA_NATIVE_END)) {
		*ret_sp = r11;
		return true;
	}
	/* leave; ...; pop %r13 or %rdx; mov %rbx,%rsp; jmp *%r13 */
	if ((code & 0xffff) == 0x5d41 || (code & 0xffffffff) == JAVA_REMOVAL ||
	    before >> 56 == 0xc9)
		return rbx >= walk->registers[UNWIND_SP] && !(rbx & 7);
	*ret_pc = walk->registers[JAVA_REGISTER_SENDER];
	if (before >> 48 == 0x5d41 && rbx >= walk->registers[UNWIND_SP] && !(rbx & 7))
		return true;
	/* Unless the caller is there already. */
	if (rbx == walk->registers[UNWIND_SP] && walk->pc - *ret_pc >= JAVA_ENTRY_BYTES)
		return true;
	*ret_sp = r11;
	*ret_pc = walk->registers[JAVA_REGISTER_RDI];
	if (before >> 56 == 0x5f && (code & 0xffffffffff) == 0xe7ffe38b49)
		return true;
	return before >> 32 == 0xe38b495f && (code & 0xffff) == 0xe7ff;
}

#define JAVA_REGISTER_RCX 2

/* mov %r13,%rsp; jmp *REGISTER, of which `jump` are the bytes */
static __always_inline bool java_is_jump_back(__u64 before, __u64 code, __u64 jump)
{
	return (code & 0xffffffffff) == (jump << 24 | 0xe58b49) ||
	       ((code & 0xffff) == jump && before >> 40 == 0xe58b49);
}

/* Between `sub $8,%rsp` and `add $8,%rsp`, around a call. */
static __always_inline bool java_is_aligned(__u64 before, __u64 code)
{
	return ((code & 0xff) == 0xe8 && before >> 32 == 0x08ec8348) ||
	       (code & 0xffffffff) == 0x08c48348;
}

/*
 * A method is being entered: its return address is at the stack pointer, or popped to rax while its
 * variables are pushed, or in a frame that is just being made. False: its frame is there.
 */
static __always_inline bool java_is_entering(struct scratch *slot, __u32 number,
					     const __u64 around[2], int *ret_end)
{
	__u64 before = around[0], code = around[1];
	const __u64 *registers = slot->walk.registers;
	__u64 sp = registers[UNWIND_SP], fp = registers[UNWIND_FP], saved[2];
	__u64 sender = java_sender(&slot->walk, JAVA_REGISTER_SENDER);
	__u64 rax = registers[UNWIND_RESULT];

	if (window_read(slot, number, saved, sizeof(saved), sp))
		return false;
	/* push %rbp is over */
	if (((code & 0xffffff) == 0xec8b48 || (code & 0xffffff) == 0xe58948) && saved[0] == fp &&
	    java_returns(number, saved[1])) {
		*ret_end = java_go_saved(slot, saved[1], sender, fp);
		return true;
	}
	/* mov %rsp,%rbp is; the method is not in the frame yet */
	if (fp - sp <= 16 && !window_read(slot, number, saved, sizeof(saved), fp) &&
	    java_returns(number, saved[1])) {
		if (fp > sp && window_read(slot, number, &sender, sizeof(sender), fp - 8))
			return false;
		*ret_end = java_go_saved(slot, saved[1], sender, saved[0]);
		return true;
	}
	if (sender < sp || sender - sp > JAVA_MOST_LOCALS * 8)
		return false;
	/* One that has no frame has done its work: pop %rcx or %rdi; mov %r13,%rsp; jmp */
	if (java_is_jump_back(before, code, 0xe1ff))
		rax = registers[JAVA_REGISTER_RCX];
	else if (java_is_jump_back(before, code, 0xe7ff))
		rax = registers[JAVA_REGISTER_RDI];
	else if (java_is_aligned(before, code))
		saved[0] = saved[1];
	if (java_returns(number, saved[0])) {
		*ret_end = java_go(slot, saved[0], sender, fp);
		return true;
	}
	if (!java_returns(number, rax))
		return false;
	*ret_end = java_go(slot, rax, sender, fp);
	return true;
}

#define JAVA_REGISTER_RDX   1
#define JAVA_REMOVAL_BYTES  128 /* of code; of them from the address on: */
#define JAVA_REMOVAL_BEHIND 4

/*
 * What the bytes at a place of the copy are: 1, JAVA_REMOVAL; -1, jmp *%rbx. A global function,
 * which the verifier checks once.
 */
__noinline int java_removal_at(__u32 number, __u64 i)
{
	const struct scratch *slot = seldom_slot_of(LANGUAGE_JAVA, number);
	__u32 word;

	OPAQUE(i);
	if (!slot || i >= JAVA_REMOVAL_BYTES - JAVA_REMOVAL_BEHIND)
		return -1;
	word = *(const __u32 *)&slot->interp.code[i];
	return word == JAVA_REMOVAL ? 1 : (word & 0xffff) == 0xe3ff ? -1 : 0;
}

/*
 * Whether `pop %rdx; mov %rbx,%rsp` is over, by which an exception removes a frame, and jmp *%rbx
 * is not: the last of the two before the address tells.
 */
static __always_inline bool java_is_removing(struct scratch *slot, __u32 number)
{
	int tells = 0;

	if (bpf_probe_read_user(slot->interp.code, JAVA_REMOVAL_BYTES,
				(const void *)(slot->walk.pc - JAVA_REMOVAL_BYTES +
					       JAVA_REMOVAL_BEHIND)))
		return false;
	for (__u64 i = 1; i <= JAVA_REMOVAL_BYTES - JAVA_REMOVAL_BEHIND && !tells; i++)
		tells = java_removal_at(number, JAVA_REMOVAL_BYTES - JAVA_REMOVAL_BEHIND - i);
	return tells > 0;
}

/*
 * Whether a call has returned, and the return address is still to be taken from the stack: perhaps
 * add $8,%rsp; jmp; then mov %rax,%rbx; pop %rdx. rdx has anything else until then.
 */
static __always_inline bool java_has_looked(__u64 pc)
{
	__u64 code;

	return read_word(&code, pc) &&
	       ((code & 0xffffffff) == 0x5ad88b48 || (code & 0xff) == 0x5a ||
		(code & 0xffffffffff) == 0xe908c48348 || (code & 0xffffffffff) == 0x05e9);
}

/*
 * The caller of an interpreted function that an exception leaves: its frame is gone, and the return
 * address is in rdx while the caller's handler is looked for, and on top of the stack during calls.
 * JAVA_GO_ON: no exception leaves it. A global function, which the verifier checks once.
 */
__noinline int java_removed(__u32 number)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_JAVA, number);
	__u64 sp, fp, sender, words[2], rdx;

	if (!slot)
		return WIRE_END_STALE;
	if (!java_is_removing(slot, number))
		return JAVA_GO_ON;
	slot->interp.java_walk.kind = JAVA_ENTRY;
	sp = slot->walk.registers[UNWIND_SP];
	fp = slot->walk.registers[UNWIND_FP];
	rdx = slot->walk.registers[JAVA_REGISTER_RDX];
	sender = slot->walk.registers[JAVA_REGISTER_METHOD];
	if (slot->walk.exact && !java_has_looked(slot->walk.pc) && java_returns(number, rdx))
		return java_go(slot, rdx, sender - sp <= 16 ? sender : sp + (sp & 8), fp);
	if (window_read(slot, number, words, sizeof(words), sp))
		return java_fail(slot, WIRE_SCRIPT_UNREADABLE);
	return java_returns(number, words[0])	? java_go(slot, words[0], sp + 16, fp)
	       : java_returns(number, words[1]) ? java_go(slot, words[1], sp + 24, fp)
						: java_fail(slot, WIRE_SCRIPT_TORN);
}

/*
 * The caller of an interpreted function that was interrupted. A global function, which the verifier
 * checks once.
 */
__noinline int java_interpreted_leaf(__u32 number)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_JAVA, number);
	struct java_walk *java;
	__u64 code[3], pc, sp;
	int end = 0;

	if (!slot)
		return WIRE_END_STALE;
	java = &slot->interp.java_walk;
	pc = slot->walk.pc;
	if (bpf_probe_read_user(code, sizeof(code), (const void *)(pc - 8)))
		return java_fail(slot, WIRE_SCRIPT_UNREADABLE);
	if (java_has_left(code, &slot->walk, &pc, &sp) &&
	    (pc || !window_read(slot, number, &pc, sizeof(pc), slot->walk.registers[UNWIND_SP])) &&
	    java_returns(number, pc)) {
		java->kind = JAVA_ENTRY;
		return java_go(slot, pc, sp, slot->walk.registers[UNWIND_FP]);
	}
	pc = slot->walk.pc;
	if (pc - java->is.entry_low < java->is.entry_high - java->is.entry_low &&
	    java_is_entering(slot, number, code, &end)) {
		java->method = slot->walk.registers[JAVA_REGISTER_METHOD];
		return end;
	}
	end = java_removed(number);
	return end == JAVA_GO_ON ? java_interpreted(slot, number) : end;
}

#endif
