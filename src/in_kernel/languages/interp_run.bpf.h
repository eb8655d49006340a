/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * What the languages share: how the frames of a run are read, and staged one by one.
 */
#ifndef STACKTALLY_LANGUAGES_INTERP_RUN_BPF_H
#define STACKTALLY_LANGUAGES_INTERP_RUN_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>

#include "bpf/hints.h"
#include "bpf/kernel.bpf.h"
#include "bpf/scratch.bpf.h"
#include "bpf/task.bpf.h"
#include "bpf/window.bpf.h"

/*
 * The languages that are walked: a bit for each. A constant, so the verifier passes over the code
 * of the others.
 */
const volatile __u32 languages;

static __always_inline bool walks_language(enum language language)
{
	return languages >> language & 1;
}

/* The slot of a walk; NULL where the language is not walked. For a language's global functions. */
static __always_inline struct scratch *slot_of(enum language language, __u32 number)
{
	return walks_language(language) ? bpf_map_lookup_elem(&scratch, &number) : NULL;
}

/* The same for functions that are not called for each frame (seldom_slot()). */
static __always_inline struct scratch *seldom_slot_of(enum language language, __u32 number)
{
	return walks_language(language) ? seldom_slot(number) : NULL;
}

/*
 * Keys below this one have their values in glibc's struct pthread itself, in pairs of a sequence
 * number and the value, from PTHREAD_SPECIFIC on. That a state found there belongs to the thread is
 * checked.
 */
#define PTHREAD_KEYS	 32
#define PTHREAD_SPECIFIC 0x310

/* The address by which the current thread finds its data: glibc's struct pthread. */
static __always_inline __u64 thread_pointer(void)
{
	const struct task_struct *task = current_task();

	return ARCH_THREAD_POINTER(task, TASK_CURRENT);
}

/* glibc: where a thread has the table of its data's parts, one for each module. */
#define TCB_DTV		8
#define DTV_ENTRY_BYTES 16
#define DTV_MAX		65536

static __always_inline bool read_word(__u64 *to, __u64 address)
{
	return bpf_probe_read_user(to, sizeof(*to), (const void *)address) == 0;
}

#define MUSL_VALUES 0x80 /* of a thread, in musl: the address of its keys' values */

/* Reads a thread's value of a key that is less than PTHREAD_KEYS, as glibc or musl keeps it. */
static __always_inline bool read_thread_value(__u64 *to, __u64 thread, __u32 key, bool musl)
{
	__u64 values;

	if (!musl)
		return read_word(to, thread + PTHREAD_SPECIFIC + 16ull * key + 8);
	return read_word(&values, thread + MUSL_VALUES) && read_word(to, values + 8ull * key);
}

/*
 * The place in a thread's data that a slot, at an address of the file, tells: the number of a
 * module, and an offset in its part. 0: not known.
 */
static __always_inline __u64 thread_data(const struct interpreter_walk *interp, __u64 slot,
					 __u64 thread)
{
	__u64 module[2], table, block;

	if (bpf_probe_read_user(module, sizeof(module), (const void *)(slot + interp->bias)) ||
	    !module[0] || module[0] >= DTV_MAX || !read_word(&table, thread + TCB_DTV) ||
	    !read_word(&block, table + module[0] * DTV_ENTRY_BYTES))
		return 0;
	return block + module[1];
}

/* The result of a step along the frames of a run. */
enum interp_step {
	INTERP_MORE,
	INTERP_RUN_ENDED, /* the next frame is that of the evaluator's caller, or NULL */
	INTERP_FAILED,	  /* run_reason says why */
	INTERP_ALL_ENDED, /* there is no run any more */
};

/* Frames of a run that are followed, 2,048: so many at a time, for the verifier's sake. */
#define INTERP_STEPS  32
#define INTERP_ROUNDS 64

static __always_inline int interp_fail(struct interpreter_walk *interp, __u32 reason)
{
	interp->run_reason = reason;
	return INTERP_FAILED;
}

/* Empties the staged run. Returns whether there is a next one, which is to be staged then. */
static __always_inline bool interp_begin_run(struct interpreter_walk *interp)
{
	interp->anchor = 0;
	interp->n = 0;
	interp->run_reason = WIRE_SCRIPT_KNOWN;
	return interp->next != 0;
}

/* Adds a function, or a reason why it is not known, to the staged run. */
static __always_inline void interp_stage(struct scratch *slot, enum language language, __u64 id)
{
	__u64 at = slot->interp.n;

	OPAQUE(at);
	if (at >= WIRE_MAX_DEPTH)
		return;
	slot->frames[STAGED_AT + at] =
		WIRE_FRAME_SCRIPT | (__u64)language << WIRE_FRAME_LANGUAGE_SHIFT | id;
	slot->interp.n = at + 1;
}

