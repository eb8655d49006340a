/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small HTTP/1.1 server for a few who watch: one thread of its own, without privileges, that
 * waits on all connections at once. Knows bytes, not what they mean.
 *
 * Whoever connects can take a bounded share of it and no more. There are at most
 * SERVER_MAX_CONNECTIONS; each has one request of at most REQUEST_MAX_SIZE bytes, that must be
 * there within seconds, and a bounded queue of blobs to be sent. Who does not read what waits for
 * him is cut off. When all places are taken, the one who has shown no token for longest has to go;
 * then one who does not take what he asked for. A new stream takes the place of one that is behind.
 *
 * A request is handed on only if it has shown the token (as the first element of its path), was
 * sent to an address rather than a name, and comes from no foreign page.
 */
#ifndef STACKTALLY_LIVE_SERVER_H
#define STACKTALLY_LIVE_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "live/blob.h"
#include "live/request.h"

#define SERVER_MAX_CONNECTIONS 64
#define SERVER_MAX_STREAMS     16 /* of those */
#define SERVER_MAX_QUEUE       8  /* blobs that wait for one connection */

struct server;

struct reply {
	int status;	       /* 200 ... */
	const char *type;      /* of the content; a string that lives on */
	const char *policy;    /* Content-Security-Policy, lives on; NULL: nothing is allowed */
	const char *file_name; /* save it under this name; or NULL. Copied */
	bool stream; /* `body` is the beginning; what is published follows until either side ends */
	struct blob *body; /* taken over; NULL: a line that says the status */
};

/* Both are called on the server's thread and must not wait for anything. */
struct server_handler {
	/*
	 * A request, whose path is what follows the token and begins with a slash. True: the reply
	 * is there; false: it comes later, by server_reply() with this ticket.
	 */
	bool (*handle)(void *context, const struct request *request, uint64_t ticket,
		       struct reply *ret_reply);
	/* Nobody waits for the reply of this ticket any more. */
	void (*gone)(void *context, uint64_t ticket);
	void *context;
};

/*
 * Listens at "ADDRESS:PORT", "ADDRESS", ":PORT" or "PORT", an IPv6 address in brackets; what is
 * missing or NULL is 127.0.0.1 and any free port. Nothing is answered yet.
 */
int server_open(const char *where, struct server **ret_server, struct error *err);

/* "http://127.0.0.1:4711/TOKEN/"; lives as long as the server. */
const char *server_url(const struct server *server);
/* Whether it can be reached from other machines. */
bool server_is_public(const struct server *server);

/* Starts the thread. The handler is copied. */
int server_start(struct server *server, const struct server_handler *handler, struct error *err);

/* All may be called by any thread, and take over the blobs. */
void server_reply(struct server *server, uint64_t ticket, const struct reply *reply);
void server_publish(struct server *server, struct blob *blob);
/* How many streams there are: for who need not make news for nobody. */
uint32_t server_n_streams(const struct server *server);

/* How many bytes of replies wait to be sent or to be read, all in all: for who need not make more.
 */
size_t server_waiting(const struct server *server);

/* Ends all streams after what waits for them, for half a second at most; then stops the thread. */
void server_close(struct server *server);

#endif
