// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Places inside of functions, and how often it was there: sc_places TURNS. `place_small`
 * is inlined in three functions, `place_both` inlined and called, `place_loop` inlined and a loop.
 * It prints "NAME COUNT" lines. Tests find lines by their marks.
 * cflags: -O2 -g
 */
#include <stdio.h>
#include <stdlib.h>

static volatile unsigned long sink;
static unsigned long small, both, line, looped;

#define APART __attribute__((noinline, noclone, noipa))

static inline __attribute__((always_inline)) void place_small(unsigned long value)
{
	sink += value * 3; /* MARK: small */
	sink ^= value;
}

/* Its only copy that can be called. */
APART void place_called(unsigned long value)
{
	place_small(value);
	sink--;
}

APART void place_first(unsigned long i)
{
	sink++;
	if (i % 2) {
		place_small(i);
		small++;
	}
	sink++;
}

APART void place_second(unsigned long i)
{
	for (unsigned long j = 0; j < i % 4; j++) {
		place_small(j);
		small++;
	}
}

APART unsigned long place_lines(unsigned long i)
{
	unsigned long value = sink;

	if (i % 3 == 0) {
		value += 7; /* MARK: inside */
		sink = value;
		line++;
	}
	/* MARK: no code */
	return value ^ i; /* MARK: end */
}

static inline unsigned long place_loop(unsigned long n)
{
	unsigned long value = 1;

	while (n--)
		value = value * 7 + sink;
	return value;
}

APART void place_third(unsigned long i)
{
	sink = place_loop(i % 5 + 1);
	looped++;
}

/* Called by its address, and inlined. */
static inline void place_both(unsigned long i)
{
	sink += i;
	sink *= 3;
}

static void (*volatile by_address)(unsigned long) = place_both;

APART void place_fourth(unsigned long i)
{
	sink--;
	place_both(i);
	both++;
	if (i % 2) {
		by_address(i);
		both++;
	}
}

int main(int argc, char **argv)
{
	unsigned long turns = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;

	for (unsigned long i = 0; i < turns; i++) {
		place_first(i);
		place_second(i);
		place_called(i);
		small++;
		place_lines(i);
		place_third(i);
		place_fourth(i);
	}
	printf("small %lu\nboth %lu\nline %lu\nlooped %lu\nturns %lu\n", small, both, line, looped,
	       turns);
	return 0;
}
