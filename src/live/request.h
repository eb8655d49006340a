/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The head of an HTTP/1.x request (RFC 9112), as far as a server needs it that only ever answers
 * GET and HEAD: who was asked, for what, from where. Whatever is not plainly well-formed is
 * refused. The bytes come from anybody who can reach the port and are read by root: nothing here
 * allocates, and all results are slices of the buffer that was given.
 */
#ifndef STACKTALLY_LIVE_REQUEST_H
#define STACKTALLY_LIVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REQUEST_MAX_SIZE 8192 /* of a head, bytes */

struct slice {
	const char *at;
	size_t size;
};

struct request {
	bool head;	      /* HEAD, not GET */
	struct slice path;    /* begins with a slash; without the query; not decoded */
	struct slice query;   /* behind the question mark, or empty */
	struct slice host;    /* of the Host field */
	struct slice origin;  /* of the Origin field; at is NULL when there was none */
	struct slice last_id; /* of Last-Event-ID; at is NULL when there was none */
};

/*
 * Reads a head that ends with an empty line. Returns its size in bytes, 0 when more bytes are
 * needed, or the negated HTTP status that refuses it: -400, -405 (not GET or HEAD), -414, -431,
 * -501, -505.
 */
int request_parse(const char *bytes, size_t size, struct request *ret_request);

/*
 * Whether the Host is one that a name server cannot have made up: an IP address in digits or
 * `localhost`, with or without a port. A page from elsewhere whose name was bound anew to our
 * address (DNS rebinding) gives itself away by its name.
 */
bool request_host_is_plain(const struct request *request);

/* Whether there is no Origin, or it is our own: http://HOST. */
bool request_origin_is_ours(const struct request *request);

/*
 * The value of a parameter of the query as a number. Returns 1 when it is there, 0 when it is
 * not, -EINVAL when it is no decimal number up to `max`.
 */
int request_number(const struct request *request, const char *name, uint64_t max,
		   uint64_t *ret_value);
/* The value of a parameter as text of letters, digits, dots and dashes; false: none such. */
bool request_word(const struct request *request, const char *name, char *ret_word, size_t size);

bool slice_is(struct slice slice, const char *text);

#endif
