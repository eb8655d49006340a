// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O2 -fomit-frame-pointer -Wl,-z,lazy
/* An IFUNC: a resolver in the program returns its address. */
#include "case.h"

static long chosen(long n)
{
	sink += n;
	return n + 1;
}

static NOINLINE long ask(void)
{
	return sink;
}

static long (*resolve(void))(long)
{
	sink += ask();
	return chosen;
}

long indirect(long n) __attribute__((ifunc("resolve")));

int main(void)
{
	take_signals();
	sink += indirect(1);
	sink += indirect(2);
	return 0;
}
