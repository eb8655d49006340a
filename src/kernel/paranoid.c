// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/paranoid.h"

#include <stdio.h>

#include "base/own.h"

/* Linux has levels up to 2; distributions that add 3 leave perf events to CAP_SYS_ADMIN there. */
#define PARANOID_MOST 2

const char *paranoid_remedy(void)
{
	own(own_file) FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int level;

	if (file && fscanf(file, "%d", &level) == 1 && level > PARANOID_MOST)
		return "as kernel.perf_event_paranoid is above 2 here, it takes root "
		       "(CAP_SYS_ADMIN); after sysctl kernel.perf_event_paranoid=2, CAP_PERFMON "
		       "will do";
	return "it takes root or CAP_PERFMON (`setcap "
	       "cap_bpf,cap_perfmon,cap_sys_ptrace,cap_syslog+ep` on this program), or sysctl "
	       "kernel.perf_event_paranoid=-1";
}
