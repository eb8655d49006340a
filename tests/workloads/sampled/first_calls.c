// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O2 -fomit-frame-pointer
/*
 * first_calls N [LEVELS]: calls the probed functions N times right from its start, through LEVELS
 * calls of qsort(), which calls back, and ends. first_calls wait: prints `ready PID` and waits. The
 * callers keep no frame pointer and have frames of FRAME bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef FRAME
#define FRAME 40
#endif

static volatile long sink;
static int levels;

__attribute__((noinline, noclone)) long target(long n)
{
	__asm__ volatile("nop"); /* the probed instruction: the kernel emulates it */
	sink += n;
	return n * 3;
}

__attribute__((noinline, noclone)) static long outer(long n)
{
	volatile char bytes[FRAME];

	bytes[n % FRAME] = (char)target(n);
	return getppid() + bytes[n % FRAME];
}

__attribute__((noinline, noclone)) static int compare(const void *a, const void *b)
{
	long numbers[] = { 2, 1 };

	if (levels-- > 0)
		qsort(numbers, 2, sizeof(*numbers), compare);
	else
		sink += outer(numbers[0]);
	return a < b;
}

int main(int argc, char **argv)
{
	long numbers[] = { 2, 1 };

	if (argc < 2)
		return 2;
	if (strcmp(argv[1], "wait") == 0) {
		printf("ready %d\n", getpid());
		fflush(stdout);
		pause();
	}
	for (long n = atol(argv[1]); n > 0; n--) {
		levels = argc > 2 ? atoi(argv[2]) : 0;
		if (levels)
			qsort(numbers, 2, sizeof(*numbers), compare);
		else
			sink += outer(n);
	}
	return 0;
}
