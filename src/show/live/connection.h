/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One HTTP connection: a request is read, a reply or a stream is sent, then it is closed. Nothing
 * here blocks, and time only comes in as `now`, in milliseconds of any clock that is monotonic.
 * Owns its descriptor and a reference to each queued buffer. Used by the server's thread alone.
 */
#ifndef STACKTALLY_LIVE_CONNECTION_H
#define STACKTALLY_LIVE_CONNECTION_H

#include "live/server.h"

#define CONNECTION_READ_MS  5000   /* for the whole request */
#define CONNECTION_STALL_MS 10000  /* without a byte sent */
#define CONNECTION_SEND_MS  300000 /* for a whole reply */

enum connection_state {
	CONNECTION_FREE,
	CONNECTION_READING,
	CONNECTION_WAITING, /* for the handler's reply */
	CONNECTION_SENDING,
	CONNECTION_STREAMING,
	CONNECTION_LINGERING, /* all is sent and our side shut down; the client has to close */
};

/* All zero: free. */
struct connection {
	enum connection_state state;
	int fd;
	uint64_t request_id;
	uint64_t since;	    /* when it was accepted, and from its reply on, when that began */
	uint64_t deadline;  /* when the server closes it; UINT64_MAX: never */
	bool authenticated; /* it has shown the token */
	bool head;	    /* the request was HEAD: no body is sent */
	size_t n_in;
	size_t queued; /* bytes of its reply in server_queued_bytes(); kept by the server */
	size_t sent;   /* of queue[0] */
	uint32_t n_queue;
	struct buffer *queue[SERVER_MAX_QUEUE]; /* first the head and the body of the reply */
	char in[REQUEST_MAX_SIZE];
};

/* Takes over `fd`, which must not block. */
void connection_open(struct connection *connection, int fd, uint64_t request_id, uint64_t now);
void connection_close(struct connection *connection);

/*
 * Reads what has arrived. Returns 1 when the request is complete; its slices point into
 * `connection`. 0 when more is needed, -EPIPE when the client has disconnected, or the negated HTTP
 * status with which to refuse the request.
 */
int connection_read(struct connection *connection, struct request *ret_request);

/* Queues a reply, and takes over the reference to its body in any case. 0 or -ENOMEM. */
int connection_reply(struct connection *connection, const struct reply *reply, uint64_t now);

/*
 * Queues a buffer on a stream, with a reference of its own. 0, or -ENOBUFS when SERVER_MAX_QUEUE
 * buffers wait already.
 */
int connection_publish(struct connection *connection, struct buffer *buffer, uint64_t now);

/*
 * Sends what the socket takes. After the last byte of a reply the connection lingers. 0, or -EPIPE
 * when the client has disconnected.
 */
int connection_write(struct connection *connection, uint64_t now);

/* The epoll events that the connection waits for. */
uint32_t connection_events(const struct connection *connection);

#endif
