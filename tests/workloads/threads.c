// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * threads N MS: N threads named worker-0, worker-1, ... burn MS of CPU time each (0: for ever).
 * Prints `worker-I TID` for each, then `ready PID`.
 */
#include <pthread.h>
#include <sys/syscall.h>

#include "burn.h"

static pthread_barrier_t all_named;
static uint64_t each_ns;

static __attribute__((noinline)) void *work(void *argument)
{
	char name[16];

	snprintf(name, sizeof(name), "worker-%d", (int)(intptr_t)argument);
	pthread_setname_np(pthread_self(), name);
	printf("%s %ld\n", name, syscall(SYS_gettid));
	pthread_barrier_wait(&all_named);
	burn(each_ns);
	return NULL;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t *threads = calloc((size_t)n, sizeof(*threads));

	if (!threads)
		return 1;
	each_ns = ns_argument(argc, argv, 2);
	pthread_barrier_init(&all_named, NULL, (unsigned int)n + 1);
	for (int i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i))
			return 1;
	pthread_barrier_wait(&all_named);
	say_ready();
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
