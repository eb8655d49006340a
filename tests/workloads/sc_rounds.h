/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A known number of turns, at once (`now N`) or for each SIGUSR1 (`wait N`) until SIGTERM. */
#ifndef SC_ROUNDS_H
#define SC_ROUNDS_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static __attribute__((noinline)) void turns(unsigned long n, void (*turn)(unsigned long))
{
	for (unsigned long i = 0; i < n; i++)
		turn(i);
	printf("done %lu\n", n);
	fflush(stdout);
}

static inline int rounds(int argc, char **argv, void (*turn)(unsigned long))
{
	unsigned long n = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	sigset_t set;
	int signal;

	if (argc < 3)
		return 2;
	if (strcmp(argv[1], "wait") != 0) {
		turns(n, turn);
		return 0;
	}
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	printf("ready %d\n", getpid());
	fflush(stdout);
	while (sigwait(&set, &signal) == 0 && signal == SIGUSR1)
		turns(n, turn);
	return 0;
}

#endif
