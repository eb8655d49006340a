/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Words in the code that steer who reads it: what the compiler lays out first, and what the
 * verifier has to go through. They change nothing of what the code does.
 */
#ifndef STACKTALLY_BPF_STEER_H
#define STACKTALLY_BPF_STEER_H

/*
 * Keeps the compiler from what it knows of the value: what is checked then is what is used, not a
 * copy of it or a range that only the compiler has found; and what is written without a branch has
 * none. It is no instruction: the verifier, which follows registers, sees nothing of it.
 */
#define UNWIND_OPAQUE(value) asm volatile("" : "+r"(value))

/*
 * A step of a binary search: the upper half from `middle` on, if its key is not above what is
 * wanted, or the lower one; by less than 2^63 they differ. There is no branch: that is one way on
 * for the verifier, and nothing that a processor has to guess. A compiler that sees where the mask
 * comes from makes one.
 */
#define UNWIND_NARROW(low, high, middle, key, wanted)                                              \
	do {                                                                                       \
		__u64 above = (wanted) - (__u64)(key);                                             \
                                                                                                   \
		UNWIND_OPAQUE(above);                                                              \
		above = (__u64)((__s64)above >> 63);                                               \
		UNWIND_OPAQUE(above);                                                              \
		(low) += ((middle) - (low)) & ~above;                                              \
		(high) -= ((high) - (middle)) & above;                                             \
	} while (0)

/* What nearly every frame takes, so that its instructions lie in a row: caches are cold. */
#define UNWIND_USUALLY(condition) __builtin_expect(!!(condition), 1)
#define UNWIND_SELDOM(condition)  __builtin_expect(!!(condition), 0)

#endif
