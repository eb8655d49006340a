/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reading end of a BPF ring buffer (Documentation/bpf/ringbuf.rst). libbpf maps the data twice
 * in a row, so that no record wraps. This one maps it once, and copies the rare record that wraps:
 * that halves the resident memory of the buffer. From one thread.
 */
#ifndef STACKTALLY_DRAIN_RING_H
#define STACKTALLY_DRAIN_RING_H

#include <stddef.h>

struct ring;

/* `map` is the descriptor of a BPF_MAP_TYPE_RINGBUF of `size` bytes; borrowed. */
int ring_new(int map, size_t size, struct ring **ret_ring);
void ring_free(struct ring *ring);

/*
 * Calls `take` for each record that is in the buffer now, in order, and frees its room. Stops
 * before a record that is still being written, and after one for which `take` returns other than 0,
 * which is then returned. Else 0; -ENOMEM; or -EPROTO for an impossible record.
 */
int ring_consume(struct ring *ring, int (*take)(void *context, const void *record, size_t size),
		 void *context);

/* Positions in bytes, which only grow: past the last record, and of the next to be consumed. */
unsigned long ring_end(const struct ring *ring);
unsigned long ring_taken(const struct ring *ring);

#endif
