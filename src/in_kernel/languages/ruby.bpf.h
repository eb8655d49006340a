/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The frames of Ruby. Those of a thread or fiber are an array, from the innermost one on. Each call
 * of vm_exec() runs functions up to one with a flag (VM_FRAME_FLAG_FINISH), and has a record on its
 * part of the C stack, struct rb_vm_tag, in a chain; other functions of the interpreter have such
 * records, too. A record keeps where a jump to it continues: that address tells those of vm_exec(),
 * and that stack pointer is the end of the frame that vm_exec() called, the evaluator's. So the
 * word below is the anchor.
 *
 * The nth record of vm_exec() belongs to the nth run, if there are as many of both. While vm_exec()
 * is entered or left there is one more of one of them, the innermost: it is passed over. Functions
 * written in C have frames in the array, too, and native frames of their own: they are left out.
 * Whatever is read belongs to the process and may be anything.
 */
#ifndef STACKTALLY_LANGUAGES_RUBY_BPF_H
#define STACKTALLY_LANGUAGES_RUBY_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/hints.h"
#include "bpf/interpreter_wire.h"
#include "bpf/scratch.bpf.h"
#include "languages/interp_names.bpf.h"
#include "languages/interp_run.bpf.h"
#include "languages/ruby_code.bpf.h"

#define RUBY_STATE_BYTES  64
#define RUBY_RECORD_BYTES 232
#define RUBY_FRAME_BYTES  64
#define RUBY_COUNTED	  4 /* frames at a time, for the verifier's sake */
#define RUBY_WINDOW_BYTES (RUBY_WINDOW + RUBY_FRAME_BYTES) /* frames that are copied at once */

/*
 * Whether the record at an address, which was copied to `code`, is one of vm_exec(); then sets the
 * stack and frame pointers that it has. glibc's setjmp() mangles both words by a key: but where
 * vm_exec() has its record tells the stack pointer, and thereby the key.
 */
static __always_inline bool ruby_is_of_caller(struct interpreter_walk *interp, __u64 record,
					      __u64 *ret_sp)
{
	const struct wire_ruby *ruby = &interp->ruby;
	__u64 label = CODE_WORD(interp->code, ruby->record_label);
	__u64 sp = CODE_WORD(interp->code, ruby->record_sp), both;
	__u64 fp = CODE_WORD(interp->code, ruby->record_fp);

	*ret_sp = sp;
	interp->ruby_walk.fp = fp;
	if (!ruby->continues)
		return label - interp->bias - ruby->caller < ruby->caller_size;
	*ret_sp = record - (__s64)ruby->record_above;
	if (label == ruby->continues + interp->bias)
		return true;
	both = fp ^ sp;
	interp->ruby_walk.fp = (both >> 17 | both << 47) ^ *ret_sp;
	both = label ^ sp;
	return (both >> 17 | both << 47) == ((ruby->continues + interp->bias) ^ *ret_sp);
}

/*
 * Reads the record that the walk is at, and goes to the one before. An enum interp_step:
 * INTERP_RUN_ENDED if it is one of vm_exec(), whose anchor is set. A global function, which the
 * verifier checks once; records are few.
 */
__noinline int ruby_read_record(__u32 number)
{
	struct scratch *slot = slot_of(LANGUAGE_RUBY, number);
	struct interpreter_walk *interp;
	__u64 record, sp;

	if (!slot)
		return INTERP_FAILED;
	interp = &slot->interp;
	record = interp->ruby_walk.record;
	if (!record)
		return INTERP_ALL_ENDED;
	if (bpf_probe_read_user(interp->code, RUBY_RECORD_BYTES, (const void *)record))
		return INTERP_FAILED;
	interp->ruby_walk.record = CODE_WORD(interp->code, interp->ruby.record_previous);
	if (!ruby_is_of_caller(interp, record, &sp))
		return INTERP_MORE;
	interp->anchor = sp - 8;
	return INTERP_RUN_ENDED;
}

/* Goes to the next record of vm_exec(), if that is one of the next INTERP_STEPS. */
__noinline int ruby_next_record(__u32 number)
{
	int step = INTERP_MORE;

	for (__u32 i = 0; i < INTERP_STEPS && step == INTERP_MORE; i++) {
		step = ruby_read_record(number);
		OPAQUE(step);
	}
	return step;
}

/* Counts those of INTERP_STEPS records that are of vm_exec(), in `missing`. An enum interp_step.
 */
