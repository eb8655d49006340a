/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies of pages of a process's memory. A walk reads a word here and a string there, hundreds of
 * times, mostly from few pages, and each read of another process is a question to a thread
 * (process/remote_memory.h).
 */
#ifndef STACKTALLY_USER_WALK_PAGES_H
#define STACKTALLY_USER_WALK_PAGES_H

#include <stddef.h>
#include <stdint.h>

#include "process/remote_memory.h"

struct pages;

/* Borrows the memory. 0 or -ENOMEM. */
int pages_new(struct remote_memory *memory, struct pages **ret_pages);
/* May be NULL. */
void pages_free(struct pages *pages);

/* Forgets all copies: what is read from now on is that thread's, and as it is now. */
void pages_begin(struct pages *pages, pid_t tgid, pid_t tid);

/* 0 once all of the bytes are read; else -1, and `to` holds anything. */
int pages_read(struct pages *pages, void *to, size_t size, uint64_t address);

#endif
