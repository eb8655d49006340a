/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calls that a thread of a Java program is in, as far as they were made while it was watched.
 * HotSpot's code calls in more ways than other code: the interpreter pushes a return address and
 * jumps; adapters move it; exceptions and deoptimization remove frames, and the latter makes new
 * ones, of which nothing is known here.
 */
#ifndef STACKTALLY_TESTS_JAVA_CALLS_H
#define STACKTALLY_TESTS_JAVA_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/walks/oracle/tracee.h"

struct java_call {
	uint64_t slot;	  /* of the return address */
	uint64_t address; /* to return to */
	uint64_t fp;	  /* of the caller */
	bool unknown;	  /* what the caller is */
};

#define JAVA_CALLS 4096

struct java_calls {
	struct java_call list[JAVA_CALLS]; /* from the outermost */
	size_t n;
};

/* Code that control can come from and go to. */
enum java_place_kind {
	JAVA_PLACE_NATIVE,
	JAVA_PLACE_INTERPRETER,
	JAVA_PLACE_ENTRIES, /* of the interpreter: where methods are entered */
	JAVA_PLACE_METHOD,
	JAVA_PLACE_ADAPTER,
	JAVA_PLACE_DEOPT, /* makes interpreted frames of compiled ones */
	JAVA_PLACE_OTHER,
};

/* A state between two instructions. */
struct java_state {
	uint64_t pc, sp, fp, top; /* the word at the stack pointer */
	enum java_place_kind kind;
	bool enters;		 /* where a method or an adapter begins */
	uint64_t code, code_end; /* of what `pc` is in */
	enum instruction next;
};

/* What the instruction between two states has done. */
void java_calls_follow(struct java_calls *calls, const struct java_state *from,
		       const struct java_state *to);

static inline struct java_call *java_calls_top(struct java_calls *calls)
{
	return calls->n ? &calls->list[calls->n - 1] : NULL;
}

#endif
