// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/capability.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint64_t effective(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };

	if (syscall(SYS_capget, &header, data) < 0)
		return 0;
	return (uint64_t)data[1].effective << 32 | data[0].effective;
}

static bool has(uint64_t set, int capability)
{
	return set >> capability & 1;
}

bool capability_to_find_files(void)
{
	uint64_t set = effective();

	return has(set, CAP_SYS_PTRACE) || has(set, CAP_SYS_ADMIN);
}

bool capability_to_read_files(void)
{
	uint64_t set = effective();

	return has(set, CAP_DAC_READ_SEARCH) || has(set, CAP_DAC_OVERRIDE);
}

int capability_check(struct error *err)
{
	uint64_t set = effective();
	bool bpf = has(set, CAP_BPF), perfmon = has(set, CAP_PERFMON);
	char program[512];
	ssize_t n;

	if (has(set, CAP_SYS_ADMIN) || (bpf && perfmon))
		return 0;
	n = readlink("/proc/self/exe", program, sizeof(program) - 1);
	program[n > 0 ? n : 0] = '\0';
	return error_privilege(
		err, -EPERM,
		"missing %s%s%s: run as root (sudo), or give this program what it "
		"needs with `setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_syslog+ep "
		"%s`",
		bpf ? "" : "CAP_BPF", !bpf && !perfmon ? " and " : "", perfmon ? "" : "CAP_PERFMON",
		n > 0 ? program : "FILE");
}
