// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O2 -fomit-frame-pointer
/* probed: calls the probed function for ever, from functions without frame pointers. */
#include <stdio.h>
#include <sys/sdt.h>
#include <unistd.h>

static volatile long sink;

__attribute__((noinline, noclone)) long target(long n)
{
	DTRACE_PROBE1(sampled, target, n);
	sink += n;
	return n * 3;
}

__attribute__((noinline, noclone)) static long middle(long n)
{
	volatile long numbers[37];

	numbers[n % 37] = target(n) + getppid();
	return target(numbers[n % 37]) + 1;
}

__attribute__((noinline, noclone)) static long outer(long n)
{
	return middle(n) + middle(n + 1) + 1;
}

int main(void)
{
	printf("ready %d\n", getpid());
	fflush(stdout);
	for (long n = 0;; n++)
		sink += outer(n & 0xffff);
}
