// SPDX-License-Identifier: GPL-2.0-or-later
#include "drain/ring.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * The layout of kernel/bpf/ringbuf.c: a page with the consumer's position, a page with the
 * producer's, then the data. A record is a header of 8 bytes, of which the first 4 are the size and
 * two flags, and its bytes, padded to a multiple of 8.
 */
struct ring {
	size_t page, size;
	_Atomic unsigned long *consumer;
	const char *producer; /* the data are one page further */
	char *wrapped;	      /* the copy of the last record that wrapped */
};

int ring_new(int map, size_t size, struct ring **ret_ring)
{
	struct ring *ring = calloc(1, sizeof(*ring));
	void *consumer, *producer;

	if (!ring)
		return -ENOMEM;
	ring->page = (size_t)sysconf(_SC_PAGESIZE);
	ring->size = size;
	consumer = mmap(NULL, ring->page, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
	if (consumer == MAP_FAILED) {
		int code = -errno;

		free(ring);
		return code;
	}
	ring->consumer = consumer;
	producer = mmap(NULL, ring->page + size, PROT_READ, MAP_SHARED, map, (off_t)ring->page);
	if (producer == MAP_FAILED) {
		int code = -errno;

		ring_free(ring);
		return code;
	}
	ring->producer = producer;
	*ret_ring = ring;
	return 0;
}

void ring_free(struct ring *ring)
{
	if (!ring)
		return;
	if (ring->producer)
		munmap((void *)ring->producer, ring->page + ring->size);
	munmap((void *)ring->consumer, ring->page);
	free(ring->wrapped);
	free(ring);
}

/* The record's bytes in one piece, or NULL when out of memory. */
static const void *in_one_piece(struct ring *ring, size_t at, size_t size)
{
	const char *data = ring->producer + ring->page;
	size_t first = ring->size - at;

	if (size <= first)
		return data + at;
	free(ring->wrapped);
	ring->wrapped = malloc(size);
	if (!ring->wrapped)
		return NULL;
	memcpy(ring->wrapped, data + at, first);
	memcpy(ring->wrapped + first, data, size - first);
	return ring->wrapped;
}

static int take_one(struct ring *ring, unsigned long position, uint32_t size,
		    int (*take)(void *, const void *, size_t), void *context)
{
	const void *record =
		in_one_piece(ring, (position + BPF_RINGBUF_HDR_SZ) & (ring->size - 1), size);

	return record ? take(context, record, size) : -ENOMEM;
}

unsigned long ring_end(const struct ring *ring)
{
	return atomic_load_explicit((_Atomic unsigned long *)ring->producer, memory_order_acquire);
}

unsigned long ring_taken(const struct ring *ring)
{
	return atomic_load_explicit(ring->consumer, memory_order_relaxed);
}

int ring_consume(struct ring *ring, int (*take)(void *context, const void *record, size_t size),
		 void *context)
{
	unsigned long end = ring_end(ring), position = ring_taken(ring);
	int r = 0;

	while (r == 0 && position < end) {
		const char *data = ring->producer + ring->page;
		_Atomic uint32_t *header =
			(_Atomic uint32_t *)(data + (position & (ring->size - 1)));
		uint32_t word = atomic_load_explicit(header, memory_order_acquire);
		uint32_t size = word & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		/* Still being written: this and all that follow come the next time. */
		if (word & BPF_RINGBUF_BUSY_BIT)
			break;
		if (size > ring->size - BPF_RINGBUF_HDR_SZ)
			return -EPROTO;
		if (!(word & BPF_RINGBUF_DISCARD_BIT))
			r = take_one(ring, position, size, take, context);
		position += (size + BPF_RINGBUF_HDR_SZ + 7ul) & ~7ul;
		atomic_store_explicit(ring->consumer, position, memory_order_release);
	}
	return r;
}
