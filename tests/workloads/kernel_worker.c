// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A process with a thread that runs in the kernel only: io_uring's, which polls for requests for a
 * quarter of an hour after the one that it gets. Says `refused` where the kernel does not make one.
 */
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Puts a request that does nothing into the ring. False: it cannot be mapped. */
static int submit(int ring, const struct io_uring_params *params)
{
	char *queue =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
	struct io_uring_sqe *request =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);

	if (queue == MAP_FAILED || request == MAP_FAILED)
		return 0;
	request->opcode = IORING_OP_NOP;
	*(uint32_t *)(void *)(queue + params->sq_off.array) = 0;
	__atomic_store_n((uint32_t *)(void *)(queue + params->sq_off.tail), 1, __ATOMIC_RELEASE);
	syscall(SYS_io_uring_enter, ring, 1, 0, IORING_ENTER_SQ_WAKEUP, NULL, 0);
	return 1;
}

int main(void)
{
	struct io_uring_params params = { .flags = IORING_SETUP_SQPOLL, .sq_thread_idle = 900000 };
	long ring = syscall(SYS_io_uring_setup, 8, &params);

	if (ring < 0 || !submit((int)ring, &params)) {
		puts("refused");
		return 0;
	}
	printf("ready %d\n", getpid());
	fflush(stdout);
	for (;;)
		pause();
}
