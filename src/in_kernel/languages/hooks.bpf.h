/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * What the walk of interpreters' stacks (languages/interpreter.bpf.h) asks of a language. Its file,
 * languages/NAME.bpf.h, defines the functions NAME_HOOK() that it needs, each after a line
 * "#define NAME_has_HOOK 1"; without one, the walk does what is said here. A language is called
 * only for walks of its own, except NAME_run(). The parameters are (slot), where nothing else is
 * said.
 *
 * All languages:
 *   find_state(slot, number)
 *                      finds the thread's state; false: there is none, and `reason` says why
 * Languages whose functions are in RUNS:
 *   run(number)        stages the next run, and sets its anchor; a global function, called in
 *                      every walk, for the verifier's sake: it looks itself whether the walk is
 *                      its own
 *   arrives(number)    the native walk has come to the anchor of the staged run
 *   leaves_generated(slot, left)
 *                      goes from generated code, whose caller is not known, to the caller of what
 *                      the staged run stands in place of, or to the evaluator whose frame it runs
 *                      in; false: it does not (no)
 *   ends_fiber         at a return address of 0: whether all runs have got their places, so that it
 *                      is where a fiber began (no)
 *   keeps_frame        whether the evaluator's frame stays beside the run (no)
 *   allows_empty       whether a run may have no functions (no: it then gets a frame that says so)
 *   Where runs have no anchors (`ordered`):
 *   watches            whether frames that are not the evaluator's are to be seen (no)
 *   sees(slot, left)   the walk has left such a frame; true: the staged run is used up (no)
 *   evaluates          what becomes of an evaluator's frame, enum evaluated (it gets the run)
 *   is_paired          at the end: whether runs and evaluators' frames belong to each other
 *   again(slot, number)
 *                      after a whole walk: whether it is to be done again (no); then the native
 *                      walk is where it began, and find_state() is called again, with `repeats`
 * Languages whose functions have FRAMES of their own:
 *   sees_function(slot, left)
 *                      whether the last frame may be that of a function
 *   place(number)      puts it in place of the last frame; a global function
 *   step(number)       takes the step from code that only the language can step from, which
 *                      find_state() has set (`generated`), as unwind_step(), and sets
 *                      `callee_owner` even if there is no caller; a global function
 */
#ifndef STACKTALLY_LANGUAGES_HOOKS_BPF_H
#define STACKTALLY_LANGUAGES_HOOKS_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include "bpf/hints.h"
#include "bpf/languages.h"
#include "bpf/scratch.bpf.h"
#include "languages/interp_run.bpf.h"
#include "languages/left_frame.bpf.h"

#include <language_hooks.h> /* made by the Makefile: languages/NAME.bpf.h of each */

/*
 * IF_HAS(NAME_has_HOOK, code): the code if that is defined as 1, else nothing. With it defined,
 * HAS_1 makes the code the second argument.
 */
#define HAS_1			  0,
#define IF_HAS(flag, code)	  IF_HAS_(flag, code)
#define IF_HAS_(flag, code)	  TAKE_SECOND_(HAS_##flag code, , )
#define TAKE_SECOND_(...)	  TAKE_SECOND(__VA_ARGS__)
#define TAKE_SECOND(_, code, ...) code

/* Expands to what `EACH` makes of each language: EACH(ID, id, title, where, ...). */
#define EACH_LANGUAGE(EACH) LANGUAGES(EACH, LANGUAGES_NOTHING, LANGUAGES_NOTHING)

#define IN_RUNS	  false
#define IN_FRAMES true

/* Whether the walk is of a language. */
static __always_inline bool is_of(const struct interpreter_walk *interp, enum language language)
{
	return walks_language(language) && interp->language == language;
}

