// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O2 -fomit-frame-pointer
/*
 * Frames as compilers make them: pushes and pops, no frame at all, tail calls, calls that do not
 * return at the very end of a function, cold parts, variable and huge frames.
 */
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include "case.h"

static NOINLINE long red_zone_leaf(long n)
{
	volatile long below[8];

	for (int i = 0; i < 8; i++)
		below[i] = n + i;
	return below[n & 7];
}

static NOINLINE long many_pushes(long a, long b, long c, long d, long e, long f)
{
	long g = red_zone_leaf(a), h = red_zone_leaf(b), i = red_zone_leaf(c);

	return red_zone_leaf(d) + red_zone_leaf(e) + red_zone_leaf(f) + g * h + i * a + b * c +
	       d * e;
}

static NOINLINE long on_stack_arguments(long a, long b, long c, long d, long e, long f, long g,
					long h, long i)
{
	return many_pushes(a, b, c, d, e, f) + g + h + i;
}

static NOINLINE long tail(long n)
{
	sink += n;
	return red_zone_leaf(n + 1);
}

static long (*volatile through)(long) = tail;

static NOINLINE long tail_indirect(long n)
{
	sink += n;
	return through(n);
}

static NOINLINE long variable(unsigned long n)
{
	char array[n];

	memset(array, (int)n, n);
	return red_zone_leaf(array[n / 2]);
}

static NOINLINE long allocated(unsigned long n)
{
	long sum = 0;

	for (unsigned long i = 1; i < n; i++) {
		volatile char *bytes = __builtin_alloca(i * 16);

		bytes[0] = (char)i;
		sum += red_zone_leaf(bytes[0]);
	}
	return sum;
}

#define BIG_FRAME(name, size)                                                                      \
	static NOINLINE long name(long n)                                                          \
	{                                                                                          \
		volatile char big[size];                                                           \
                                                                                                   \
		big[0] = (char)n;                                                                  \
		big[size - 1] = 1;                                                                 \
		return red_zone_leaf(big[0] + big[size - 1]);                                      \
	}
BIG_FRAME(frame_100k, 100 << 10)
BIG_FRAME(frame_3m, 3 << 20)
BIG_FRAME(frame_12m, 12 << 20)

static jmp_buf back;

static NOINLINE __attribute__((noreturn)) void never_returns(long n)
{
	sink += red_zone_leaf(n);
	longjmp(back, 1);
}

/* Ends with a call: the return address is the first byte of the next function. */
static NOINLINE long ends_in_call(long n)
{
	sink += n;
	never_returns(n);
}

static NOINLINE long after_it(long n)
{
	return red_zone_leaf(n) - 1;
}

static NOINLINE __attribute__((cold)) long rare(long n)
{
	return red_zone_leaf(n * 3);
}

static NOINLINE long with_cold_part(long n)
{
	long sum = red_zone_leaf(n);

	if (__builtin_expect(n > 2, 0)) {
		sum += rare(n);
		sum *= rare(sum);
		sink += sum;
	}
	return sum + red_zone_leaf(sum);
}

int main(void)
{
	take_signals();
	sink = on_stack_arguments(1, 2, 3, 4, 5, 6, 7, 8, 9);
	sink = tail(2);
	sink = tail_indirect(2);
	sink = variable(33) + variable(600);
	sink = allocated(6);
	sink = frame_100k(1) + frame_3m(2) + frame_12m(3);
	if (!setjmp(back))
		sink = ends_in_call(4);
	sink = after_it(5);
	sink = with_cold_part(1) + with_cold_part(3);
	return 0;
}
