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

#include "bpf/unwind_find.h"

#define WINDOW_SIZE  512
#define WINDOW_SLACK 64 /* below what is asked for: what a frame saved beneath it comes next */
#define WINDOW_MOST  16 /* bytes of one read from it */
#define WINDOW_PAGE  4096ull

/* Moves the window to the address. False when not even `size` bytes are there. */
static __noinline bool window_move(struct window *window, __u64 address, __u64 size)
{
	__u64 rest = WINDOW_PAGE - (address & (WINDOW_PAGE - 1)), from = address;

	/* What is on the page below may not be there. */
	if ((address & (WINDOW_PAGE - 1)) >= WINDOW_SLACK)
		from -= WINDOW_SLACK;
	window->from = from;
	window->size = WINDOW_SIZE;
	if (!bpf_probe_read_user(window->bytes, WINDOW_SIZE, (const void *)from))
		return true;
	/* Nor what is on the next. */
	window->from = address;
	window->size = 0;
	if (rest > WINDOW_SIZE)
		rest = WINDOW_SIZE;
	if (rest < size)
		return false;
	UNWIND_OPAQUE(rest);
	if (rest > WINDOW_SIZE || bpf_probe_read_user(window->bytes, rest, (const void *)address))
		return false;
	window->size = rest;
	return true;
}

/* 8 or 16 bytes of the stack. 0 when they are read. */
static __always_inline int window_read(struct window *window, void *to, __u64 size, __u64 address)
{
	__u64 at = address - window->from;
	const __u64 *words;

	if (at > window->size || window->size - at < size) {
		if (!window_move(window, address, size))
			return bpf_probe_read_user(to, size, (const void *)address);
		at = address - window->from;
	}
	UNWIND_OPAQUE(at);
	if (at > WINDOW_SIZE - WINDOW_MOST)
		return bpf_probe_read_user(to, size, (const void *)address);
	words = (const void *)window->bytes + at;
	((__u64 *)to)[0] = words[0];
	if (size > sizeof(__u64))
		((__u64 *)to)[1] = words[1];
	return 0;
}

#endif