__noinline int ruby_count_records(__u32 number)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_RUBY, number);
	__u32 step = INTERP_MORE;

	if (!slot)
		return INTERP_FAILED;
	for (__u32 i = 0; i < INTERP_STEPS && step < INTERP_FAILED; i++) {
		step = ruby_read_record(number);
		OPAQUE(step);
		/* Without a branch, which the verifier would follow in each round. */
		slot->interp.missing += step & INTERP_RUN_ENDED & ~(step >> 1);
	}
	return step < INTERP_FAILED ? INTERP_MORE : step;
}

/*
 * Copies the frame that the walk is at and some that follow, up to the end of the stack: what is
 * beyond may not be mapped, and trying costs a fault. Returns 0 when it did.
 */
static __always_inline int ruby_move_window(struct interpreter_walk *interp)
{
	struct ruby_window *window = &interp->ruby_walk.frames;
	__u64 size = smaller(interp->ruby_walk.last + interp->ruby.frame_size - interp->frame,
			     RUBY_WINDOW_BYTES);

	window->from = interp->frame;
	window->last = size - RUBY_FRAME_BYTES; /* the last one begins here at most */
	OPAQUE(size);
	return size < RUBY_FRAME_BYTES || size > RUBY_WINDOW_BYTES ||
	       bpf_probe_read_user(window->bytes, size, (const void *)window->from);
}

/*
 * Reads what is beside a frame's variables. Those are mostly on the stack that the frames are on,
 * too, and then below are its callers'.
 */
static __always_inline bool ruby_read_scope(struct interpreter_walk *interp, __u64 from,
					    struct ruby_scope *ret_scope)
{
	struct ruby_window *window = &interp->ruby_walk.variables;
	__u64 at = from - window->from;

	if (from - interp->ruby_walk.stack >= interp->frame - interp->ruby_walk.stack)
		return bpf_probe_read_user(ret_scope, sizeof(*ret_scope), (const void *)from) == 0;
	if (at > window->last) {
		window->last = smaller(from - interp->ruby_walk.stack, RUBY_WINDOW);
		window->from = from - window->last;
		at = window->last;
		OPAQUE(at);
		if (at > RUBY_WINDOW || bpf_probe_read_user(window->bytes, at + sizeof(*ret_scope),
							    (const void *)window->from)) {
			window->from = 0;
			window->last = 0;
			return bpf_probe_read_user(ret_scope, sizeof(*ret_scope),
						   (const void *)from) == 0;
		}
		at = window->last;
	}
	OPAQUE(at);
	if (at > RUBY_WINDOW)
		return false;
	*ret_scope = *(const struct ruby_scope *)(window->bytes + at);
	return true;
}

/* A frame that is written in Ruby. */
struct ruby_frame {
	__u64 iseq;
	__u64 next; /* instruction; 0: generated code has not written it */
	__u64 ep;   /* where its variables end */
	__u64 flags;
	__u64 method; /* of its own variables, if those are no block's; see ruby_as_method() */
};

/*
 * Reads the frame that the walk is at, and goes to its caller. INTERP_RUN_ENDED: the frame is
 * written in Ruby, INTERP_MORE: in C; INTERP_ALL_ENDED: there is none.
 */
static __always_inline int ruby_read_frame(struct interpreter_walk *interp,
					   struct ruby_frame *ret_frame)
{
	const struct wire_ruby *ruby = &interp->ruby;
	__u64 at = interp->frame - interp->ruby_walk.frames.from;
	struct ruby_scope scope;
	const __u8 *copy;

	if (interp->frame + ruby->frame_size > interp->ruby_walk.last)
		return INTERP_ALL_ENDED;
	if (at > interp->ruby_walk.frames.last) {
		if (ruby_move_window(interp))
			return interp_fail(interp, WIRE_SCRIPT_UNREADABLE);
		at = 0;
	}
	OPAQUE(at);
	if (at > RUBY_WINDOW)
		return INTERP_FAILED;
	copy = interp->ruby_walk.frames.bytes + at;
	interp->frame += ruby->frame_size;
	ret_frame->iseq = FRAME_WORD(copy, ruby->frame_iseq);
	ret_frame->next = FRAME_WORD(copy, ruby->frame_pc);
	ret_frame->ep = FRAME_WORD(copy, ruby->frame_ep);
	if (!ret_frame->iseq)
		return INTERP_MORE;
	if (!ruby_read_scope(interp, ret_frame->ep - RUBY_SCOPE_METHOD, &scope))
		return interp_fail(interp, WIRE_SCRIPT_UNREADABLE);
	ret_frame->method = scope.method;
	ret_frame->flags = scope.flags;
	return ret_frame->flags & ruby->is_c ? INTERP_MORE : INTERP_RUN_ENDED;
}

