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
#include "languages/perl_code.bpf.h"
#include "languages/program_run.bpf.h"

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
static __always_inline bool perl_enter_stack(struct interpreter_walk *program, __u64 stackinfo)
{
	const struct wire_perl *perl = &program->perl;
	struct perl_walk *walk = &program->perl_walk;
	__s32 top;

	if (bpf_probe_read_user(program->code, PERL_STACK_BYTES, (const void *)stackinfo))
		return false;
	top = PERL_INT(program->code, perl->si_top);
	if (top < -1)
		return false;
	walk->contexts = PERL_WORD(program->code, perl->si_contexts);
	walk->context = walk->contexts + (__s64)top * perl->cx_size;
	walk->innermost_sub = PERL_INT(program->code, perl->si_sub);
	walk->previous_stack = PERL_INT(program->code, perl->si_type) == perl->si_main
				       ? 0
				       : PERL_WORD(program->code, perl->si_previous);
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
	window = &slot->program.window;
	context = slot->program.perl_walk.context;
	window->from = context - PERL_BELOW;
	slot->program.perl_walk.window_low = 0;
	if (bpf_probe_read_user(window->bytes, PERL_BELOW + PERL_CONTEXT_BYTES,
				(const void *)window->from) == 0)
		return 0;
	slot->program.perl_walk.window_low = PERL_BELOW;
	return bpf_probe_read_user(window->bytes + PERL_BELOW, PERL_CONTEXT_BYTES,
				   (const void *)context)
		       ? -1
		       : 0;
}

/* The stack of contexts is over: goes to the one before, or ends with the main program. */
__noinline int perl_leave_stack(__u32 number)
{
	struct scratch *slot = slot_of(LANGUAGE_PERL, number);
	struct interpreter_walk *program;
	const struct wire_perl *perl;
	__u64 word = 0;

	if (!slot)
		return PROGRAM_FAILED;
	program = &slot->program;
	perl = &program->perl;
	if (program->perl_walk.previous_stack)
		return perl_enter_stack(program, program->perl_walk.previous_stack)
			       ? PROGRAM_MORE
			       : program_fail(program, WIRE_CODE_UNREADABLE);
	if (!read_word(&word, program->perl_walk.state + perl->program_file) ||
	    !perl_stage_place(slot, number, PERL_PLACE_MAIN, word))
		return program_fail(program, WIRE_CODE_UNREADABLE);
	program->perl_walk.is_main = 1;
	return PROGRAM_ALL_ENDED;
}

/* Copies the context before the one that the walk is at to `code`, if there is one. */
static __always_inline void perl_read_before(struct interpreter_walk *program)
{
	const struct perl_walk *walk = &program->perl_walk;

	if (walk->context < walk->contexts ||
	    bpf_probe_read_user(program->code, PERL_CONTEXT_BYTES, (const void *)walk->context))
		__builtin_memset(program->code, 0xff, sizeof(__u64));
}

/* Words that C code saves when it sets another operation; the second is the one at work. */
#define PERL_SAVED_OP 3

/*
 * Whether a context without an operation to return to is only the last operation of the block in
 * `code`, of a sort() or a pattern. Else C code called it, and has saved the operation at work just
 * before. `saved` is how many words were saved before the context.
 */
static __always_inline bool perl_ends_block(struct interpreter_walk *program, __s32 saved)
{
	const struct wire_perl *perl = &program->perl;
	struct perl_walk *walk = &program->perl_walk;
	__u8 type = PERL_BYTE(program->code, perl->cx_type), kind = type & perl->cx_kinds;
	bool of_pattern = kind == perl->cx_is_sub && type & perl->cx_has_copy;
	__u64 stack = 0, place = 0;

	if (kind != perl->cx_is_block && kind != perl->cx_is_defer && !of_pattern)
		return false;
	/* A pattern's block has saved it itself. */
	if (of_pattern && saved - (__s32)PERL_INT(program->code, perl->cx_saved) == PERL_SAVED_OP)
		return true;
	return saved < PERL_SAVED_OP || !read_word(&stack, walk->state + perl->savestack) ||
	       !read_word(&place, stack + (saved - 2ull) * sizeof(__u64)) ||
	       place != walk->state + perl->op;
}

