// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O2 -fomit-frame-pointer
/* fork, vfork (whose child borrows the stack), posix_spawn. */
#include <spawn.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include "case.h"

static NOINLINE long work(long n)
{
	sink += n;
	return n + 1;
}

static NOINLINE void with_fork(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		sink += work(1);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static NOINLINE void with_vfork(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		sink += work(2);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static NOINLINE void with_spawn(void)
{
	char *argv[] = { "true", NULL }, *envp[] = { NULL };
	pid_t pid;

	if (posix_spawn(&pid, "/bin/true", NULL, NULL, argv, envp) == 0)
		waitpid(pid, NULL, 0);
}

int main(void)
{
	take_signals();
	with_fork();
	with_vfork();
	with_spawn();
	return 0;
}
