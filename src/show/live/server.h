/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small HTTP/1.1 server for a few clients. One thread, which gives up all privileges, serves all
 * connections with epoll. Knows bytes, not what they mean.
 *
 * No client can take more than a bounded share. There are at most SERVER_MAX_CONNECTIONS, each with
 * one request of at most REQUEST_MAX_SIZE bytes that has to arrive within seconds, and a bounded
 * queue of buffers to send. A client that does not read is disconnected. When all connections are
 * in use, a new one replaces the oldest that has not shown the token; if all have, the one whose
 * reply has been stalled for longest, or else the new one is closed. When all streams are in use, a
 * new one replaces the one that is furthest behind.
 *
 * The handler only sees requests whose path begins with the token, whose Host is an address rather
 * than a name, and whose Origin is this server; others are refused with 404 or 403.
 */
#ifndef STACKTALLY_LIVE_SERVER_H
#define STACKTALLY_LIVE_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "live/buffer.h"
#include "live/request.h"

#define SERVER_MAX_CONNECTIONS 64
#define SERVER_MAX_STREAMS     16 /* of those */
#define SERVER_MAX_QUEUE       8  /* buffers queued on one connection */

struct server;

struct reply {
	int status;	       /* of HTTP */
	const char *type;      /* Content-Type of the body; static */
	const char *policy;    /* Content-Security-Policy, static; NULL: one that allows nothing */
	const char *file_name; /* the client is to save the body under this name; or NULL. Copied */
	bool stream;	     /* after the body, what is published follows until either side ends */
	struct buffer *body; /* its reference is taken over; NULL: a line with the status */
};

/* Both are called on the server's thread and must not block. */
struct server_handler {
	/*
	 * Handles a request; `request->path` is what follows the token and begins with a slash.
	 * True: `ret_reply` is set; false: server_reply() will be called with `request_id`.
	 */
	bool (*handle)(void *context, const struct request *request, uint64_t request_id,
		       struct reply *ret_reply);
	/* The client of a request that has no reply yet has disconnected. May be NULL. */
	void (*cancel)(void *context, uint64_t request_id);
	void *context;
};

/*
 * Listens at "ADDRESS:PORT", "ADDRESS", ":PORT" or "PORT", an IPv6 address in brackets. A missing
 * address is 127.0.0.1, a missing port any free one; `where` may be NULL. Connections are accepted
 * but not served before server_start(). `token_file` as for token_of_file(), or NULL for a new
 * token. The caller frees `ret_server` with server_close(). 0 or a negative errno.
 */
int server_open(const char *where, const char *token_file, struct server **ret_server,
		struct error *err);

/* "http://127.0.0.1:4711/TOKEN/"; lives as long as the server. */
const char *server_url(const struct server *server);
/* Whether other machines can connect. */
bool server_is_public(const struct server *server);

/* Starts the thread. The handler is copied. 0 or a negative errno. */
int server_start(struct server *server, const struct server_handler *handler, struct error *err);

/* What follows may be called by any thread. */

/* Sends the reply to a request; ignored when its client has disconnected. */
void server_reply(struct server *server, uint64_t request_id, const struct reply *reply);
/* Sends the buffer to all streams, and takes over its reference. */
void server_publish(struct server *server, struct buffer *buffer);
uint32_t server_n_streams(const struct server *server);
/* Bytes of replies that were handed to server_reply() and are not sent yet. */
size_t server_queued_bytes(const struct server *server);

/*
 * Sends what is queued, for at most half a second, then stops the thread and frees the server. NULL
 * is allowed; no other call may be under way.
 */
void server_close(struct server *server);

#endif
