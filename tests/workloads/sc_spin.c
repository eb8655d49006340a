// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sc_spin: the program of bcc's recorded reports: `func_a` with twice the turns of `func_b` and, in
 * each turn, a read and an allocation. `sc_spin threads`: thread worker-a runs func_a for ever,
 * worker-b func_b; prints `worker-a TID`. Both print `ready PID`.
 * cflags: -O2 -fno-omit-frame-pointer
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile unsigned long sink;
static pthread_barrier_t named;

/* The counter is on the stack: gcc makes no frame for a function without any. */
static __attribute__((noipa)) void spin(unsigned long turns)
{
	for (volatile unsigned long i = 0; i < turns; i++)
		sink += i;
}

static __attribute__((noipa)) void func_a(unsigned long turns)
{
	do
		spin(100000);
	while (!turns);
	sink++;
}

static __attribute__((noipa)) void func_b(unsigned long turns)
{
	do
		spin(50000);
	while (!turns);
	sink++;
}

__attribute__((noipa)) void do_read(int fd)
{
	char bytes[64];

	if (pread(fd, bytes, sizeof(bytes), 0) < 0)
		exit(1);
	sink++;
}

__attribute__((noipa)) void *do_alloc(void)
{
	void *memory = malloc(100 + sink % 7);

	sink++;
	return memory;
}

static void begin_thread(const char *name)
{
	pthread_setname_np(pthread_self(), name);
	printf("%s %ld\n", name, syscall(SYS_gettid));
	pthread_barrier_wait(&named);
}

static __attribute__((noipa)) void *ta(void *argument)
{
	begin_thread("worker-a");
	func_a(0);
	return argument;
}

static __attribute__((noipa)) void *tb(void *argument)
{
	begin_thread("worker-b");
	func_b(0);
	return argument;
}

static int threads(void)
{
	pthread_t a, b;

	pthread_barrier_init(&named, NULL, 3);
	if (pthread_create(&a, NULL, ta, NULL) || pthread_create(&b, NULL, tb, NULL))
		return 1;
	pthread_barrier_wait(&named);
	printf("ready %d\n", getpid());
	fflush(stdout);
	return pthread_join(a, NULL);
}

int main(int argc, char **argv)
{
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);

	if (argc > 1 && strcmp(argv[1], "threads") == 0)
		return threads();
	printf("ready %d\n", getpid());
	fflush(stdout);
	for (;;) {
		func_a(1);
		func_b(1);
		do_read(fd);
		free(do_alloc());
	}
}