/* Whether it is of one whose functions each have a native frame. */
static __always_inline bool has_frames(const struct interpreter_walk *interp)
{
#define HAS_FRAMES(ID, id, title, where, ...)                                                      \
	if (IN_##where && is_of(interp, LANGUAGE_##ID))                                            \
		return true;
	EACH_LANGUAGE(HAS_FRAMES)
	return false;
}

static __always_inline bool language_find_state(struct scratch *slot, __u32 number)
{
#define FIND_STATE(ID, id, ...)                                                                    \
	if (is_of(&slot->interp, LANGUAGE_##ID))                                                   \
		return id##_find_state(slot, number);
	EACH_LANGUAGE(FIND_STATE)
	return false;
}

/*
 * Without a branch on the walk's language: the verifier has one path through the loops that call
 * this. Inlined: calls nest eight times at most.
 */
static __always_inline void language_run(__u32 number)
{
#define RUN(ID, id, ...) IF_HAS(id##_has_run, if (walks_language(LANGUAGE_##ID)) id##_run(number);)
	EACH_LANGUAGE(RUN)
}

/* As language_run(). */
static __always_inline void language_arrives(__u32 number)
{
#define ARRIVES(ID, id, ...)                                                                       \
	IF_HAS(id##_has_arrives, if (walks_language(LANGUAGE_##ID)) id##_arrives(number);)
	EACH_LANGUAGE(ARRIVES)
}

/* Whether the language has the hook. */
static __always_inline bool may_leave_generated(const struct interpreter_walk *interp)
{
#define MAY_LEAVE(ID, id, ...)                                                                     \
	IF_HAS(id##_has_leaves_generated, if (is_of(interp, LANGUAGE_##ID)) return true;)
	EACH_LANGUAGE(MAY_LEAVE)
	(void)interp;
	return false;
}

static __always_inline bool language_leaves_generated(struct scratch *slot,
						      const struct left_frame *left)
{
#define LEAVES(ID, id, ...)                                                                        \
	IF_HAS(id##_has_leaves_generated,                                                          \
	       if (is_of(&slot->interp, LANGUAGE_##ID)) return id##_leaves_generated(slot, left);)
	EACH_LANGUAGE(LEAVES)
	(void)slot;
	(void)left;
	return false;
}

/* A hook that answers, of the slot; `otherwise` without one. */
#define RETURN_OF(ID, id, hook)                                                                    \
	IF_HAS(id##_has_##hook, if (is_of(&slot->interp, LANGUAGE_##ID)) return id##_##hook(slot);)

static __always_inline bool language_keeps_frame(const struct scratch *slot)
{
#define KEEPS_FRAME(ID, id, ...) RETURN_OF(ID, id, keeps_frame)
	EACH_LANGUAGE(KEEPS_FRAME)
	(void)slot;
	return false;
}

static __always_inline bool language_ends_fiber(const struct scratch *slot)
{
#define ENDS_FIBER(ID, id, ...) RETURN_OF(ID, id, ends_fiber)
	EACH_LANGUAGE(ENDS_FIBER)
	(void)slot;
	return false;
}

static __always_inline bool language_allows_empty(const struct scratch *slot)
{
#define ALLOWS_EMPTY(ID, id, ...) RETURN_OF(ID, id, allows_empty)
	EACH_LANGUAGE(ALLOWS_EMPTY)
	(void)slot;
	return false;
}

static __always_inline bool language_watches(const struct scratch *slot)
{
#define WATCHES(ID, id, ...) RETURN_OF(ID, id, watches)
	EACH_LANGUAGE(WATCHES)
	(void)slot;
	return false;
}

static __always_inline bool language_sees(struct scratch *slot, const struct left_frame *left)
{
#define SEES(ID, id, ...)                                                                          \
	IF_HAS(id##_has_sees,                                                                      \
	       if (is_of(&slot->interp, LANGUAGE_##ID)) return id##_sees(slot, left);)
	EACH_LANGUAGE(SEES)
	(void)slot;
	(void)left;
	return false;
}

static __always_inline enum evaluated language_evaluates(struct scratch *slot)
{
#define EVALUATES(ID, id, ...) RETURN_OF(ID, id, evaluates)
	EACH_LANGUAGE(EVALUATES)
	(void)slot;
	return EVALUATED_RUN;
}

static __always_inline bool language_is_paired(const struct scratch *slot)
{
	const struct interpreter_walk *interp = &slot->interp;

#define IS_PAIRED(ID, id, ...) RETURN_OF(ID, id, is_paired)
	EACH_LANGUAGE(IS_PAIRED)
	return !interp->missing && !interp->anchor && !interp->next;
}

static __always_inline bool language_again(struct scratch *slot, __u32 number)
{
#define AGAIN(ID, id, ...)                                                                         \
	IF_HAS(id##_has_again,                                                                     \
	       if (is_of(&slot->interp, LANGUAGE_##ID)) return id##_again(slot, number);)
	EACH_LANGUAGE(AGAIN)
	(void)slot;
	(void)number;
	return false;
}

static __always_inline bool language_sees_function(struct scratch *slot,
						   const struct left_frame *left)
{
#define SEES_FUNCTION(ID, id, ...)                                                                 \
	IF_HAS(id##_has_sees_function,                                                             \
	       if (is_of(&slot->interp, LANGUAGE_##ID)) return id##_sees_function(slot, left);)
	EACH_LANGUAGE(SEES_FUNCTION)
	(void)slot;
	(void)left;
	return false;
}

/* Takes the step to the caller if the language has one of its own. False: it does not. */
static __always_inline bool language_step(struct scratch *slot, __u32 number, __u32 *ret_end)
{
#define STEP(ID, id, ...)                                                                          \
	IF_HAS(                                                                                    \
		id##_has_step,                                                                     \
		if (is_of(&slot->interp, LANGUAGE_##ID) &&                                         \
		    slot->walk.pc - slot->interp.generated < slot->interp.generated_size) {        \
			*ret_end = id##_step(number);                                              \
			return true;                                                               \
		})
	EACH_LANGUAGE(STEP)
	(void)slot;
	(void)number;
	(void)ret_end;
	return false;
}

/* Each looks itself whether the walk is its own. */
static __always_inline void language_place(__u32 number)
{
#define PLACE(ID, id, ...)                                                                         \
	IF_HAS(id##_has_place, if (walks_language(LANGUAGE_##ID)) id##_place(number);)
	EACH_LANGUAGE(PLACE)
}

#endif