/* A sub: stages it. Inlined: calls nest eight times at most. */
static __always_inline int perl_sub(struct scratch *slot, __u32 number, const __u8 *context)
{
	struct interpreter_walk *program = &slot->program;
	__u64 sub = PERL_WORD(context, program->perl.cx_sub);
	struct known_code *known = &program->codes[sub / 8 % KNOWN_CODES];

	if (!(PERL_BYTE(context, program->perl.cx_type) & program->perl.cx_has_copy)) {
		if ((known->code != sub || known->walk != program->walk) &&
		    perl_take_sub(number, sub, sub / 8 % KNOWN_CODES))
			return program_fail(program, WIRE_CODE_UNREADABLE);
		program_stage(slot, LANGUAGE_PERL,
			      program_id_at(program, number, known->id, perl_line_at(program)));
		program->perl_walk.statement = PERL_WORD(context, program->perl.cx_cop);
	}
	if (PERL_WORD(context, program->perl.cx_return))
		return PROGRAM_MORE;
	perl_read_before(program);
	return perl_ends_block(program, PERL_INT(context, program->perl.cx_saved))
		       ? PROGRAM_MORE
		       : PROGRAM_RUN_ENDED;
}

/*
 * The path of the file of a statement: without threads, it is the name of the symbol that the file
 * has, "_<PATH". False: not readable.
 */
static __always_inline bool perl_file_of(const struct interpreter_walk *program, __u64 statement,
					 __u64 *ret_file)
{
	const struct wire_perl *perl = &program->perl;
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
	struct scratch *slot = slot_of(LANGUAGE_PERL, number);
	struct interpreter_walk *program;
	const struct wire_perl *perl;
	const __u8 *context;
	__u64 returns, file, required;
	bool readable = true;
	__u8 type;

	if (!slot)
		return PROGRAM_FAILED;
	program = &slot->program;
	perl = &program->perl;
	OPAQUE(at);
	if (at > PERL_BELOW)
		return PROGRAM_FAILED;
	context = program->window.bytes + at;
	type = PERL_BYTE(context, perl->cx_type);
	if (type & perl->cx_has_block)
		return PROGRAM_MORE;
	returns = PERL_WORD(context, perl->cx_return);
	required = PERL_WORD(context, perl->cx_required);
	if (type & perl->cx_has_text)
		readable = perl_file_of(program, PERL_WORD(context, perl->cx_cop), &file) &&
			   perl_stage_place(slot, number, PERL_PLACE_EVAL, file);
	else if (required)
		readable = read_word(&file, required + perl->sv_value) &&
			   perl_stage_place(slot, number, PERL_PLACE_REQUIRE, file);
	if (!readable)
		return program_fail(program, WIRE_CODE_UNREADABLE);
	if (type & perl->cx_has_text || required)
		program->perl_walk.statement = PERL_WORD(program->window.bytes + at, perl->cx_cop);
	if (returns)
		return PROGRAM_MORE;
	perl_read_before(program);
	return perl_ends_block(program, PERL_INT(program->window.bytes + at, perl->cx_saved))
		       ? PROGRAM_MORE
		       : PROGRAM_RUN_ENDED;
}

/*
 * Whether the innermost context, which is a sub's or an eval's, is just being pushed or popped:
 * then it has not all of its members, or those of another one. The stack of contexts knows its
 * innermost sub or eval, and a sub how often it was called.
 */
__noinline int perl_is_torn(__u32 number, __u64 at, __u32 kind)
{
	struct scratch *slot = slot_of(LANGUAGE_PERL, number);
	struct interpreter_walk *program;
	const struct wire_perl *perl;
	struct perl_walk *walk;
	const __u8 *context;

	if (!slot)
		return 0;
	program = &slot->program;
	perl = &program->perl;
	walk = &program->perl_walk;
	OPAQUE(at);
	if (at > PERL_BELOW)
		return 0;
	context = program->window.bytes + at;
	if (perl->si_sub &&
	    walk->contexts + (__s64)walk->innermost_sub * perl->cx_size != walk->context)
		return 1;
	if (kind != perl->cx_is_sub || PERL_BYTE(context, perl->cx_type) & perl->cx_has_copy)
		return 0;
	return perl_read_value(number, PERL_WORD(context, perl->cx_sub)) < 0 ||
	       PERL_INT(program->code, perl->cv_depth) != PERL_INT(context, perl->cx_depth) + 1;
}

