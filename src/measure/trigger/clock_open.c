// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/clock_open.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"
#include "base/seccomp.h"
#include "kernel/paranoid.h"

static uint64_t max_sample_rate(void)
{
	own(own_file) FILE *file = fopen("/proc/sys/kernel/perf_event_max_sample_rate", "re");
	unsigned long long rate;

	return file && fscanf(file, "%llu", &rate) == 1 ? rate : 0;
}

int clock_explain_open(const struct perf_event_attr *attr, const char *event, int cpu, int code,
		       struct error *err)
{
	uint64_t rate = max_sample_rate();
	char text[SECCOMP_REMEDY_SIZE];
	const char *filter = seccomp_remedy("perf_event_open", code, text, sizeof(text));

	if (filter)
		return error_privilege(err, code, "cannot open the event %s on CPU %d: %s; %s",
				       event, cpu, strerror(-code), filter);
	switch (-code) {
	case EACCES:
	case EPERM:
		return error_privilege(err, code, "cannot open the event %s on CPU %d: %s; %s",
				       event, cpu, strerror(-code), paranoid_remedy());
	case EINVAL:
		if (attr->freq && rate && attr->sample_freq > rate)
			return error_set(err, code,
					 "%llu Hertz is more than this kernel allows: sysctl "
					 "kernel.perf_event_max_sample_rate is %llu; raise it, or "
					 "sample less often with -F",
					 (unsigned long long)attr->sample_freq,
					 (unsigned long long)rate);
		return error_set(err, code,
				 "the kernel refuses the event %s on CPU %d with this rate or "
				 "period (%s)",
				 event, cpu, strerror(-code));
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		return error_set(err, code,
				 "this machine has no event %s (%s): a virtual machine often has "
				 "no performance counters; -e cpu-clock works everywhere",
				 event, strerror(-code));
	case EBUSY:
		return error_set(err, code,
				 "the event %s on CPU %d is busy: another profiler holds the "
				 "performance counter",
				 event, cpu);
	case EMFILE:
		return error_set(err, code,
				 "too many open files for one event a CPU: raise `ulimit -n`");
	default:
		return error_set(err, code, "cannot open the event %s on CPU %d: %s", event, cpu,
				 strerror(-code));
	}
}

int clock_open(struct perf_event_attr *attr, int cpu)
{
	long fd = syscall(SYS_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}
