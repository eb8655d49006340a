/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parser for the head of an HTTP/1.x request (RFC 9112), as far as a server that only answers GET
 * and HEAD needs it. Refuses whatever is not plainly well-formed. The input comes from anyone who
 * can reach the port and is read by root, so nothing here allocates, and all results are slices of
 * the caller's buffer: they live as long as it does.
 */
#ifndef STACKTALLY_LIVE_REQUEST_H
#define STACKTALLY_LIVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REQUEST_MAX_SIZE 8192 /* of a head, bytes */

/* Bytes without a terminating NUL. */
struct slice {
	const char *at;
	size_t size;
};

struct request {
	bool head;	     /* HEAD, not GET */
	struct slice path;   /* begins with a slash; without the query; not decoded */
	struct slice query;  /* after the question mark, or empty */
	struct slice host;   /* value of the Host field */
	struct slice origin; /* value of the Origin field; at is NULL when there was none */
};

/*
 * Parses a head, which ends with an empty line. Returns its size in bytes, 0 when it is not
 * complete, or the negated HTTP status of the refusal: -400, -405 (not GET or HEAD), -414, -431,
 * -501, -505.
 */
int request_parse(const char *bytes, size_t size, struct request *ret_request);

/*
 * Whether the Host is an IP address in digits or `localhost`, with or without a port. Any other
 * name may have been bound to our address by a hostile name server (DNS rebinding).
 */
bool request_host_is_literal(const struct request *request);

/* Whether there is no Origin, or it is this server's: http://HOST. */
bool request_is_same_origin(const struct request *request);

/*
 * The value of a parameter of the query as a number. Returns 1 when it is there, 0 when it is
 * missing (`ret_value` is unchanged), -EINVAL when it is no decimal number up to `max`.
 */
int request_number(const struct request *request, const char *name, uint64_t max,
		   uint64_t *ret_value);
/*
 * The value of a parameter that consists of lower-case letters, digits, dots and dashes; false when
 * there is none, or it does not fit into `size` bytes with the NUL.
 */
bool request_word(const struct request *request, const char *name, char *ret_word, size_t size);

/*
 * Whether each parameter of the query is one of these, NULL-terminated, and has a value: a name
 * that is misspelt would otherwise be ignored.
 */
bool request_has_only(const struct request *request, const char *const *names);

bool slice_is(struct slice slice, const char *text);

#endif
