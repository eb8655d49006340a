/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The contexts of Perl with threads, 5.36 and later. Each sub, eval and loop that runs has a
 * context. They lie in stacks, of which each callback from C begins a new one, and the stacks are
 * linked. One call of the evaluator, Perl_runops_standard(), runs several contexts. The outermost
 * of them is a sub or an eval without an operation to return to, which C code called; the block of
 * a sort() or of `defer`; or the main program, which has no context.
 *
 * The evaluator keeps nothing on the C stack that tells which contexts it runs: so its frames get
 * runs in order (languages/interpreter.bpf.h). In a sub that C code called, an eval calls the
 * evaluator anew, as exceptions must not leave the call that runs already; the new call then also
 * runs the rest of that sub. Both count as one call: the inner one's caller has a handler of
 * exceptions (PL_top_env and those before), and the outer one calls that or its caller.
 *
 * The innermost run may lack its call, and the innermost call its run, while a sub is called from C
 * or returns there, and between two calls of a sort()'s. Then the walk is repeated without that
 * one, if the operation at work agrees (languages/perl.bpf.h). Whatever is read belongs to
 * the process and may be anything.
 */
#ifndef STACKTALLY_LANGUAGES_PERL_CONTEXTS_BPF_H
#define STACKTALLY_LANGUAGES_PERL_CONTEXTS_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/hints.h"
#include "bpf/interpreter_wire.h"
#include "bpf/scratch.bpf.h"
#include "languages/interp_run.bpf.h"
#include "languages/perl_code.bpf.h"

#define PERL_STACK_BYTES   48 /* of what a stack of contexts begins with */
#define PERL_CONTEXT_BYTES 104
#define PERL_BELOW	   416 /* bytes that are copied below a context: four more */

/* What a walk leaves out that is done again. */
enum perl_again {
	PERL_FIRST_WALK,
	PERL_WITHOUT_RUN,  /* the innermost run: it has no call of the evaluator */
	PERL_WITHOUT_CALL, /* the innermost call: it has no run */
	PERL_JUDGED,	   /* nothing: it was done again */
};

/* Enters a stack of contexts. False: it cannot be read. */
static __always_inline bool perl_enter_stack(struct interpreter_walk *interp, __u64 stackinfo)
{
	const struct wire_perl *perl = &interp->perl;
	struct perl_walk *walk = &interp->perl_walk;
	__s32 top;

	if (bpf_probe_read_user(interp->code, PERL_STACK_BYTES, (const void *)stackinfo))
		return false;
	top = PERL_INT(interp->code, perl->si_top);
	if (top < -1)
		return false;
	walk->contexts = PERL_WORD(interp->code, perl->si_contexts);
	walk->context = walk->contexts + (__s64)top * perl->cx_size;
	walk->innermost_sub = PERL_INT(interp->code, perl->si_sub);
	walk->previous_stack = PERL_INT(interp->code, perl->si_type) == perl->si_main
				       ? 0
				       : PERL_WORD(interp->code, perl->si_previous);
	return true;
}

/* Copies a context with those below, or if that cannot be read the context only; 0 when it did. */
__noinline int perl_move_window(__u32 number)
{
	struct scratch *slot = slot_of(LANGUAGE_PERL, number);
	struct frame_window *window;
	__u64 context;

	if (!slot)
		return -1;
	window = &slot->interp.window;
	context = slot->interp.perl_walk.context;
	window->from = context - PERL_BELOW;
	slot->interp.perl_walk.window_low = 0;
	if (bpf_probe_read_user(window->bytes, PERL_BELOW + PERL_CONTEXT_BYTES,
				(const void *)window->from) == 0)
		return 0;
	slot->interp.perl_walk.window_low = PERL_BELOW;
	return bpf_probe_read_user(window->bytes + PERL_BELOW, PERL_CONTEXT_BYTES,
				   (const void *)context)
		       ? -1
		       : 0;
}

