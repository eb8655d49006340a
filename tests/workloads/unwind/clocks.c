// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O2 -fomit-frame-pointer
/* Clocks read through the vDSO and by system calls. */
#include <sched.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "case.h"

static NOINLINE long now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_nsec;
}

int main(void)
{
	struct timeval tv;
	char byte;
	int ends[2];

	take_signals();
	for (clockid_t clock = 0; clock < 8; clock++)
		sink += now(clock);
	gettimeofday(&tv, NULL);
	sink += time(NULL) + sched_getcpu();
	if (pipe(ends) || write(ends[1], "x", 1) != 1 || read(ends[0], &byte, 1) != 1)
		return 1;
	return 0;
}