/* Counts the runs that RUBY_COUNTED frames end, down from `missing`. An enum interp_step. */
__noinline int ruby_count_some(__u32 number)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_RUBY, number);
	struct interpreter_walk *interp;

	if (!slot)
		return INTERP_FAILED;
	interp = &slot->interp;
	for (__u32 i = 0; i < RUBY_COUNTED; i++) {
		struct ruby_frame frame = { 0 };
		int step = ruby_read_frame(interp, &frame);

		if (step == INTERP_RUN_ENDED && frame.flags & interp->ruby.finish)
			interp->missing--;
		if (step == INTERP_FAILED || step == INTERP_ALL_ENDED)
			return step;
	}
	return INTERP_MORE;
}

/* The same of INTERP_STEPS times as many. */
__noinline int ruby_count_runs(__u32 number)
{
	int step = INTERP_MORE;

	for (__u32 i = 0; i < INTERP_STEPS && step == INTERP_MORE; i++) {
		step = ruby_count_some(number);
		OPAQUE(step);
	}
	return step;
}

/* Why a count has not come to the end of its chain; WIRE_SCRIPT_KNOWN if it has. */
static __always_inline __u32 ruby_count_reason(int step)
{
	return step == INTERP_ALL_ENDED ? WIRE_SCRIPT_KNOWN
	       : step == INTERP_MORE	? WIRE_SCRIPT_TOO_DEEP
					: WIRE_SCRIPT_UNREADABLE;
}

/*
 * Passes over the innermost run or record if it is the one that the other chain lacks: vm_exec() is
 * called for a frame that is there already, and ends when its last one has gone.
 */
static __always_inline bool ruby_pass_over(struct interpreter_walk *interp, __u32 number)
{
	struct ruby_frame frame = { 0 };

	if (interp->missing == 1)
		return ruby_read_record(number) == INTERP_RUN_ENDED;
	interp->frame = interp->next;
	if (interp->missing != (__u32)-1 || ruby_read_frame(interp, &frame) != INTERP_RUN_ENDED ||
	    !(frame.flags & interp->ruby.finish))
		return false;
	interp->next = interp->frame;
	return true;
}

/* Whether runs and records of vm_exec() belong to each other. Otherwise sets the reason. */
__noinline int ruby_is_paired(__u32 number)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_RUBY, number);
	struct interpreter_walk *interp;
	int step = INTERP_MORE;
	__u64 object;

	if (!slot)
		return 0;
	interp = &slot->interp;
	object = interp->ruby_walk.record;
	for (__u32 i = 0; i < INTERP_ROUNDS && step == INTERP_MORE; i++) {
		step = ruby_count_records(number);
		OPAQUE(step);
	}
	interp->ruby_walk.record = object;
	interp->reason = ruby_count_reason(step);
	if (interp->reason)
		return 0;
	interp->frame = interp->next;
	step = INTERP_MORE;
	for (__u32 i = 0; i < 2 * INTERP_ROUNDS / RUBY_COUNTED && step == INTERP_MORE; i++) {
		step = ruby_count_runs(number);
		OPAQUE(step);
	}
	interp->reason = ruby_count_reason(step);
	if (interp->reason)
		return 0;
	interp->reason = WIRE_SCRIPT_TORN;
	return !interp->missing || ruby_pass_over(interp, number);
}

/* The address of the variable that has the thread's state, or until 2.7 that of any thread; 0. */
static __always_inline __u64 ruby_state_at(const struct interpreter_walk *interp, __u64 thread)
{
	const struct wire_ruby *ruby = &interp->ruby;
	__u64 data = thread;

	if (ruby->thread_id)
		return ruby->tls_slot + interp->bias;
	if (ruby->tls_slot)
		data = thread_data(interp, ruby->tls_slot, thread);
	return data ? data + (__s64)ruby->tls_offset : 0;
}

/* Whether a state, which was copied to `code`, is that of a thread. */
static __always_inline bool ruby_is_of(const struct interpreter_walk *interp, __u64 state,
				       __u64 thread)
{
	const struct wire_ruby *ruby = &interp->ruby;
	__u64 of = CODE_WORD(interp->code, ruby->state_thread), its_state, id;

	return read_word(&its_state, of + ruby->thread_state) && its_state == state &&
	       (!ruby->thread_id || (read_word(&id, of + ruby->thread_id) && id == thread));
}

