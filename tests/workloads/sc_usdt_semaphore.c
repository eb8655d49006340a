// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sc_usdt_semaphore now|wait N: as sc_usdt, but sc_guarded:hit fires only while its semaphore is
 * not 0; sc_guarded:open has a semaphore too, but always fires.
 */
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

#include "sc_rounds.h"

#define SEMAPHORE __attribute__((section(".probes"), used)) volatile unsigned short

extern SEMAPHORE sc_guarded_hit_semaphore, sc_guarded_open_semaphore;
SEMAPHORE sc_guarded_hit_semaphore, sc_guarded_open_semaphore;

__attribute__((noipa)) void fire(unsigned long i)
{
	if (sc_guarded_hit_semaphore)
		DTRACE_PROBE1(sc_guarded, hit, i);
	DTRACE_PROBE(sc_guarded, open);
}

int main(int argc, char **argv)
{
	int status = rounds(argc, argv, fire);

	printf("semaphores %u %u\n", sc_guarded_hit_semaphore, sc_guarded_open_semaphore);
	return status;
}
