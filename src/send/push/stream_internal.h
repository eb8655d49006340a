/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The connection below a stream. As in stream.h, each call ends at a deadline. */
#ifndef STACKTALLY_PUSH_STREAM_INTERNAL_H
#define STACKTALLY_PUSH_STREAM_INTERNAL_H

#include <stdbool.h>

#include "push/stream.h"

/* A connected, non-blocking socket, or a negative errno with the reason in `why`. */
int tcp_connect(const struct target *target, uint64_t deadline_ms, char why[STREAM_WHY_SIZE]);
/* Waits until the socket can be read, or written. 0, -ETIMEDOUT or another negative errno. */
int tcp_wait(int socket, bool write, uint64_t deadline_ms);

struct tls;

/* Shakes hands on the socket, which stays the caller's. As stream_open(). */
int tls_open(int socket, const char *host, const struct tls_trust *trust, uint64_t deadline_ms,
	     struct tls **ret_tls, char why[STREAM_WHY_SIZE]);
void tls_close(struct tls *tls);
int tls_write(struct tls *tls, const void *bytes, size_t size, uint64_t deadline_ms);
ssize_t tls_read(struct tls *tls, void *bytes, size_t size, uint64_t deadline_ms);

#endif
