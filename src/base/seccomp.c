// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/seccomp.h"

#include <errno.h>
#include <stdio.h>

#include "base/own.h"

#define MODE_FILTER 2

bool seccomp_is_filtered(void)
{
	own(own_file) FILE *status = fopen("/proc/self/status", "re");
	char line[256];
	int mode = 0;

	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "Seccomp: %d", &mode) == 1)
			break;
	return mode == MODE_FILTER;
}

const char *seccomp_remedy(const char *call, int code, char *ret_text, unsigned int size)
{
	if ((code != -EPERM && code != -EACCES && code != -ENOSYS) || !seccomp_is_filtered())
		return NULL;
	snprintf(
		ret_text, size,
		"a seccomp filter is on this process (Seccomp: 2 in /proc/self/status), as "
		"container engines and service managers set for root, too; allow %s in its profile "
		"(docker: --security-opt seccomp=..., systemd: SystemCallFilter=), or run outside "
		"of the sandbox",
		call);
	return ret_text;
}
