// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/idle_time.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own.h"

void idle_times_ns(uint64_t *ret_ns, uint32_t n)
{
	own(own_file) FILE *file = fopen("/proc/stat", "re");
	long per_second = sysconf(_SC_CLK_TCK);
	own(own_free) char *line = NULL;
	uint64_t idle, waiting;
	size_t size = 0;
	uint32_t cpu;

	if (!file || per_second <= 0)
		return;
	/* user, nice, system, idle, iowait */
	while (getline(&line, &size, file) > 0)
		if (sscanf(line, "cpu%" SCNu32 " %*u %*u %*u %" SCNu64 " %" SCNu64, &cpu, &idle,
			   &waiting) == 3 &&
		    cpu < n)
			ret_ns[cpu] = (idle + waiting) * (NS_PER_SECOND / (uint64_t)per_second);
}
