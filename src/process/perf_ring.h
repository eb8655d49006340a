/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The side-band event of one CPU and its ring: opens it, gives its records one by one as bytes in a
 * row. Must not know: what the records mean.
 */
#ifndef STACKTALLY_PROCESS_PERF_RING_H
#define STACKTALLY_PROCESS_PERF_RING_H

#include <stddef.h>
#include <stdint.h>

struct perf_event_mmap_page;

struct perf_ring {
	int fd;
	int cpu;
	struct perf_event_mmap_page *page; /* then the data */
	size_t mapped;
	uint64_t head, tail; /* [tail, head) is to be read */
	char *bounce;	     /* for records that wrap around the end */
};

/* 0 or a negative errno; -ENODEV or -ENXIO: the CPU is not online. */
int perf_ring_open(int cpu, struct perf_ring *ret_ring);
void perf_ring_close(struct perf_ring *ring);

/* Takes in what was written until now. */
void perf_ring_look(struct perf_ring *ring);
/* The next record, or NULL; valid until it is passed. */
const void *perf_ring_peek(struct perf_ring *ring, size_t *ret_size);
/* Gives its room back to the kernel. */
void perf_ring_pass(struct perf_ring *ring, size_t size);

#endif
