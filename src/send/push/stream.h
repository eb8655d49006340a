/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A connection to an engine, with or without TLS. All calls end at a deadline, by monotonic_ms().
 * TLS is mbedTLS's; servers are always verified, by their name.
 */
#ifndef STACKTALLY_PUSH_STREAM_H
#define STACKTALLY_PUSH_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/own.h"
#include "push/target.h"

/* The certificate authorities that are trusted. */
struct tls_trust;

/* The `size` bytes are a PEM file with one or more certificates. 0 or a negative errno. */
int tls_trust_new(const char *pem, size_t size, struct tls_trust **ret_trust);
void tls_trust_free(struct tls_trust *trust);
DEFINE_OWN(struct tls_trust, tls_trust_free)

struct stream;

#define STREAM_WHY_SIZE 200

/*
 * Looks the host up, connects, and with TLS shakes hands. 0, or a negative errno with the reason in
 * `why`. Free with stream_close().
 */
int stream_open(const struct target *target, const struct tls_trust *trust, uint64_t deadline_ms,
		struct stream **ret_stream, char why[STREAM_WHY_SIZE]);
void stream_close(struct stream *stream);
DEFINE_OWN(struct stream, stream_close)

/* Sends all. 0; -ETIMEDOUT; -ECONNRESET if the server may still answer; or another negative errno.
 */
int stream_write(struct stream *stream, const void *bytes, size_t size, uint64_t deadline_ms);
/* Reads some: their number; 0: the end; -ETIMEDOUT or another negative errno. */
ssize_t stream_read(struct stream *stream, void *bytes, size_t size, uint64_t deadline_ms);

#endif
