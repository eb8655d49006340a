/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Words in the code that steer who reads it: what the compiler lays out first, and what the
 * verifier has to go through. They change nothing of what the code does.
 */
#ifndef STACKTALLY_BPF_STEER_H
#define STACKTALLY_BPF_STEER_H

/*
 * Keeps the verifier from following the value: it would tell the states of a search apart by
 * every range that a comparison leaves, and never see two that are equal.
 */
#define UNWIND_OPAQUE(value) asm volatile("" : "+r"(value))

/*
 * A step of a binary search. Told apart, as a compiler makes a choice of each half otherwise, and
 * of two choices two branches: for the verifier, twice the ways through a search. Not by a comment
 * in the assembly, which would be a line of its own where there is no instruction.
 */
#define UNWIND_NARROW(low, high, middle, is_upper)                                                 \
	do {                                                                                       \
		if (is_upper) {                                                                    \
			(low) = (middle);                                                          \
			asm volatile("" : "+r"(low) : "i"(1));                                     \
		} else {                                                                           \
			(high) = (middle);                                                         \
			asm volatile("" : "+r"(high) : "i"(2));                                    \
		}                                                                                  \
	} while (0)

/* What nearly every frame takes, so that its instructions lie in a row: caches are cold. */
#define UNWIND_USUALLY(condition) __builtin_expect(!!(condition), 1)
#define UNWIND_SELDOM(condition)  __builtin_expect(!!(condition), 0)

#endif
