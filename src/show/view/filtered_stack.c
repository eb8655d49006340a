// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a filter leaves of the stacks and entries of a view.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/own.h"
#include "view/view.h"

/* The longest sequence of functions whose repetition is recursion. */
#define LONGEST_CYCLE 16u

#define HAS(marks, kind) ((marks) >> (kind)&1)

/* The index of the frame that says why a thread was off the CPU; `n` if there is none. */
static uint32_t state_frame(const struct view *view, const uint32_t *frames, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (view->frames[frames[i]].is.flags & (NAMES_FRAME_BLOCKED | NAMES_FRAME_WAITING))
			return i;
	return n;
}

/* Leaves out the callers of the outermost frame to show stacks from. */
static void cut(const struct view *view, struct view_stack *stack)
{
	const uint32_t *frames = view->stack_frames + stack->first;
	uint32_t state = state_frame(view, frames, stack->n), n = stack->n;
	uint32_t end = state < n ? state + 1 : 0; /* what a waker did is no part of the stack */

	while (n > end && !HAS(view->marks[frames[n - 1]], FRAME_FILTER_SHOW_FROM))
		n--;
	stack->flags = 0; /* what is missing at the root is not shown either */
	stack->n = n == end ? 0 : n;
}

/* The state, and what delimits and names the waker, are no functions: they stay. */
static bool may_hide(uint32_t i, uint32_t state, uint32_t n)
{
	return state == n || (i != state && i != 0 && i + 1 != state);
}

static void hide(const struct view *view, struct view_stack *stack)
{
	uint32_t *frames = view->stack_frames + stack->first;
	uint32_t state = state_frame(view, frames, stack->n), n = 0;

	for (uint32_t i = 0; i < stack->n; i++) {
		bool hidden = HAS(view->marks[frames[i]], FRAME_FILTER_HIDE) &&
			      may_hide(i, state, stack->n);

		if (!hidden)
			frames[n++] = frames[i];
		else if (view->frames[frames[i]].is.flags & NAMES_FRAME_UNWIND)
			stack->flags = 0;
	}
	stack->n = n;
}

/* Functions without a name, of which not even the start is known, are not known to be the same. */
static bool same_function(const struct view *view, uint32_t a, uint32_t b)
{
	const struct names_frame *one = &view->frames[a].is, *other = &view->frames[b].is;

	if (!one->name)
		return a == b && one->base;
	return one->name == other->name && one->module == other->module;
}

static bool repeats(const struct view *view, const uint32_t *end, uint32_t length)
{
	for (uint32_t i = 1; i <= length; i++)
		if (!same_function(view, end[-(int)i], end[-(int)(i + length)]))
			return false;
	return true;
}

/* Of functions, or sequences of functions, that call themselves, the innermost call stays. */
static void collapse(const struct view *view, struct view_stack *stack)
{
	uint32_t *frames = view->stack_frames + stack->first, n = 0;

	for (uint32_t i = 0; i < stack->n; i++) {
		frames[n++] = frames[i];
		for (uint32_t length = 1; length <= LONGEST_CYCLE && 2 * length <= n; length++) {
			if (repeats(view, frames + n, length)) {
				n -= length;
				break;
			}
		}
	}
	stack->n = n;
}

void view_filter_stack(const struct view *view, struct view_stack *stack, bool whole)
{
	for (uint32_t i = 0; i < stack->n; i++)
		stack->marks |= view->marks[view->stack_frames[stack->first + i]];
	if (!whole && frame_filter_has(view->filter, FRAME_FILTER_SHOW_FROM))
		cut(view, stack);
	if (HAS(stack->marks, FRAME_FILTER_HIDE))
		hide(view, stack);
	if (frame_filter_collapses(view->filter))
		collapse(view, stack);
}

static const struct view_stack *stack_of(const struct view *view, uint32_t id)
{
	return id < view->n_stacks ? &view->stacks[id] : NULL;
}

static uint32_t marks_of(const struct view *view, uint32_t id)
{
	const struct view_stack *stack = stack_of(view, id);

	return stack ? stack->marks : 0;
}

/* A stack of which nothing is left is none. */
static void drop_empty(const struct view *view, uint32_t *id, bool *dropped)
{
	const struct view_stack *stack = stack_of(view, *id);

	if (stack && stack->n == 0) {
		*id = TALLY_STACK_NONE;
		*dropped = true;
	}
}

bool view_filter_entry(const struct view *view, const struct tally_entry *of,
		       struct tally_entry *shown)
{
	uint32_t user = marks_of(view, shown->user), marks = user | marks_of(view, shown->kernel);
	bool dropped = false;

	if (frame_filter_has(view->filter, FRAME_FILTER_FOCUS) && !HAS(marks, FRAME_FILTER_FOCUS))
		return false;
	if (HAS(marks, FRAME_FILTER_IGNORE))
		return false;
	if (view->whole_of && HAS(user, FRAME_FILTER_SHOW_FROM) && stack_of(view, shown->kernel))
		shown->kernel = view->whole_of[of->kernel];
	else if (view->whole_of && !HAS(user, FRAME_FILTER_SHOW_FROM))
		shown->user = TALLY_STACK_NONE; /* also one that was missed */
	drop_empty(view, &shown->kernel, &dropped);
	drop_empty(view, &shown->user, &dropped);
	if (view->whole_of && !HAS(marks, FRAME_FILTER_SHOW_FROM))
		return false;
	return !dropped || stack_of(view, shown->kernel) || stack_of(view, shown->user);
}

static void mark_used(const struct view *view, uint32_t id, uint32_t *used)
{
	const struct view_stack *stack = stack_of(view, id);

	for (uint32_t i = 0; stack && i < stack->n; i++)
		used[view->stack_frames[stack->first + i]] = 1;
}

int view_drop_frames(struct view *view, const struct tally_entry *entries, uint32_t n)
{
	own(own_free) uint32_t *number = calloc((size_t)view->n_frames + 1, sizeof(*number));
	uint32_t kept = 0;

	if (!number)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		mark_used(view, entries[i].kernel, number);
		mark_used(view, entries[i].user, number);
	}
	for (uint32_t i = 0; i < view->n_frames; i++) {
		bool used = number[i];

		number[i] = kept;
		if (used)
			view->frames[kept++] = view->frames[i];
	}
	for (uint64_t i = 0; i < view->n_stack_frames; i++)
		view->stack_frames[i] = number[view->stack_frames[i]];
	view->n_frames = kept;
	return 0;
}
