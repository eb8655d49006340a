// SPDX-License-Identifier: GPL-2.0-or-later
#include "confined/filter.h"

#include <sys/prctl.h>

int filter_set(struct sock_filter *filter, size_t n)
{
	const struct sock_fprog program = { (unsigned short)n, filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0 ? -errno : 0;
}
