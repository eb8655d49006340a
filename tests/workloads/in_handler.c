// SPDX-License-Identifier: GPL-2.0-or-later
/* in_handler MS: main -> at_work, interrupted by a signal, whose handler burns CPU time. */
#include <signal.h>

#include "burn.h"

static uint64_t wanted;

static void handler(int number)
{
	(void)number;
	burn(wanted);
}

__attribute__((noinline)) void at_work(void)
{
	raise(SIGUSR1);
}

int main(int argc, char **argv)
{
	signal(SIGUSR1, handler);
	wanted = ns_argument(argc, argv, 1);
	at_work();
	return 0;
}
