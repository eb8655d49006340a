/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Streams to what others read: pipes, FIFOs, sockets, terminals. A reader that has stopped makes a
 * write wait for as long as it likes; after a second, a note says for whom.
 */
#ifndef STACKTALLY_RUN_WAITING_STREAM_H
#define STACKTALLY_RUN_WAITING_STREAM_H

#include <stdbool.h>
#include <stdio.h>

/* Whether a write to the file may wait for a reader. */
bool waiting_stream_is_needed(int fd);

/*
 * Opens a FIFO for writing, and says that it waits for a reader if there is none yet. The
 * descriptor or a negative errno.
 */
int waiting_stream_open_fifo(const char *path, int flags);

/* A stream that owns `fd` once it is open. `name` is borrowed. NULL: out of memory. */
FILE *waiting_stream_open(int fd, const char *name);

#endif
