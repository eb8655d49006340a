/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The true stack of one task, kept by watching its instructions: the return addresses that calls
 * push and returns pop, without call frame information, symbols or knowledge of compilers.
 *
 * When control leaves a stack otherwise (longjmp, exceptions, contexts), one of these rules finds
 * the true stack again. Uses of each are counted:
 *
 *   resumed   the target is the place where another stack was left
 *   dropped   the target is on the same stack (or on one below it, as from a signal's stack):
 *             entries at lower addresses than the new stack pointer are dropped
 *   fresh     the target is on a stack never seen: it begins with the return address that lies
 *             at its stack pointer
 *
 * Two addresses are on the same stack if they are in the same mapping; so programs under test give
 * each stack a mapping of its own (a guard page between them does).
 */
#ifndef STACKTALLY_TESTS_SHADOW_STACK_H
#define STACKTALLY_TESTS_SHADOW_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shadow_entry {
	uint64_t slot;	  /* of the return address; of an interruption: the stack pointer */
	uint64_t address; /* to return to */
	uint64_t area;	  /* which stack: the end of its mapping */
	bool interrupted; /* by a signal: the address is that of the interrupted instruction */
};

struct shadow_list {
	struct shadow_entry *entries; /* from the root */
	size_t n, capacity;
};

struct shadow_counts {
	unsigned long calls, returns, signals;
	unsigned long resumed, dropped, fresh;
};

struct shadow_stack {
	struct shadow_list list;
	struct shadow_list *parked; /* stacks that were left and may be resumed */
	size_t n_parked;
	struct shadow_counts counts;
};

/* The source and target of a jump or return; `at_sp` is the word at the new stack pointer. */
struct shadow_target {
	uint64_t pc, sp, area, at_sp;
};

void shadow_push(struct shadow_stack *stack, struct shadow_entry entry);
/* As after fork. */
void shadow_copy(struct shadow_stack *to, const struct shadow_stack *from);
/* Drops all entries, for a new program. */
void shadow_reset(struct shadow_stack *stack);
void shadow_free(struct shadow_stack *stack);

static inline const struct shadow_entry *shadow_top(const struct shadow_stack *stack)
{
	return stack->list.n ? &stack->list.entries[stack->list.n - 1] : NULL;
}

/* A return that took its address from `slot`. True if it was the innermost call's. */
bool shadow_return(struct shadow_stack *stack, uint64_t slot, uint64_t to);
/* A signal handler ends: drops all entries since the interruption. False: there was none. */
bool shadow_sigreturn(struct shadow_stack *stack);
/* A jump or a return to elsewhere: finds the true stack by the rules above. */
void shadow_moved(struct shadow_stack *stack, const struct shadow_target *target);

#endif
