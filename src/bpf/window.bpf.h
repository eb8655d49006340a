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

#include "bpf/steer.h"

#define WINDOW_SIZE  1024
#define WINDOW_SLACK 64 /* below what is asked for: what a frame saved beneath it comes next */
#define WINDOW_MOST  16 /* bytes of one read from it */
#define WINDOW_PAGE  4096ull

struct window {
	__u64 from; /* user address */
	__u64 size; /* bytes that are there; 0: none */
	__u8 bytes[WINDOW_SIZE];
};

/*
 * Moves the window to the address. It stays within the page: the next one may not be there, and to
 * find that out is a fault. False when the page is not there.
 */
static __noinline bool window_move(struct window *window, __u64 address)
{
	__u64 at = address & (WINDOW_PAGE - 1), from = at < WINDOW_SLACK ? 0 : at - WINDOW_SLACK;
	__u64 size = WINDOW_PAGE - from;

	if (size > WINDOW_SIZE)
		size = WINDOW_SIZE;
	window->from = address - at + from;
	window->size = 0;
	UNWIND_OPAQUE(size);
	if (size > WINDOW_SIZE ||
	    bpf_probe_read_user(window->bytes, size, (const void *)window->from))
		return false;
	window->size = size;
	return true;
}

/* 8 or 16 bytes of the stack. 0 when they are read. */
static __always_inline int window_read(struct window *window, void *to, __u64 size, __u64 address)
{
	__u64 at = address - window->from;
	const __u64 *words;

	if (UNWIND_SELDOM(at > window->size || window->size - at < size)) {
		if (!window_move(window, address))
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
