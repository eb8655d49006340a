// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * holds_readers: threads that sleep, one on a stack whose memory is gone, so that whoever reads it
 * waits for this process (userfaultfd(2)), which does not answer. Prints `ready PID` then, or
 * `skip`.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STACK (256 << 10)

static _Atomic int asleep; /* ids of threads that are about to sleep */

static void *sleep_here(void *name)
{
	prctl(PR_SET_NAME, name);
	asleep = (int)syscall(SYS_gettid);
	for (;;)
		pause();
}

/* Whether the thread sleeps in pause(). */
static int sleeps(int tid)
{
	char path[64], text[32] = "";
	int fd, n;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	fd = open(path, O_RDONLY);
	n = fd < 0 ? 0 : (int)read(fd, text, sizeof(text) - 1);
	close(fd);
	return n > 0 && atoi(text) == SYS_pause && text[0] != 'r';
}

static void start(const char *name, void *stack)
{
	pthread_attr_t attributes;
	pthread_t thread;

	asleep = 0;
	pthread_attr_init(&attributes);
	if (stack)
		pthread_attr_setstack(&attributes, stack, STACK);
	if (pthread_create(&thread, &attributes, sleep_here, (void *)name))
		exit(1);
	while (!asleep || !sleeps(asleep))
		usleep(1000);
}

int main(void)
{
	void *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = {
		.range = { (unsigned long)stack, STACK },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	if (stack == MAP_FAILED || fd < 0 || ioctl(fd, UFFDIO_API, &api) < 0) {
		printf("skip\nready %d\n", (int)getpid());
		return 0;
	}
	start("usual", NULL);
	start("holder", stack);
	if (ioctl(fd, UFFDIO_REGISTER, &range) < 0 || madvise(stack, STACK, MADV_DONTNEED) < 0)
		return 1;
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	for (;;)
		pause();
}