/* The stack of contexts is over: goes to the one before, or ends with the main program. */
__noinline int perl_leave_stack(__u32 number)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_PERL, number);
	struct interpreter_walk *interp;
	const struct wire_perl *perl;
	__u64 word = 0;

	if (!slot)
		return INTERP_FAILED;
	interp = &slot->interp;
	perl = &interp->perl;
	if (interp->perl_walk.previous_stack)
		return perl_enter_stack(interp, interp->perl_walk.previous_stack)
			       ? INTERP_MORE
			       : interp_fail(interp, WIRE_SCRIPT_UNREADABLE);
	if (!read_word(&word, interp->perl_walk.state + perl->interp_file) ||
	    !perl_stage_place(slot, number, PERL_PLACE_MAIN, word))
		return interp_fail(interp, WIRE_SCRIPT_UNREADABLE);
	interp->perl_walk.is_main = 1;
	return INTERP_ALL_ENDED;
}

/* Copies the context before the one that the walk is at to `code`, if there is one. */
static __always_inline void perl_read_before(struct interpreter_walk *interp)
{
	const struct perl_walk *walk = &interp->perl_walk;

	if (walk->context < walk->contexts ||
	    bpf_probe_read_user(interp->code, PERL_CONTEXT_BYTES, (const void *)walk->context))
		__builtin_memset(interp->code, 0xff, sizeof(__u64));
}

/* Words that C code saves when it sets another operation; the second is the one at work. */
#define PERL_SAVED_OP 3

/*
 * Whether a context without an operation to return to is only the last operation of the block in
 * `code`, of a sort() or a pattern. Else C code called it, and has saved the operation at work just
 * before. `saved` is how many words were saved before the context.
 */
static __always_inline bool perl_ends_block(struct interpreter_walk *interp, __s32 saved)
{
	const struct wire_perl *perl = &interp->perl;
	struct perl_walk *walk = &interp->perl_walk;
	__u8 type = PERL_BYTE(interp->code, perl->cx_type), kind = type & perl->cx_kinds;
	bool of_pattern = kind == perl->cx_is_sub && type & perl->cx_has_copy;
	__u64 stack = 0, place = 0;

	if (kind != perl->cx_is_block && kind != perl->cx_is_defer && !of_pattern)
		return false;
	/* A pattern's block has saved it itself. */
	if (of_pattern && saved - (__s32)PERL_INT(interp->code, perl->cx_saved) == PERL_SAVED_OP)
		return true;
	return saved < PERL_SAVED_OP || !read_word(&stack, walk->state + perl->savestack) ||
	       !read_word(&place, stack + (saved - 2ull) * sizeof(__u64)) ||
	       place != walk->state + perl->op;
}

/* A sub: stages it. Inlined: calls nest eight times at most. */
static __always_inline int perl_sub(struct scratch *slot, __u32 number, const __u8 *context)
{
	struct interpreter_walk *interp = &slot->interp;
	__u64 sub = PERL_WORD(context, interp->perl.cx_sub);
	__u32 at = code_place(interp, sub);
	const struct known_script *known;

	OPAQUE(at); /* the bounds of what is spilled are lost */
	known = &interp->codes[at % KNOWN_SCRIPTS];
	if (!(PERL_BYTE(context, interp->perl.cx_type) & interp->perl.cx_has_copy)) {
		if ((known->code != sub || known->walk != interp->walk) &&
		    perl_take_sub(number, sub, at))
			return interp_fail(interp, WIRE_SCRIPT_UNREADABLE);
		interp_stage(slot, LANGUAGE_PERL,
			     interp_id_at(interp, number, known->id, perl_line_at(interp)));
		interp->perl_walk.statement = PERL_WORD(context, interp->perl.cx_cop);
	}
	if (PERL_WORD(context, interp->perl.cx_return))
		return INTERP_MORE;
	perl_read_before(interp);
	return perl_ends_block(interp, PERL_INT(context, interp->perl.cx_saved)) ? INTERP_MORE
										 : INTERP_RUN_ENDED;
}

/*
 * The path of the file of a statement: without threads, it is the name of the symbol that the file
 * has, "_<PATH". False: not readable.
 */
static __always_inline bool perl_file_of(const struct interpreter_walk *interp, __u64 statement,
					 __u64 *ret_file)
{
	const struct wire_perl *perl = &interp->perl;
	__u64 symbol, body, name;

	if (!read_word(ret_file, statement + perl->cop_file))
		return false;
	if (perl->has_threads)
		return true;
	symbol = *ret_file;
	if (!read_word(&body, symbol) || !read_word(&name, body + perl->gv_name) || !name)
		return false;
	*ret_file = name + perl->hek_text + 2;
	return true;
}