/* Where a code object is among the known ones, or the one is that it replaces: one of two. */
static __always_inline __u32 code_place(const struct interpreter_walk *interp, __u64 code)
{
	__u32 at = (code * 0x9e3779b97f4a7c15ull >> 40) % KNOWN_SCRIPTS & ~1u;
	const struct known_script *two = &interp->codes[at];
	__u32 second;

	if (two[0].code == code)
		second = 0;
	else
		second = two[1].code == code || two[1].walk < two[0].walk;
	return at + second;
}

/* Whether the instruction that `bytes` end with, the 8 before an address, is a call. */
static __always_inline bool is_call(__u64 bytes)
{
	__u8 b2 = bytes >> 16, b3 = bytes >> 24, b5 = bytes >> 40, b6 = bytes >> 48,
	     b7 = bytes >> 56;

	return b3 == 0xe8 || (b6 == 0xff && (b7 & 0xf8) == 0xd0) ||
	       (b5 == 0xff && (b6 & 0x38) == 0x10) || (b2 == 0xff && (b3 & 0x38) == 0x10);
}

#define FRAME_PAGE  4096ull
#define STACK_BYTES (8ull << 20) /* frames so far above the stack pointer are on the C stack */

/*
 * Copies a frame on the C stack from the part of it that the native walk has copied; that begins
 * with what the walk comes to next, if the frame is close. False: it is not there.
 */
static __always_inline bool frame_in_window(struct scratch *slot, __u32 number, __u64 frame)
{
	__u64 sp = slot->walk.registers[UNWIND_SP], at = frame - slot->window.from;

	if (at + FRAME_BYTES > slot->window.size &&
	    frame - sp < WINDOW_SIZE - WINDOW_SLACK - FRAME_BYTES) {
		window_bring(number, sp, sizeof(__u64));
		at = frame - slot->window.from;
	}
	if (slot->window.size < FRAME_BYTES || at > slot->window.size - FRAME_BYTES)
		return false;
	OPAQUE(at);
	return at <= WINDOW_SIZE - FRAME_BYTES &&
	       bpf_probe_read_kernel(slot->interp.window.bytes + FRAME_ON_STACK, FRAME_BYTES,
				     slot->window.bytes + at) == 0;
}

/*
 * Copies the frame of Python or PHP that the walk is at with the memory below, where its callers
 * mostly are: a frame takes some hundred bytes. Not from the page below, which may not be mapped. A
 * frame on the C stack, where each run begins, is copied beside that. Returns where the frame is in
 * the copy; -1: it cannot be read.
 */
__noinline int frame_window_move(__u32 number)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	struct frame_window *window;
	__u64 frame, size;

	if (!slot || !(walks_language(LANGUAGE_PYTHON) || walks_language(LANGUAGE_PHP)))
		return -1;
	window = &slot->interp.window;
	frame = slot->interp.frame;
	if (frame - slot->walk.registers[UNWIND_SP] < STACK_BYTES)
		return !frame_in_window(slot, number, frame) &&
				       bpf_probe_read_user(window->bytes + FRAME_ON_STACK,
							   FRAME_BYTES, (const void *)frame)
			       ? -1
			       : FRAME_ON_STACK;
	window->last = smaller(frame % FRAME_PAGE, FRAME_BELOW);
	window->from = frame - window->last;
	size = window->last + FRAME_BYTES;
	OPAQUE(size);
	if (size > FRAME_BELOW + FRAME_BYTES ||
	    bpf_probe_read_user(window->bytes, size, (const void *)window->from)) {
		window->from = 0;
		window->last = 0;
		return -1;
	}
	return size - FRAME_BYTES;
}

/*
 * Members of a frame or a function in the copy that was made of it. The masks show the verifier
 * that offsets are in the copy.
 */
#define AT(copy, offset, most, type)                                                               \
	(*(const type *)((copy) + ((offset) & ((most) - sizeof(type)))))
#define FRAME_WORD(copy, offset) AT(copy, offset, FRAME_CAPACITY, __u64)
#define FRAME_BYTE(copy, offset) AT(copy, offset, FRAME_CAPACITY, __u8)
#define CODE_WORD(copy, offset)	 AT(copy, offset, CODE_CAPACITY, __u64)
#define CODE_INT(copy, offset)	 AT(copy, offset, CODE_CAPACITY, __u32)

#endif
