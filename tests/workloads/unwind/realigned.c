// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O2 -fomit-frame-pointer
/* Functions that align their stack anew: the CFA is kept in memory, reached from rbp. */
#include "case.h"

typedef double wide __attribute__((vector_size(32)));

static NOINLINE long leaf(volatile wide *values)
{
	return (long)((volatile double *)values)[1];
}

static NOINLINE __attribute__((target("avx"))) long aligned(int n)
{
	volatile wide values[4] = {};

	values[n & 3] = (wide){ n, n + 1, n + 2, n + 3 };
	return leaf(&values[n & 3]);
}

static NOINLINE __attribute__((target("avx"))) long
aligned_and_variable(int n, long a, long b, long c, long d, long e, long f, long g)
{
	volatile wide values[2] = {};
	volatile char *more = __builtin_alloca(n * 16);

	more[0] = (char)(a + b + c + d + e + f + g);
	values[n & 1] = (wide){ more[0], n, n, n };
	return leaf(&values[n & 1]) + leaf(&values[0]) + aligned(n);
}

static NOINLINE long aligned_64(int n)
{
	_Alignas(64) volatile char bytes[128];

	bytes[0] = (char)n;
	sink += bytes[0];
	return aligned_and_variable(n, 1, 2, 3, 4, 5, 6, 7) + 1;
}

int main(void)
{
	take_signals();
	sink = aligned_64(3);
	if (__builtin_cpu_supports("avx"))
		sink += aligned(2);
	return 0;
}
