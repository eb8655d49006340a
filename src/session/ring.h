/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reading end of a BPF ring buffer. libbpf's maps the data twice in a row, so that no record
 * wraps; both mappings are resident memory from the start. This one maps it once and copies the
 * rare record that wraps, which halves what the largest part of our memory takes.
 */
#ifndef STACKTALLY_SESSION_RING_H
#define STACKTALLY_SESSION_RING_H

#include <stddef.h>

struct ring;

/* `map` is the descriptor of a BPF_MAP_TYPE_RINGBUF of `size` bytes; borrowed. */
int ring_new(int map, size_t size, struct ring **ret_ring);
void ring_free(struct ring *ring);

/*
 * Calls `take` for each record that is there at the call, in order, and gives its room back.
 * Stops after the first for which `take` returns other than 0, and returns that, and before one
 * that is being written; -EPROTO for a record that cannot be; else 0.
 */
int ring_consume(struct ring *ring, int (*take)(void *context, const void *record, size_t size),
		 void *context);

/* Positions, which only grow: where the next record will be put, and where the next is taken. */
unsigned long ring_end(const struct ring *ring);
unsigned long ring_taken(const struct ring *ring);

#endif
