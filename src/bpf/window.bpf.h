/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * A window on the user stack that is walked: one copy of some hundred bytes costs little more than
 * one of 16, and serves the next frames too. It belongs to one walk: who begins one empties it.
 */
#ifndef STACKTALLY_BPF_WINDOW_BPF_H
#define STACKTALLY_BPF_WINDOW_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/scratch.bpf.h"
#include "bpf/steer.h"

#define WINDOW_SLACK 64 /* below what is asked for: what a frame saved beneath it comes next */
#define WINDOW_MOST  16 /* bytes of one read from it */
#define WINDOW_PAGE  4096ull

/*
 * Moves the window of a scratch slot to the address. It stays within the page: the next one may not
 * be there, and to find that out is a fault. 0 when the page is not there. A global function, as a
 * step is (bpf/unwind.bpf.h).
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
	UNWIND_OPAQUE(size);
	if (size > WINDOW_SIZE ||
	    bpf_probe_read_user(window->bytes, size, (const void *)window->from))
		return 0;
	window->size = size;
	return 1;
}

/* 8 or 16 bytes of the stack. 0 when they are read. */
static __always_inline int window_read(const struct scratch *slot, __u32 number, void *to,
				       __u64 size, __u64 address)
{
	const struct window *window = &slot->window;
	__u64 at = address - window->from;
	const __u64 *words;

	if (UNWIND_SELDOM(at > window->size || window->size - at < size)) {
		if (!window_move(number, address))
			return -1;
		at = address - window->from;
	}
	UNWIND_OPAQUE(at);
	/* At the window's end, or across a page's. */
	if (UNWIND_SELDOM(at > WINDOW_SIZE - WINDOW_MOST || at + size > window->size))
		return bpf_probe_read_user(to, size, (const void *)address);
	words = (const void *)window->bytes + at;
	((__u64 *)to)[0] = words[0];
	if (size > sizeof(__u64))
		((__u64 *)to)[1] = words[1];
	return 0;
}

#endif
