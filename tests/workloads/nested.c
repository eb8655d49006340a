// SPDX-License-Identifier: GPL-2.0-or-later
/* nested [MS]: main -> outer -> middle -> inner -> burn, for MS of CPU time or for ever. */
#include "burn.h"

__attribute__((noinline)) void inner(uint64_t ns);
__attribute__((noinline)) void middle(uint64_t ns);
__attribute__((noinline)) void outer(uint64_t ns);

void inner(uint64_t ns)
{
	burn(ns);
}

void middle(uint64_t ns)
{
	inner(ns);
}

void outer(uint64_t ns)
{
	middle(ns);
}

int main(int argc, char **argv)
{
	say_ready();
	outer(ns_argument(argc, argv, 1));
	return 0;
}