/* Finds the state of the thread, and its innermost frame and record. Sets the reason if that fails.
 */
static __always_inline bool ruby_find_state(struct scratch *slot, __u32 number)
{
	struct interpreter_walk *interp = &slot->interp;
	const struct wire_ruby *ruby = &interp->ruby;
	__u64 thread = thread_pointer(), context, stack;

	interp->reason = WIRE_SCRIPT_NO_STATE;
	if (!read_word(&context, ruby_state_at(interp, thread)) ||
	    bpf_probe_read_user(interp->code, RUBY_STATE_BYTES, (const void *)context) ||
	    !ruby_is_of(interp, context, thread))
		return false;
	interp->ruby_walk.frames.from = 0;
	interp->ruby_walk.frames.last = 0;
	interp->ruby_walk.variables.from = 0;
	interp->ruby_walk.variables.last = 0;
	interp->ruby_walk.method = 0;
	interp->ruby_walk.class_hash = 0;
	interp->ruby_walk.path_key = 0;
	interp->next = CODE_WORD(interp->code, ruby->state_frame);
	interp->ruby_walk.record = CODE_WORD(interp->code, ruby->state_record);
	stack = CODE_WORD(interp->code, ruby->state_stack);
	interp->ruby_walk.stack = stack;
	/* The outermost frame stands for no function: Ruby's own backtraces leave it out, too. */
	interp->ruby_walk.last =
		stack + 8 * CODE_WORD(interp->code, ruby->state_stack_size) - ruby->frame_size;
	if (!ruby_is_paired(number)) {
		interp->next = 0;
		interp->anchor = 0;
		return false;
	}
	interp->reason = WIRE_SCRIPT_UNMATCHED;
	return true;
}

static __always_inline __u32 ruby_line(__u32 number, const struct ruby_frame *frame)
{
	return config_has(WIRE_LINES) && frame->next
		       ? ruby_line_before(number, frame->iseq, frame->next)
		       : 0;
}

/* Words of a frame's variables that are not the function's: what the flags stand beside. */
#define RUBY_FRAME_WORDS 3

/*
 * Whether the innermost frame, which the walk has left, is just being made: then it has members of
 * another one. Its variables are those of its function, and lie above its caller's.
 */
static __always_inline bool ruby_is_torn(const struct interpreter_walk *interp,
					 const struct ruby_frame *frame)
{
	const struct wire_ruby *ruby = &interp->ruby;
	__u64 body, sp, words;
	__u32 n;

	if (!ruby->body_variables)
		return false;
	if (!read_word(&body, frame->iseq + ruby->iseq_body) ||
	    bpf_probe_read_user(&n, sizeof(n), (const void *)(body + ruby->body_variables)) ||
	    !read_word(&sp, interp->frame + ruby->frame_sp))
		return true;
	words = (frame->ep - sp) / sizeof(__u64) - n;
	return words != RUBY_FRAME_WORDS && words != RUBY_FRAME_WORDS - 1;
}

/* Stages the frame that the walk is at, if it is written in Ruby, and goes to its caller. */
__noinline int ruby_step(__u32 number)
{
	struct scratch *slot = slot_of(LANGUAGE_RUBY, number);
	struct ruby_frame frame = { 0 };
	struct interpreter_walk *interp;
	struct known_script *known;
	__u64 at, method;
	int step;

	if (!slot)
		return INTERP_FAILED;
	interp = &slot->interp;
	at = interp->n;
	step = ruby_read_frame(interp, &frame);
	if (step == INTERP_FAILED)
		return step;
	/*
	 * What C code calls is a run of its own. The innermost frame is made before it is marked as
	 * one, so it has not begun.
	 */
	if (step == INTERP_MORE && at == 1 && !interp->n_native) {
		interp->n = 0;
		return step;
	}
	if (step != INTERP_RUN_ENDED)
		return at ? interp_fail(interp, WIRE_SCRIPT_TORN) : step;
	if (!at && !interp->n_native && ruby_is_torn(interp, &frame))
		return interp_fail(interp, WIRE_SCRIPT_TORN);
	method = frame.flags & RUBY_SCOPE_LOCAL ? frame.method
						: ruby_method_around(number, frame.ep);
	known = &interp->codes[frame.iseq / 8 % KNOWN_SCRIPTS];
	if ((known->code != frame.iseq || known->walk != interp->walk ||
	     known->function != method) &&
	    ruby_take_function(interp, number, frame.iseq, method))
		return interp_fail(interp, WIRE_SCRIPT_UNREADABLE);
	interp_stage(slot, LANGUAGE_RUBY,
		     interp_id_at(interp, number, known->id, ruby_line(number, &frame)));
	return frame.flags & interp->ruby.finish ? INTERP_RUN_ENDED : INTERP_MORE;
}

