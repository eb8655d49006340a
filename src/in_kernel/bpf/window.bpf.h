/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * A window on the walked user stack: a copy of some hundred bytes of it costs little more than one
 * of 16, and serves the next frames, too. Each walk begins by setting window.size to 0.
 */
#ifndef STACKTALLY_BPF_WINDOW_BPF_H
#define STACKTALLY_BPF_WINDOW_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/hints.h"
#include "bpf/scratch.bpf.h"

#define WINDOW_SLACK 64 /* bytes copied below an address: what a frame saved there is read next */
#define WINDOW_PAGE  4096ull

/*
 * Moves the window of a scratch slot to the address, within one page: the next page may not be
 * mapped, and trying costs a fault. False when the page cannot be read.
 */
static __always_inline bool window_move(struct window *window, __u64 address)
{
	__u64 at = address & (WINDOW_PAGE - 1), from = at < WINDOW_SLACK ? 0 : at - WINDOW_SLACK;
	__u64 size = WINDOW_PAGE - from;

	if (size > WINDOW_SIZE)
		size = WINDOW_SIZE;
	window->from = address - at + from;
	window->size = 0;
	OPAQUE(size);
	if (size > WINDOW_SIZE ||
	    bpf_probe_read_user(window->bytes, size, (const void *)window->from))
		return false;
	window->size = size;
	return true;
}

#define WINDOW_NOWHERE ~0ull

/*
 * Brings 8 or 16 bytes of the stack into the slot's window. Returns where in `bytes` they are;
 * WINDOW_NOWHERE: they cannot be read. A global function, which the verifier checks once.
 */
__noinline __u64 window_bring(__u32 number, __u64 address, __u64 size)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	struct window *window;
	__u64 at;

	if (!slot || !window_move(&slot->window, address))
		return WINDOW_NOWHERE;
	window = &slot->window;
	at = address - window->from;
	if (at + size <= window->size)
		return at;
	/* Across the end of the page. */
	return bpf_probe_read_user(window->bytes + WINDOW_APART,
				   size > sizeof(__u64) ? WINDOW_MOST : sizeof(__u64),
				   (const void *)address)
		       ? WINDOW_NOWHERE
		       : WINDOW_APART;
}

/* Reads 8 or 16 bytes of the stack; 0 when they are read. */
static __always_inline int window_read(const struct scratch *slot, __u32 number, void *to,
				       __u64 size, __u64 address)
{
	const struct window *window = &slot->window;
	__u64 at = address - window->from;
	const __u64 *words;

	if (UNLIKELY(at > window->size || window->size - at < size))
		at = window_bring(number, address, size);
	OPAQUE(at);
	if (UNLIKELY(at > WINDOW_APART))
		return -1;
	words = (const void *)window->bytes + at;
	((__u64 *)to)[0] = words[0];
	if (size > sizeof(__u64))
		((__u64 *)to)[1] = words[1];
	return 0;
}

/* Reads a word of the stack if it is in the window. */
static __always_inline bool window_peek(const struct scratch *slot, __u64 *to, __u64 address)
{
	const struct window *window = &slot->window;
	__u64 at = address - window->from;

	OPAQUE(at);
	if (UNLIKELY(at > WINDOW_SIZE - sizeof(*to) || at + sizeof(*to) > window->size))
		return false;
	*to = *(const __u64 *)((const void *)window->bytes + at);
	return true;
}

#endif
