/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of interpreted programs that stacks refer to, by their ids (TALLY_ADDRESS_CODE):
 * plain data. They come while stacks are captured, as a process may be gone when names are needed.
 *
 * May be used by several threads.
 */
#ifndef STACKTALLY_TALLY_CODES_H
#define STACKTALLY_TALLY_CODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/own.h"
#include "bpf/languages.h"

/*
 * In an address with TALLY_ADDRESS_CODE: the id of a function, or below CODE_IDS an enum
 * code_reason; above, its language.
 */
#define CODE_IDS	    256u
#define CODE_LANGUAGE_SHIFT 56
#define CODE_ID(address)    ((address) & ((1ull << CODE_LANGUAGE_SHIFT) - 1))

/* In place of a language, enum language. Values are part of the recording format. */
enum code_not_language {
	CODE_WAKER = 30,     /* a waker: the id is that of its name */
	CODE_SCHEDULER = 31, /* the id is an enum code_off_cpu */
};

_Static_assert((int)N_LANGUAGES <= (int)CODE_WAKER, "languages have numbers of their own");

/*
 * Why a thread was off the CPU: the leaf of its kernel stack. Or, beyond that, the stack of its
 * waker follows: CODE_OFF_CPU_WOKEN, the waker's frames from the innermost on, and its name.
 */
enum code_off_cpu {
	CODE_OFF_CPU_BLOCKED = 1, /* for something else than a CPU */
	CODE_OFF_CPU_WAITING,	  /* for a CPU: it was ready to run */
	CODE_OFF_CPU_WOKEN,
	CODE_WAKER_TIMER,     /* in place of a name: a timer's interrupt */
	CODE_WAKER_INTERRUPT, /* another one */
	CODE_WAKER_UNKNOWN,
	CODE_OFF_CPU_UNREAD, /* in place of a stack */
	CODE_N_OFF_CPU,
	CODE_WAKER_END = 64, /* and on: why the walk of the waker's stack ended, enum tally_end */
};

/* The address of that frame. */
static inline uint64_t code_off_cpu_address(enum code_off_cpu what)
{
	return (uint64_t)CODE_SCHEDULER << CODE_LANGUAGE_SHIFT | (uint64_t)what;
}

static inline bool code_is_off_cpu(uint64_t address)
{
	return address >> CODE_LANGUAGE_SHIFT == CODE_SCHEDULER;
}

/* Whether it is the name of a waker. */
static inline bool code_is_waker(uint64_t address)
{
	return address >> CODE_LANGUAGE_SHIFT == CODE_WAKER ||
	       (code_is_off_cpu(address) && CODE_ID(address) > CODE_OFF_CPU_WOKEN);
}

/* "[blocked]"; NULL for ids that are none. */
const char *code_off_cpu_name(uint64_t id);

/* Why the functions that an evaluator ran are not known. docs/interpreters.md explains each. */
enum code_reason {
	CODE_KNOWN,
	CODE_VERSION,
	CODE_FREE_THREADED,
	CODE_DISAGREES,
	CODE_NO_STATE,
	CODE_UNREADABLE,
	CODE_TORN,
	CODE_UNMATCHED,
	CODE_TOO_DEEP,
	CODE_EARLY,
	CODE_DELEGATED,
	CODE_BETWEEN,
	CODE_INLINED,
	CODE_NEAR,
	CODE_NO_CODE,
	CODE_NO_CALLER,
	CODE_FROZEN,
	CODE_N_REASONS,
};

/* "no state"; NULL for values that are no reason. */
const char *code_reason_name(uint64_t reason);

struct code {
	uint64_t id;
	const char *name; /* qualified: "Outer.method.<locals>.inner" */
	const char *file; /* path, as the interpreter has it; its end, if it is long */
	uint32_t line;	  /* where it begins; 0: not known */
	uint32_t at;	  /* the line it was at; 0: not known */
	uint64_t caller;  /* id of what it was compiled into, which stands behind it; 0: none */
	enum code_reason reason; /* it is no function, but this; CODE_KNOWN: it is one */
};

struct codes;

/* 0 or -ENOMEM. */
int codes_new(struct codes **ret_codes);
void codes_free(struct codes *codes);
DEFINE_OWN(struct codes, codes_free)

/* Strings are copied; an id that is known already is ignored. 0 or -ENOMEM. */
int codes_add(struct codes *codes, const struct code *code);

/* The strings live as long as `codes`. False: not known, or `codes` is NULL. */
bool codes_find(struct codes *codes, uint64_t id, struct code *ret_code);

#endif
