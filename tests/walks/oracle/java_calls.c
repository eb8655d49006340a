// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/walks/oracle/java_calls.h"

#include <string.h>

#define MOST_CALL_BYTES 15

static void push(struct java_calls *calls, struct java_call call)
{
	if (calls->n == JAVA_CALLS) {
		memmove(calls->list, calls->list + JAVA_CALLS / 2,
			sizeof(calls->list) - JAVA_CALLS / 2 * sizeof(calls->list[0]));
		calls->n -= JAVA_CALLS / 2;
	}
	calls->list[calls->n++] = call;
}

/* The stack pointer has passed the return addresses of these. */
static void drop(struct java_calls *calls, uint64_t sp)
{
	while (calls->n && calls->list[calls->n - 1].slot < sp)
		calls->n--;
}

/* Frames were made of which nothing is known, above those that are. */
static void forget(struct java_calls *calls)
{
	const struct java_call *top = java_calls_top(calls);

	push(calls, (struct java_call){ .slot = top ? top->slot : UINT64_MAX, .unknown = true });
}

static bool is_interpreter(const struct java_state *state)
{
	return state->kind == JAVA_PLACE_INTERPRETER || state->kind == JAVA_PLACE_ENTRIES;
}

static void after_call(struct java_calls *calls, const struct java_state *from,
		       const struct java_state *to)
{
	if (to->sp != from->sp - 8 || to->top <= from->pc || to->top - from->pc > MOST_CALL_BYTES ||
	    to->pc == to->top)
		return;
	/* Within the interpreter's own code: still the same function. */
	if (is_interpreter(from) && is_interpreter(to))
		return;
	push(calls, (struct java_call){ .slot = to->sp, .address = to->top, .fp = from->fp });
}

static void after_return(struct java_calls *calls, const struct java_state *from,
			 const struct java_state *to)
{
	const struct java_call *top = java_calls_top(calls);

	if (top && top->slot == from->sp) {
		calls->n--;
		return;
	}
	if (top && from->sp < top->slot && is_interpreter(from))
		return;
	drop(calls, to->sp);
	if (from->kind == JAVA_PLACE_DEOPT)
		forget(calls);
}

/* A method is entered by a jump. */
static void after_entry(struct java_calls *calls, const struct java_state *from,
			const struct java_state *to)
{
	struct java_call *top = java_calls_top(calls);

	if (top && top->slot == to->sp)
		return;
	/*
	 * Its return address was moved: by an adapter; because the last argument was taken from
	 * the stack; or an interpreted loop goes on in compiled code.
	 */
	if (top && top->address == to->top &&
	    (from->kind == JAVA_PLACE_ADAPTER || to->sp > top->slot ||
	     (from->kind == JAVA_PLACE_INTERPRETER && to->kind == JAVA_PLACE_METHOD))) {
		drop(calls, top->slot);
		top->slot = to->sp;
		return;
	}
	drop(calls, to->sp);
	if (from->kind == JAVA_PLACE_INTERPRETER)
		push(calls,
		     (struct java_call){ .slot = to->sp, .address = to->top, .fp = from->fp });
}

/* While a method is entered, its return address may be in a register. */
static bool is_inside(const struct java_state *from, const struct java_state *to)
{
	return from->kind == to->kind &&
	       (to->kind == JAVA_PLACE_ENTRIES || to->kind == JAVA_PLACE_ADAPTER);
}

static void after_jump(struct java_calls *calls, const struct java_state *from,
		       const struct java_state *to)
{
	const struct java_call *top = java_calls_top(calls);

	if (top && to->pc == top->address && to->sp >= top->slot) {
		calls->n--;
		return;
	}
	if (is_inside(from, to) && !(top && top->address == to->top))
		return;
	if (to->enters)
		after_entry(calls, from, to);
	else if (from->kind == JAVA_PLACE_METHOD && to->kind == JAVA_PLACE_DEOPT && top &&
		 to->sp < top->slot && to->top >= from->code && to->top < from->code_end)
		push(calls, (struct java_call){ .slot = to->sp, .address = to->top, .fp = to->fp });
	else if (from->kind != JAVA_PLACE_NATIVE)
		drop(calls, to->sp);
}

void java_calls_follow(struct java_calls *calls, const struct java_state *from,
		       const struct java_state *to)
{
	switch (from->next) {
	case INSTRUCTION_CALL:
		after_call(calls, from, to);
		return;
	case INSTRUCTION_RETURN:
		after_return(calls, from, to);
		return;
	case INSTRUCTION_JUMP:
		after_jump(calls, from, to);
		return;
	case INSTRUCTION_SYSTEM_CALL:
		drop(calls, to->sp);
		/* A signal's handler has sent the thread to a stub, which pushes where it was. */
		if (to->kind == JAVA_PLACE_OTHER)
			push(calls, (struct java_call){ .slot = to->sp - 8, .unknown = true });
		return;
	case INSTRUCTION_OTHER:
		break;
	}
	/* The frames of a deoptimized method are being replaced. */
	if (to->kind == JAVA_PLACE_DEOPT && calls->n && to->sp > java_calls_top(calls)->slot) {
		drop(calls, to->sp);
		forget(calls);
	}
}
