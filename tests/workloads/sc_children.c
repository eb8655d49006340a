// SPDX-License-Identifier: GPL-2.0-or-later
/* sc_children CHILDREN N: calls sc_work N times in itself and in each of CHILDREN children. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned long sink;

__attribute__((noipa)) void sc_work(void)
{
	void *volatile memory = malloc(64);

	sink++;
	free(memory);
}

int main(int argc, char **argv)
{
	int children = argc > 1 ? atoi(argv[1]) : 0;
	unsigned long n = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	pid_t pid = 1;

	for (int i = 0; i < children && pid > 0; i++)
		pid = fork();
	if (pid < 0)
		return 1;
	for (unsigned long i = 0; i < n; i++)
		sc_work();
	while (pid > 0 && wait(NULL) > 0)
		;
	return 0;
}