/* Stages up to INTERP_STEPS frames; an enum interp_step. */
__noinline int ruby_steps(__u32 number)
{
	int step = INTERP_MORE;

	for (__u32 i = 0; i < INTERP_STEPS && step == INTERP_MORE; i++) {
		step = ruby_step(number);
		OPAQUE(step);
	}
	return step;
}

/* Finds the anchor of the run that was staged. False: there is none. */
static __always_inline bool ruby_find_anchor(struct scratch *slot, __u32 number)
{
	struct interpreter_walk *interp = &slot->interp;
	int step = INTERP_MORE;

	for (__u32 i = 0; i < INTERP_ROUNDS && step == INTERP_MORE; i++) {
		step = ruby_next_record(number);
		OPAQUE(step);
	}
	if (step != INTERP_RUN_ENDED)
		return false;
	/* vm_exec() itself was interrupted. */
	if (!interp->n_native && interp->anchor < slot->walk.registers[UNWIND_SP])
		interp->anchor = slot->walk.registers[UNWIND_SP];
	return true;
}

/* A function that vm_exec() calls in place of the evaluator stays. */
#define ruby_has_keeps_frame 1
static __always_inline bool ruby_keeps_frame(const struct scratch *slot)
{
	return !slot->interp.in_evaluator && slot->walk.callee_owner != UNWIND_GENERATED;
}

/* The first function of a fiber never returns, and its return address is 0. */
#define ruby_has_ends_fiber 1
static __always_inline bool ruby_ends_fiber(const struct scratch *slot)
{
	const struct interpreter_walk *interp = &slot->interp;

	return interp->reason == WIRE_SCRIPT_UNMATCHED && !interp->anchor && !interp->next;
}

/*
 * Generated code, which has no frames that can be followed, is called by vm_exec() in place of the
 * evaluator, or by the evaluator; either belongs to the staged run. So the walk goes on in
 * vm_exec(), which has called what is below its stack pointer, as the record has that.
 */
#define ruby_has_leaves_generated 1
static __always_inline bool ruby_leaves_generated(struct scratch *slot,
						  const struct left_frame *left)
{
	const struct interpreter_walk *interp = &slot->interp;
	__u64 anchor = interp->anchor, pc;

	if (!anchor || anchor < left->sp || anchor - left->sp > STACK_BYTES ||
	    !read_word(&pc, anchor) ||
	    pc - interp->bias - interp->ruby.caller >= interp->ruby.caller_size)
		return false;
	slot->walk.pc = pc;
	slot->walk.registers[UNWIND_SP] = anchor + sizeof(pc);
	slot->walk.registers[UNWIND_FP] = interp->ruby_walk.fp;
	slot->walk.known = UNWIND_BIT(UNWIND_SP) | UNWIND_BIT(UNWIND_FP);
	slot->walk.rbx_at = 0;
	slot->walk.exact = 0;
	slot->walk.by_chain = 0;
	slot->walk.callee_owner = UNWIND_GENERATED;
	return true;
}

/* Stages the next run and its anchor; without one, `anchor` is 0. */
#define ruby_has_run 1
__noinline int ruby_run(__u32 number)
{
	struct scratch *slot = slot_of(LANGUAGE_RUBY, number);
	struct interpreter_walk *interp;
	int step = INTERP_MORE;

	if (!slot || slot->interp.language != LANGUAGE_RUBY)
		return 0;
	interp = &slot->interp;
	if (!interp_begin_run(interp))
		return 0;
	interp->frame = interp->next;
	interp->next = 0;
	for (__u32 i = 0; i < INTERP_ROUNDS && step == INTERP_MORE; i++) {
		step = ruby_steps(number);
		OPAQUE(step);
	}
	if (step == INTERP_ALL_ENDED)
		return 0;
	if (step == INTERP_MORE)
		interp->run_reason = WIRE_SCRIPT_TOO_DEEP;
	if (!ruby_find_anchor(slot, number)) {
		interp->anchor = 0;
		interp->reason = WIRE_SCRIPT_TORN;
		return 0;
	}
	if (step == INTERP_RUN_ENDED)
		interp->next = interp->frame;
	else
		interp->reason = interp->run_reason;
	return 0;
}

#endif
