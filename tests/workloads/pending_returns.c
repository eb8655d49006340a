// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pending_returns [MS [short]]: main -> outer -> recursive (10 deep) -> inner -> burn, for MS of
 * CPU time or for ever, in calls of 2 ms, or short ones; and the same after longjmp() has left two
 * of the functions.
 */
#include <setjmp.h>

#include "burn.h"

static uint64_t call_ns = 2000000;

static jmp_buf back;
static volatile int sink;

__attribute__((noipa)) void inner(int leaves)
{
	if (leaves)
		longjmp(back, 1);
	burn(call_ns);
	sink++;
}

__attribute__((noipa)) void recursive(int depth, int leaves)
{
	if (depth > 1)
		recursive(depth - 1, leaves);
	else
		inner(leaves);
	sink++;
}

__attribute__((noipa)) void outer(int depth, int leaves)
{
	recursive(depth, leaves);
	sink++;
}

int main(int argc, char **argv)
{
	uint64_t ns = ns_argument(argc, argv, 1);

	if (argc > 2)
		call_ns = 1000;
	say_ready();
	for (uint64_t n = 0; !ns || n < ns; n += call_ns) {
		if (!setjmp(back))
			outer(4, 1);
		outer(10, 0);
	}
	return 0;
}
