/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory of other processes. A process can have a read of its memory last for ever: by
 * userfaultfd(2), or a mapped file of a file system that does not respond. So a thread of its own
 * reads, and whoever asks waits for a second at most; after that, nothing more is read of that
 * process, and of none after some such processes.
 */
#ifndef STACKTALLY_PROCESS_REMOTE_MEMORY_H
#define STACKTALLY_PROCESS_REMOTE_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define REMOTE_MEMORY_MAX 65536 /* bytes of a read */

struct remote_memory;

/* 0 or a negative errno. */
int remote_memory_new(struct remote_memory **ret_memory);
/* May be NULL. Threads that still read go on until this process ends. */
void remote_memory_free(struct remote_memory *memory);

struct remote_place {
	pid_t tgid, tid; /* the process, and one of its threads */
	uint64_t address;
};

/* How many of the bytes there could be read; 0 for none. */
size_t remote_memory_read(struct remote_memory *memory, const struct remote_place *from, void *to,
			  size_t size);

#endif
