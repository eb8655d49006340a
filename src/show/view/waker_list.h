/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What ended the waits of a profile that was measured with --wakers: by the thread or interrupt and
 * its innermost function of the program. Must not know: formats.
 */
#ifndef STACKTALLY_VIEW_WAKER_LIST_H
#define STACKTALLY_VIEW_WAKER_LIST_H

#include <stdint.h>

#include "view/profile.h"

struct waker_row {
	uint32_t name;	   /* frame of the profile: a thread's name, "[timer interrupt]" */
	uint32_t function; /* frame; ENTRY_NO_FRAME */
	uint64_t total;	   /* of the waits that it ended */
};

struct waker_list {
	struct waker_row *rows; /* the largest first */
	uint32_t n;
};

/* 0 or -ENOMEM. */
int waker_list_make(const struct profile *profile, struct waker_list *ret_list);
void waker_list_clear(struct waker_list *list);

#endif
