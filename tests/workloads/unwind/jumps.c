// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O2 -fomit-frame-pointer -D_FORTIFY_SOURCE=2
/* longjmp out of several frames, plain and checked; sigsetjmp with and without the mask. */
#include <setjmp.h>

#include "case.h"

static jmp_buf plain;
static sigjmp_buf with_mask;

static NOINLINE long descend(long n, int which)
{
	long sum;

	if (n == 0) {
		if (which)
			siglongjmp(with_mask, which);
		longjmp(plain, 1);
	}
	sum = descend(n - 1, which);
	sink += sum;
	return sum + n;
}

int main(void)
{
	take_signals();
	if (!setjmp(plain))
		sink += descend(3, 0);
	if (!sigsetjmp(with_mask, 1))
		sink += descend(3, 1);
	if (!sigsetjmp(with_mask, 0))
		sink += descend(2, 2);
	return 0;
}
