// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O1 -fomit-frame-pointer
/*
 * vsyscall MS: outer() calls time() of the page of vsyscalls for MS of CPU time, as programs of old
 * Linux systems and static ones do. Exits with 3 if this kernel has no such page (vsyscall=none).
 */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

#include "burn.h"

static sigjmp_buf refused;

static void on_fault(int number)
{
	(void)number;
	siglongjmp(refused, 1);
}

static __attribute__((noinline)) long outer(uint64_t until)
{
	long (*time_there)(long *) = (long (*)(long *))0xffffffffff600400ul;
	long sum = 0;

	while (cpu_ns() < until)
		for (int i = 0; i < 1000; i++)
			sum += time_there(NULL);
	return sum;
}

int main(int argc, char **argv)
{
	if (argc != 2 || sigsetjmp(refused, 1))
		return 3;
	signal(SIGSEGV, on_fault);
	return outer(cpu_ns() + strtoull(argv[1], NULL, 10) * 1000000) == 0;
}
