/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The side-band event of one CPU and its ring buffer (perf_event_open(2), "MMAP layout"): gives the
 * records one by one, each as contiguous bytes. Must not know: what the records mean.
 */
#ifndef STACKTALLY_PROCESS_PERF_RING_H
#define STACKTALLY_PROCESS_PERF_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_event_mmap_page;

struct perf_ring {
	int fd;
	int cpu;
	struct perf_event_mmap_page *page; /* one page; the data follows */
	size_t mapped;			   /* bytes, of both */
	uint64_t head, tail;		   /* [tail, head) is unread */
	uint64_t enabled;		   /* ns, by the kernel's count, when it was last asked */
	char *bounce;			   /* a copy of a record that wraps around the end */
};

/* 0 or a negative errno; -ENODEV or -ENXIO: the CPU is not online. */
int perf_ring_open(int cpu, struct perf_ring *ret_ring);
void perf_ring_close(struct perf_ring *ring);

/* False once its CPU has been offline, even if that is back: its event counts nothing any more. */
bool perf_ring_is_alive(struct perf_ring *ring);

/* Makes the records visible that were written until now. */
void perf_ring_update(struct perf_ring *ring);

/* The next record and its size in bytes, or NULL; valid until it is consumed. */
const void *perf_ring_peek(struct perf_ring *ring, size_t *ret_size);

/* Gives the first `size` bytes back to the kernel. */
void perf_ring_consume(struct perf_ring *ring, size_t size);

#endif
