/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of interpreted programs that stacks refer to, by their ids (TALLY_ADDRESS_SCRIPT):
 * plain data. They come while stacks are captured, as a process may be gone when names are needed.
 *
 * May be used by several threads.
 */
#ifndef STACKTALLY_TALLY_SCRIPTS_H
#define STACKTALLY_TALLY_SCRIPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/own.h"
#include "bpf/languages.h"

/*
 * In an address with TALLY_ADDRESS_SCRIPT: the id of a function, or below SCRIPT_IDS an enum
 * script_reason; above, its language.
 */
#define SCRIPT_IDS	      256u
#define SCRIPT_LANGUAGE_SHIFT 56
#define SCRIPT_ID(address)    ((address) & ((1ull << SCRIPT_LANGUAGE_SHIFT) - 1))

/* In place of a language, enum language. Values are part of the recording format. */
enum script_not_language {
	SCRIPT_WAKER = 30,     /* a waker: the id is that of its name */
	SCRIPT_SCHEDULER = 31, /* the id is an enum off_cpu_leaf */
};

_Static_assert((int)N_LANGUAGES <= (int)SCRIPT_WAKER, "languages have numbers of their own");

/*
 * Why a thread was off the CPU: the leaf of its kernel stack. Or, beyond that, the stack of its
 * waker follows: OFF_CPU_LEAF_WOKEN, the waker's frames from the innermost on, and its name.
 */
enum off_cpu_leaf {
	OFF_CPU_LEAF_BLOCKED = 1, /* for something else than a CPU */
	OFF_CPU_LEAF_WAITING,	  /* for a CPU: it was ready to run */
	OFF_CPU_LEAF_WOKEN,
	OFF_CPU_WAKER_TIMER,	 /* in place of a name: a timer's interrupt */
	OFF_CPU_WAKER_INTERRUPT, /* another one */
	OFF_CPU_WAKER_UNKNOWN,
	OFF_CPU_LEAF_UNREAD, /* in place of a stack */
	/* Blocked in a wait that began before the measurement did: it is a leaf, no waker. */
	OFF_CPU_LEAF_ASLEEP,
	OFF_CPU_N_LEAVES,
	OFF_CPU_WAKER_END =
		64, /* and on: why the walk of the waker's stack ended, enum tally_end */
};

/* The address of that frame. */
static inline uint64_t off_cpu_leaf_address(enum off_cpu_leaf what)
{
	return (uint64_t)SCRIPT_SCHEDULER << SCRIPT_LANGUAGE_SHIFT | (uint64_t)what;
}

static inline bool script_is_off_cpu(uint64_t address)
{
	return address >> SCRIPT_LANGUAGE_SHIFT == SCRIPT_SCHEDULER;
}

/* Whether it is the name of a waker. */
static inline bool script_is_waker(uint64_t address)
{
	return address >> SCRIPT_LANGUAGE_SHIFT == SCRIPT_WAKER ||
	       (script_is_off_cpu(address) && SCRIPT_ID(address) > OFF_CPU_LEAF_WOKEN &&
		SCRIPT_ID(address) != OFF_CPU_LEAF_ASLEEP);
}

/* "[blocked]"; NULL for ids that are none. */
const char *off_cpu_leaf_name(uint64_t id);

/* Why the functions that an evaluator ran are not known. docs/interpreters.md explains each. */
enum script_reason {
	SCRIPT_KNOWN,
	SCRIPT_VERSION,
	SCRIPT_FREE_THREADED,
	SCRIPT_DISAGREES,
	SCRIPT_NO_STATE,
	SCRIPT_UNREADABLE,
	SCRIPT_TORN,
	SCRIPT_UNMATCHED,
	SCRIPT_TOO_DEEP,
	SCRIPT_EARLY,
	SCRIPT_DELEGATED,
	SCRIPT_BETWEEN,
	SCRIPT_INLINED,
	CODE_NEAR,
	CODE_NO_CODE,
	CODE_NO_CALLER,
	CODE_FROZEN,
	CODE_ARCHITECTURE,
	SCRIPT_N_REASONS,
};

/* "no state"; NULL for values that are no reason. */
const char *script_reason_name(uint64_t reason);

struct script {
	uint64_t id;
	const char *name; /* qualified: "Outer.method.<locals>.inner" */
	const char *file; /* path, as the interpreter has it; its end, if it is long */
	uint32_t line;	  /* where it begins; 0: not known */
	uint32_t at;	  /* the line it was at; 0: not known */
	uint64_t caller;  /* id of what it was compiled into, which stands behind it; 0: none */
	enum script_reason reason; /* it is no function, but this; SCRIPT_KNOWN: it is one */
};

struct scripts;

/* 0 or -ENOMEM. */
int scripts_new(struct scripts **ret_codes);
void scripts_free(struct scripts *scripts);
DEFINE_OWN(struct scripts, scripts_free)

/* Strings are copied; an id that is known already is ignored. 0 or -ENOMEM. */
int scripts_add(struct scripts *scripts, const struct script *script);

/* The strings live as long as `scripts`. False: not known, or `scripts` is NULL. */
bool scripts_find(struct scripts *scripts, uint64_t id, struct script *ret_script);

#endif
