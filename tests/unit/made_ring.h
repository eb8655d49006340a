/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file in memory that has the layout of a BPF ring buffer (kernel/bpf/ringbuf.c), and into which
 * a test writes records: for drain/ring.h, which maps it as it would map the kernel's.
 */
#ifndef STACKTALLY_TESTS_MADE_RING_H
#define STACKTALLY_TESTS_MADE_RING_H

#include <linux/bpf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

struct made_ring {
	int fd;
	size_t page, size;
	char *memory; /* the consumer's position, the producer's, the data */
};

/* `size` is a power of two, and at least a page. */
static inline struct made_ring made_ring_open(size_t size)
{
	struct made_ring ring = { .page = (size_t)sysconf(_SC_PAGESIZE), .size = size };
	size_t whole = 2 * ring.page + size;

	ring.fd = memfd_create("ring", MFD_CLOEXEC);
	assert_true(ring.fd >= 0);
	assert_int_equal(ftruncate(ring.fd, (off_t)whole), 0);
	ring.memory = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, 0);
	assert_true(ring.memory != MAP_FAILED);
	return ring;
}

static inline void made_ring_close(struct made_ring *ring)
{
	munmap(ring->memory, 2 * ring->page + ring->size);
	close(ring->fd);
}

/* Where a position of the ring is in memory, as records do not wrap here. */
static inline unsigned long *made_ring_position(const struct made_ring *ring, size_t which)
{
	return (unsigned long *)(ring->memory + which * ring->page);
}

/* Whether all that was put has been consumed. */
static inline int made_ring_is_empty(const struct made_ring *ring)
{
	return *made_ring_position(ring, 0) == *made_ring_position(ring, 1);
}

/* Appends a record; there must be room up to the end of the data. */
static inline void made_ring_put(const struct made_ring *ring, const void *record, uint32_t size)
{
	unsigned long *end = made_ring_position(ring, 1), at = *end & (ring->size - 1);
	char *to = ring->memory + 2 * ring->page + at;

	assert_true(at + BPF_RINGBUF_HDR_SZ + size <= ring->size);
	memcpy(to, &size, sizeof(size));
	memcpy(to + BPF_RINGBUF_HDR_SZ, record, size);
	__atomic_store_n(end, *end + ((size + BPF_RINGBUF_HDR_SZ + 7ul) & ~7ul), __ATOMIC_RELEASE);
}

#endif
