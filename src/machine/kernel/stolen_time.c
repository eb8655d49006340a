// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/stolen_time.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own.h"

uint64_t stolen_time_ns(void)
{
	own(own_file) FILE *file = fopen("/proc/stat", "re");
	long per_second = sysconf(_SC_CLK_TCK);
	uint64_t ticks;

	/* user, nice, system, idle, iowait, irq, softirq, steal */
	if (!file || per_second <= 0 ||
	    fscanf(file, "cpu %*u %*u %*u %*u %*u %*u %*u %" SCNu64, &ticks) != 1)
		return 0;
	return ticks * (NS_PER_SECOND / (uint64_t)per_second);
}
