// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O2 -fomit-frame-pointer
/* Called by the C library: qsort, bsearch, printf, atexit. callbacks [ROUNDS] */
#include <stdio.h>
#include <stdlib.h>

#include "case.h"

static NOINLINE int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	sink++;
	return (x > y) - (x < y);
}

static void at_exit(void)
{
	sink++;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1;
	char text[64];
	int numbers[64];

	take_signals();
	atexit(at_exit);
	for (long round = 0; round < rounds; round++) {
		for (int i = 0; i < 64; i++)
			numbers[i] = i * 37 % 64;
		qsort(numbers, 64, sizeof(*numbers), compare);
		sink += bsearch(&numbers[5], numbers, 64, sizeof(*numbers), compare) != NULL;
		snprintf(text, sizeof(text), "%d %s %.2f", numbers[1], "text", numbers[2] / 3.0);
	}
	return 0;
}
