/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a thread that sleeps waits for: by its system call (/proc/TID/syscall) and, of a lock, by
 * the lock's own memory. The thread is not stopped. Everything may be hostile: what a process can
 * spoil is what is said of its own threads.
 */
#ifndef STACKTALLY_PROCESS_WAITS_H
#define STACKTALLY_PROCESS_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WAIT_TEXT_SIZE 320

struct thread_wait {
	char text[WAIT_TEXT_SIZE]; /* "in read of fd 5: socket:[1234]", "waits for ..."; of
				      untrusted characters */
	uint32_t thread; /* of the same process, that has what it waits for; 0: not known */
};

struct remote_memory;

/* False: it is in no system call, or that cannot be read. */
bool wait_read(struct remote_memory *memory, uint32_t tgid, uint32_t tid,
	       struct thread_wait *ret_wait);

#endif
