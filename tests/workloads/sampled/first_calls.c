// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O2 -fomit-frame-pointer
/*
 * first_calls N: from its start calls what probes are put on N times, and ends. first_calls wait:
 * says `ready PID` and waits. Both from functions without frame pointers, of FRAME bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef FRAME
#define FRAME 40
#endif

static volatile long sink;

__attribute__((noinline, noclone)) long target(long n)
{
	sink += n;
	return n * 3;
}

__attribute__((noinline, noclone)) static long outer(long n)
{
	volatile char bytes[FRAME];

	bytes[n % FRAME] = (char)target(n);
	return getppid() + bytes[n % FRAME];
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	if (strcmp(argv[1], "wait") == 0) {
		printf("ready %d\n", getpid());
		fflush(stdout);
		pause();
	}
	for (long n = atol(argv[1]); n > 0; n--)
		sink += outer(n);
	return 0;
}
