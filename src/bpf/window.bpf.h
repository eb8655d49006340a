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
#define WINDOW_MOST  16 /* bytes of one read from it */
#define WINDOW_PAGE  4096ull

/*
 * Moves the window of a scratch slot to the address, within one page: the next page may not be
 * mapped, and trying costs a fault. Returns 1, or 0 when the page cannot be read. A global
 * function, which the verifier checks once.
 */
__noinline int window_move(__u32 number, __u64 address)
{
	__u64 at = address & (WINDOW_PAGE - 1), from = at < WINDOW_SLACK ? 0 : at - WINDOW_SLACK;
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	__u64 size = WINDOW_PAGE - from;
	struct window *window;

	if (!slot)
		return 0;
	window = &slot->window;
	if (size > WINDOW_SIZE)
		size = WINDOW_SIZE;
	window->from = address - at + from;
	window->size = 0;
	OPAQUE(size);
	if (size > WINDOW_SIZE ||
	    bpf_probe_read_user(window->bytes, size, (const void *)window->from))
		return 0;
	window->size = size;
	return 1;
}

/* Reads 8 or 16 bytes of the stack; 0 when they are read. */
static __always_inline int window_read(const struct scratch *slot, __u32 number, void *to,
				       __u64 size, __u64 address)
{
	const struct window *window = &slot->window;
	__u64 at = address - window->from;
	const __u64 *words;

	if (UNLIKELY(at > window->size || window->size - at < size)) {
		if (!window_move(number, address))
			return -1;
		at = address - window->from;
	}
	OPAQUE(at);
	/* Across the end of the window or of the page. */
	if (UNLIKELY(at > WINDOW_SIZE - WINDOW_MOST || at + size > window->size))
		return bpf_probe_read_user(to, size, (const void *)address);
	words = (const void *)window->bytes + at;
	((__u64 *)to)[0] = words[0];
	if (size > sizeof(__u64))
		((__u64 *)to)[1] = words[1];
	return 0;
}

#endif
