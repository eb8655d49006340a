// SPDX-License-Identifier: GPL-2.0-or-later
/* system_calls MS: reads zeros for MS of CPU time; `read_zeros` calls into the kernel. */
#include <fcntl.h>

#include "burn.h"

static __attribute__((noinline)) void read_zeros(uint64_t ns)
{
	static char zeros[1 << 18];
	uint64_t end = cpu_ns() + ns;
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	while (!ns || cpu_ns() < end)
		if (read(fd, zeros, sizeof(zeros)) < 0)
			exit(1);
}

int main(int argc, char **argv)
{
	say_ready();
	read_zeros(ns_argument(argc, argv, 1));
	return 0;
}