/*
 * An eval. Of a block, the code is that of the function around it; of a text or a file, it is
 * staged. `at` is its context's place in the window.
 */
__noinline int perl_eval(__u32 number, __u64 at)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_PERL, number);
	struct interpreter_walk *interp;
	const struct wire_perl *perl;
	const __u8 *context;
	__u64 returns, file, required;
	bool readable = true;
	__u8 type;

	if (!slot)
		return INTERP_FAILED;
	interp = &slot->interp;
	perl = &interp->perl;
	OPAQUE(at);
	if (at > PERL_BELOW)
		return INTERP_FAILED;
	context = interp->window.bytes + at;
	type = PERL_BYTE(context, perl->cx_type);
	if (type & perl->cx_has_block)
		return INTERP_MORE;
	returns = PERL_WORD(context, perl->cx_return);
	required = PERL_WORD(context, perl->cx_required);
	if (type & perl->cx_has_text)
		readable = perl_file_of(interp, PERL_WORD(context, perl->cx_cop), &file) &&
			   perl_stage_place(slot, number, PERL_PLACE_EVAL, file);
	else if (required)
		readable = read_word(&file, required + perl->sv_value) &&
			   perl_stage_place(slot, number, PERL_PLACE_REQUIRE, file);
	if (!readable)
		return interp_fail(interp, WIRE_SCRIPT_UNREADABLE);
	if (type & perl->cx_has_text || required)
		interp->perl_walk.statement = PERL_WORD(interp->window.bytes + at, perl->cx_cop);
	if (returns)
		return INTERP_MORE;
	perl_read_before(interp);
	return perl_ends_block(interp, PERL_INT(interp->window.bytes + at, perl->cx_saved))
		       ? INTERP_MORE
		       : INTERP_RUN_ENDED;
}

/*
 * Whether the innermost context, which is a sub's or an eval's, is just being pushed or popped:
 * then it has not all of its members, or those of another one. The stack of contexts knows its
 * innermost sub or eval, and a sub how often it was called.
 */
__noinline int perl_is_torn(__u32 number, __u64 at, __u32 kind)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_PERL, number);
	struct interpreter_walk *interp;
	const struct wire_perl *perl;
	struct perl_walk *walk;
	const __u8 *context;

	if (!slot)
		return 0;
	interp = &slot->interp;
	perl = &interp->perl;
	walk = &interp->perl_walk;
	OPAQUE(at);
	if (at > PERL_BELOW)
		return 0;
	context = interp->window.bytes + at;
	if (perl->si_sub &&
	    walk->contexts + (__s64)walk->innermost_sub * perl->cx_size != walk->context)
		return 1;
	if (kind != perl->cx_is_sub || PERL_BYTE(context, perl->cx_type) & perl->cx_has_copy)
		return 0;
	return perl_read_value(number, PERL_WORD(context, perl->cx_sub)) < 0 ||
	       PERL_INT(interp->code, perl->cv_depth) != PERL_INT(context, perl->cx_depth) + 1;
}

/* Stages the context that the walk is at, if it is a function's, and goes to the one before. */
__noinline int perl_step(__u32 number)
{
	struct scratch *slot = slot_of(LANGUAGE_PERL, number);
	struct interpreter_walk *interp;
	const struct wire_perl *perl;
	__u64 at;
	bool torn;
	__u8 kind;

	if (!slot)
		return INTERP_FAILED;
	interp = &slot->interp;
	perl = &interp->perl;
	if (interp->perl_walk.context < interp->perl_walk.contexts)
		return perl_leave_stack(number);
	at = interp->perl_walk.context - interp->window.from;
	if (at > PERL_BELOW || at < interp->perl_walk.window_low) {
		if (perl_move_window(number))
			return interp_fail(interp, WIRE_SCRIPT_UNREADABLE);
		at = PERL_BELOW;
	}
	OPAQUE(at);
	if (at > PERL_BELOW)
		return INTERP_FAILED;
	kind = PERL_BYTE(interp->window.bytes + at, perl->cx_type) & perl->cx_kinds;
	torn = !interp->perl_walk.begun && (kind == perl->cx_is_sub || kind == perl->cx_is_eval) &&
	       perl_is_torn(number, at, kind);
	interp->perl_walk.begun = 1;
	interp->perl_walk.context -= perl->cx_size;
	if (torn)
		return INTERP_MORE;
	if (kind == perl->cx_is_sub)
		return perl_sub(slot, number, interp->window.bytes + at);
	if (kind == perl->cx_is_eval)
		return perl_eval(number, at);
	return kind == perl->cx_is_block || kind == perl->cx_is_defer ? INTERP_RUN_ENDED
								      : INTERP_MORE;
}