/* Stages the context that the walk is at, if it is a function's, and goes to the one before. */
__noinline int perl_step(__u32 number)
{
	struct scratch *slot = slot_of(LANGUAGE_PERL, number);
	struct interpreter_walk *program;
	const struct wire_perl *perl;
	__u64 at;
	bool torn;
	__u8 kind;

	if (!slot)
		return PROGRAM_FAILED;
	program = &slot->program;
	perl = &program->perl;
	if (program->perl_walk.context < program->perl_walk.contexts)
		return perl_leave_stack(number);
	at = program->perl_walk.context - program->window.from;
	if (at > PERL_BELOW || at < program->perl_walk.window_low) {
		if (perl_move_window(number))
			return program_fail(program, WIRE_CODE_UNREADABLE);
		at = PERL_BELOW;
	}
	OPAQUE(at);
	if (at > PERL_BELOW)
		return PROGRAM_FAILED;
	kind = PERL_BYTE(program->window.bytes + at, perl->cx_type) & perl->cx_kinds;
	torn = !program->perl_walk.begun && (kind == perl->cx_is_sub || kind == perl->cx_is_eval) &&
	       perl_is_torn(number, at, kind);
	program->perl_walk.begun = 1;
	program->perl_walk.context -= perl->cx_size;
	if (torn)
		return PROGRAM_MORE;
	if (kind == perl->cx_is_sub)
		return perl_sub(slot, number, program->window.bytes + at);
	if (kind == perl->cx_is_eval)
		return perl_eval(number, at);
	return kind == perl->cx_is_block || kind == perl->cx_is_defer ? PROGRAM_RUN_ENDED
								      : PROGRAM_MORE;
}

/* Stages up to PROGRAM_STEPS contexts; an enum program_step. */
__noinline int perl_steps(__u32 number)
{
	int step = PROGRAM_MORE;

	for (__u32 i = 0; i < PROGRAM_STEPS && step == PROGRAM_MORE; i++) {
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
	struct interpreter_walk *program;
	int step = PROGRAM_MORE;

	if (!slot || slot->program.language != LANGUAGE_PERL)
		return 0;
	program = &slot->program;
	program->perl_walk.is_main = 0;
	if (!program_begin_run(program))
		return 0;
	for (__u32 i = 0; i < PROGRAM_ROUNDS && step == PROGRAM_MORE; i++) {
		step = perl_steps(number);
		OPAQUE(step);
	}
	if (step == PROGRAM_MORE)
		program->run_reason = WIRE_CODE_TOO_DEEP;
	program->next = step == PROGRAM_RUN_ENDED;
	program->anchor = 1;
	if (program->run_reason)
		program->reason = program->run_reason;
	return 0;
}

/* Sets the address of the thread's interpreter. False: it has none. */
static __always_inline bool perl_find_thread_state(struct interpreter_walk *program)
{
	struct perl_walk *walk = &program->perl_walk;
	__u64 thread = thread_pointer();
	__u32 key;

	return bpf_probe_read_user(&key, sizeof(key), (const void *)walk->state) == 0 &&
	       key < PTHREAD_KEYS &&
	       read_word(&walk->state, thread + PTHREAD_SPECIFIC + 16ull * key + 8) && walk->state;
}

/* Finds the thread's interpreter and its innermost context. Sets the reason if that fails. */
static __always_inline bool perl_find_state(struct scratch *slot, __u32 number)
{
	struct interpreter_walk *program = &slot->program;
	struct perl_walk *walk = &program->perl_walk;
	__u64 stackinfo;

	program->reason = WIRE_CODE_NO_STATE;
	if (!program->repeats) {
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
	walk->state = program->perl.state + program->bias;
	if (program->perl.has_threads && !perl_find_thread_state(program))
		return false;
	program->reason = WIRE_CODE_UNREADABLE;
	if (config_has(WIRE_LINES) &&
	    !read_word(&walk->statement, walk->state + program->perl.curcop))
		return false;
	if (!read_word(&walk->env, walk->state + program->perl.top_env) ||
	    !read_word(&stackinfo, walk->state + program->perl.stackinfo) ||
	    !perl_enter_stack(program, stackinfo))
		return false;
	program->reason = WIRE_CODE_UNMATCHED;
	program->ordered = 1;
	program->next = 1;
	if (walk->again == PERL_WITHOUT_RUN) {
		perl_run(number);
		if (program->n > 1)
			program->next = 0;
	}
	return true;
}

#endif
