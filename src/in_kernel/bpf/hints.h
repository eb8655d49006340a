/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Hints to the compiler and to the BPF verifier. None of them changes a result.
 */
#ifndef STACKTALLY_BPF_HINTS_H
#define STACKTALLY_BPF_HINTS_H

#include <linux/types.h>

/*
 * Makes the compiler forget what it knows of `value`. It then uses the register that was checked,
 * not a copy or a range that only the compiler can prove, and emits no branch where the source has
 * none. This is no instruction, so the verifier, which follows registers, knows what it knew.
 */
#define OPAQUE(value) asm volatile("" : "+r"(value))

/*
 * A step of a binary search over [low, high): the half from `middle` on if `key` <= `wanted`, else
 * the half below it. Keys and `wanted` differ by less than 2^63. Without a branch, the verifier has
 * one path to follow and the processor nothing to mispredict; OPAQUE() keeps the compiler from
 * making one.
 */
#define BISECT(low, high, middle, key, wanted)                                                     \
	do {                                                                                       \
		__u64 above = (wanted) - (__u64)(key);                                             \
                                                                                                   \
		OPAQUE(above);                                                                     \
		above = (__u64)((__s64)above >> 63);                                               \
		OPAQUE(above);                                                                     \
		(low) += ((middle) - (low)) & ~above;                                              \
		(high) -= ((high) - (middle)) & above;                                             \
	} while (0)

/* `of_a` if a < b, else `of_b`, of numbers below 2^63, without a branch. */
static inline __attribute__((always_inline)) __u64 select_lower(__u64 a, __u64 b, __u64 of_a,
								__u64 of_b)
{
	__u64 is_less = a - b;

	OPAQUE(is_less);
	is_less = (__u64)((__s64)is_less >> 63);
	OPAQUE(is_less);
	return of_b + ((of_a - of_b) & is_less);
}

/* The smaller of two numbers below 2^63, without a branch. */
static inline __attribute__((always_inline)) __u64 smaller(__u64 a, __u64 b)
{
	return select_lower(a, b, a, b);
}

/* For conditions that nearly every frame shares: its instructions then lie in a row. */
#define LIKELY(condition)   __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

#endif
