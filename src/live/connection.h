/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One connection: a request comes in, a reply goes out, and that is all. Nothing here waits.
 * Owns its descriptor and its share of the blobs that are to be sent.
 */
#ifndef STACKTALLY_LIVE_CONNECTION_H
#define STACKTALLY_LIVE_CONNECTION_H

#include "live/server.h"

#define CONNECTION_STALL_MS 10000 /* without a byte going out: then the deadline is over */

enum connection_state {
	CONNECTION_FREE,
	CONNECTION_READING,
	CONNECTION_WAITING, /* for the reply to be made */
	CONNECTION_SENDING,
	CONNECTION_STREAMING,
	CONNECTION_LEAVING, /* all was sent: waits for the other side to see it and close */
};

struct connection {
	enum connection_state state;
	int fd;
	uint64_t ticket;
	uint64_t since;	   /* when it was accepted; ms, as all times here */
	uint64_t deadline; /* closed then; UINT64_MAX: never */
	bool trusted;	   /* it has shown the token */
	bool head;	   /* HEAD: no body */
	size_t n_in;
	size_t owed; /* bytes of a reply that the server counts as waiting */
	size_t sent; /* of queue[0] */
	uint32_t n_queue;
	struct blob *queue[SERVER_MAX_QUEUE + 2]; /* the head, the body, what is published */
	char in[REQUEST_MAX_SIZE];
};

void connection_open(struct connection *connection, int fd, uint64_t ticket, uint64_t now);
void connection_close(struct connection *connection);

/*
 * Reads what is there. Returns 1 when a request is complete, 0 when more is needed, a negated HTTP
 * status that refuses what came, or -EPIPE: the other side is gone.
 */
int connection_read(struct connection *connection, struct request *ret_request);

/* Begins to send a reply, and takes over its body. 0, or -ENOMEM. */
int connection_reply(struct connection *connection, const struct reply *reply, uint64_t now);

/* Adds to a stream. 0, or -ENOBUFS: too much waits already. */
int connection_publish(struct connection *connection, struct blob *blob, uint64_t now);

/* Sends what can be sent. 0, or -EPIPE: it is to be closed. */
int connection_write(struct connection *connection, uint64_t now);

/* What epoll is to wait for. */
uint32_t connection_wants(const struct connection *connection);

#endif
