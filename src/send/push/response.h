/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the response of an HTTP/1.1 server to one request, piece by piece. The server may be
 * hostile: the head has a bound, and of the body only the first bytes are kept, for messages.
 * Source: RFC 9110, RFC 9112.
 */
#ifndef STACKTALLY_PUSH_RESPONSE_H
#define STACKTALLY_PUSH_RESPONSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RESPONSE_HEAD_MAX 16384 /* bytes */
#define RESPONSE_BODY_MAX 512	/* bytes that are kept */

struct response {
	/* Once `headed`: */
	int status;		/* 200..599 */
	uint64_t retry_after_s; /* 0: not given */
	int64_t length;		/* of the body as announced; -1: until the connection closes */
	bool chunked;
	bool headed;

	char body[RESPONSE_BODY_MAX + 1]; /* its beginning, ended by NUL; it may hold NULs */
	size_t body_size;
	bool complete; /* nothing more needs to be read */

	char head[RESPONSE_HEAD_MAX]; /* what there is of it so far */
	size_t head_size;
	uint64_t seen;	/* bytes of the body, or of the chunk */
	uint64_t chunk; /* bytes of the chunk that are still to come */
	int chunk_state;
};

void response_start(struct response *response);
/*
 * Takes `size` more bytes. `now` is the time by which a date of Retry-After is read. 0, or -EPROTO
 * if this is no HTTP response.
 */
int response_take(struct response *response, const char *bytes, size_t size, int64_t now);
/* The connection was closed. 0, or -EPROTO if the head is not complete. */
int response_end(struct response *response);

#endif
