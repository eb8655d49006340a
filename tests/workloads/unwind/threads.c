// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O2 -fomit-frame-pointer
/* Threads from pthread_create and from clone; thread-local storage, cancellation and exit. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "case.h"

static __thread long own;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void do_once(void)
{
	sink++;
}

static NOINLINE void *body(void *argument)
{
	own = (long)argument;
	pthread_once(&once, do_once);
	sink += own;
	if (own == 2)
		pthread_exit(NULL);
	return NULL;
}

static NOINLINE int cloned(void *argument)
{
	sink += *(int *)argument;
	return 0;
}

int main(void)
{
	size_t size = 65536;
	char *area = mmap(NULL, size + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t threads[2];
	int number = 7;
	pid_t pid;

	if (area == MAP_FAILED || mprotect(area + 4096, size, PROT_READ | PROT_WRITE))
		return 1;
	take_signals();
	for (long i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, body, (void *)(i + 1)))
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	pid = clone(cloned, area + 4096 + size, CLONE_VM | SIGCHLD, &number);
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		return 1;
	return 0;
}
