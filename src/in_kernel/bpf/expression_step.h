/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The steps of an expression that read nothing: the same source for the BPF programs and for tests.
 * 64-bit numbers, signed or not; where C would wrap around or divide by zero, there is no result.
 */
#ifndef STACKTALLY_BPF_EXPRESSION_STEP_H
#define STACKTALLY_BPF_EXPRESSION_STEP_H

#include <stdbool.h>

#include "bpf/expression_wire.h"

#define EXPRESSION_INLINE static inline __attribute__((always_inline))

/* `size` bytes, 1 to 8, that were read to the lower end of a word. */
EXPRESSION_INLINE __s64 expression_extend(__u64 word, __u32 size, bool is_signed)
{
	__u32 unused = 64 - 8 * (size & 15);

	if (unused >= 64)
		return (__s64)word;
	word <<= unused;
	return is_signed ? (__s64)word >> unused : (__s64)(word >> unused);
}

EXPRESSION_INLINE __u64 expression_size_of(__s64 number)
{
	return number < 0 ? 0 - (__u64)number : (__u64)number;
}

/* Multiplies, divides, or takes the rest, by size and sign: BPF has no signed division. */
EXPRESSION_INLINE bool expression_scale(__u32 op, bool is_signed, __s64 a, __s64 b, __s64 *ret)
{
	bool negative = is_signed && ((op == WIRE_STEP_MOD ? a : a ^ b) < 0);
	__u64 x = is_signed ? expression_size_of(a) : (__u64)a;
	__u64 y = is_signed ? expression_size_of(b) : (__u64)b;
	__u64 most = is_signed ? ~0ull >> 1 : ~0ull, result;

	if (op == WIRE_STEP_MUL) {
		if (y && x > most / y)
			return false;
		result = x * y;
	} else {
		if (!y)
			return false;
		result = op == WIRE_STEP_DIV ? x / y : x % y;
		if (is_signed && result > most)
			return false;
	}
	*ret = (__s64)(negative ? 0 - result : result);
	return true;
}

EXPRESSION_INLINE bool expression_add(bool is_signed, __s64 a, __s64 b, __s64 *ret)
{
	__u64 sum = (__u64)a + (__u64)b;

	*ret = (__s64)sum;
	return is_signed ? ((a ^ *ret) & (b ^ *ret)) >= 0 : sum >= (__u64)a;
}

EXPRESSION_INLINE bool expression_subtract(bool is_signed, __s64 a, __s64 b, __s64 *ret)
{
	*ret = (__s64)((__u64)a - (__u64)b);
	return is_signed ? ((a ^ b) & (a ^ *ret)) >= 0 : (__u64)a >= (__u64)b;
}

EXPRESSION_INLINE bool expression_less(bool is_signed, __s64 a, __s64 b)
{
	return is_signed ? a < b : (__u64)a < (__u64)b;
}

EXPRESSION_INLINE bool expression_shift(__u32 op, bool is_signed, __s64 a, __s64 b, __s64 *ret)
{
	if ((__u64)b > 63)
		return false;
	*ret = op == WIRE_STEP_SHL ? (__s64)((__u64)a << b)
	       : is_signed	   ? a >> b
				   : (__s64)((__u64)a >> b);
	return op != WIRE_STEP_SHL || (is_signed ? *ret >> b == a : (__u64)*ret >> b == (__u64)a);
}

/* An operation of two values. False: it has no result. */
EXPRESSION_INLINE bool expression_operate(__u32 op, bool is_signed, __s64 a, __s64 b, __s64 *ret)
{
	switch (op) {
	case WIRE_STEP_AND:
		*ret = a & b;
		return true;
	case WIRE_STEP_OR:
		*ret = a | b;
		return true;
	case WIRE_STEP_XOR:
		*ret = a ^ b;
		return true;
	case WIRE_STEP_SHL:
	case WIRE_STEP_SHR:
		return expression_shift(op, is_signed, a, b, ret);
	case WIRE_STEP_ADD:
		return expression_add(is_signed, a, b, ret);
	case WIRE_STEP_SUB:
		return expression_subtract(is_signed, a, b, ret);
	case WIRE_STEP_MUL:
	case WIRE_STEP_DIV:
	case WIRE_STEP_MOD:
		return expression_scale(op, is_signed, a, b, ret);
	case WIRE_STEP_EQ:
		*ret = a == b;
		return true;
	case WIRE_STEP_NE:
		*ret = a != b;
		return true;
	case WIRE_STEP_LT:
		*ret = expression_less(is_signed, a, b);
		return true;
	case WIRE_STEP_LE:
		*ret = !expression_less(is_signed, b, a);
		return true;
	case WIRE_STEP_GT:
		*ret = expression_less(is_signed, b, a);
		return true;
	case WIRE_STEP_GE:
		*ret = !expression_less(is_signed, a, b);
		return true;
	default:
		return false;
	}
}

/* The automaton's positions behind one more character. */
EXPRESSION_INLINE __u64 expression_follow(__u64 accepts, __u64 stays, __u64 positions)
{
	return (positions & accepts) << 1 | (positions & stays);
}

#endif
