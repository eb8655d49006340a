// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/paranoid.h"

#include <stdio.h>

#include "base/own.h"

/* The highest level of Linux. Distributions add more, where only CAP_SYS_ADMIN has perf events. */
#define LEVEL_MAX 2

const char *paranoid_remedy(void)
{
	own(own_file) FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int level;

	if (file && fscanf(file, "%d", &level) == 1 && level > LEVEL_MAX)
		return "kernel.perf_event_paranoid is above 2, so only root (CAP_SYS_ADMIN) may; "
		       "with sysctl kernel.perf_event_paranoid=2, CAP_PERFMON is enough";
	return "it takes root or CAP_PERFMON (`setcap "
	       "cap_bpf,cap_perfmon,cap_sys_ptrace,cap_syslog+ep` on this program), or sysctl "
	       "kernel.perf_event_paranoid=-1";
}