/* Stages up to INTERP_STEPS contexts; an enum interp_step. */
__noinline int perl_steps(__u32 number)
{
	int step = INTERP_MORE;

	for (__u32 i = 0; i < INTERP_STEPS && step == INTERP_MORE; i++) {
		step = perl_step(number);
		OPAQUE(step);
	}
	return step;
}

/* Stages the next run, which may have no functions; without one, `anchor` is 0. */
#define perl_has_run 1
__noinline int perl_run(__u32 number)
{
	struct scratch *slot = slot_of(LANGUAGE_PERL, number);
	struct interpreter_walk *interp;
	int step = INTERP_MORE;

	if (!slot || slot->interp.language != LANGUAGE_PERL)
		return 0;
	interp = &slot->interp;
	interp->perl_walk.is_main = 0;
	if (!interp_begin_run(interp))
		return 0;
	for (__u32 i = 0; i < INTERP_ROUNDS && step == INTERP_MORE; i++) {
		step = perl_steps(number);
		OPAQUE(step);
	}
	if (step == INTERP_MORE)
		interp->run_reason = WIRE_SCRIPT_TOO_DEEP;
	interp->next = step == INTERP_RUN_ENDED;
	interp->anchor = 1;
	if (interp->run_reason)
		interp->reason = interp->run_reason;
	return 0;
}

/* Sets the address of the thread's interpreter. False: it has none. */
static __always_inline bool perl_find_thread_state(struct interpreter_walk *interp)
{
	struct perl_walk *walk = &interp->perl_walk;
	__u64 thread = thread_pointer();
	__u32 key;

	return bpf_probe_read_user(&key, sizeof(key), (const void *)walk->state) == 0 &&
	       key < PTHREAD_KEYS &&
	       read_word(&walk->state, thread + PTHREAD_SPECIFIC + 16ull * key + 8) && walk->state;
}

/* Finds the thread's interpreter and its innermost context. Sets the reason if that fails. */
static __always_inline bool perl_find_state(struct scratch *slot, __u32 number)
{
	struct interpreter_walk *interp = &slot->interp;
	struct perl_walk *walk = &interp->perl_walk;
	__u64 stackinfo;

	interp->reason = WIRE_SCRIPT_NO_STATE;
	if (!interp->repeats) {
		walk->again = PERL_FIRST_WALK;
		walk->first_sp = slot->walk.registers[UNWIND_SP];
		walk->native = slot->walk;
	}
	walk->begun = 0;
	walk->main_placed = 0;
	walk->main_is_seen = 0;
	walk->is_main = 0;
	walk->is_after_evaluator = 0;
	walk->catching = 0;
	walk->state = interp->perl.state + interp->bias;
	if (interp->perl.has_threads && !perl_find_thread_state(interp))
		return false;
	interp->reason = WIRE_SCRIPT_UNREADABLE;
	if (config_has(WIRE_LINES) &&
	    !read_word(&walk->statement, walk->state + interp->perl.curcop))
		return false;
	if (!read_word(&walk->env, walk->state + interp->perl.top_env) ||
	    !read_word(&stackinfo, walk->state + interp->perl.stackinfo) ||
	    !perl_enter_stack(interp, stackinfo))
		return false;
	interp->reason = WIRE_SCRIPT_UNMATCHED;
	interp->ordered = 1;
	interp->next = 1;
	if (walk->again == PERL_WITHOUT_RUN) {
		perl_run(number);
		if (interp->n > 1)
			interp->next = 0;
	}
	return true;
}

#endif
