// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sc_usdt now|wait N: fires sc_one:hit, sc_two:hit and sc_one:other N times each. With `wait` it
 * prints `ready PID`, fires them for each SIGUSR1, and prints `done N`.
 */
#include <sys/sdt.h>

#include "sc_rounds.h"

__attribute__((noipa)) void fire(unsigned long i)
{
	DTRACE_PROBE1(sc_one, hit, i);
	DTRACE_PROBE(sc_two, hit);
	DTRACE_PROBE2(sc_one, other, i, i + 1);
}

int main(int argc, char **argv)
{
	return rounds(argc, argv, fire);
}
