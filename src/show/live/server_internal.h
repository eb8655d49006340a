/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The server's parts: server.c has the thread, its loop and what other threads ask of it;
 * server_connections.c accepts, serves and closes connections, on the server's thread alone.
 */
#ifndef STACKTALLY_LIVE_SERVER_INTERNAL_H
#define STACKTALLY_LIVE_SERVER_INTERNAL_H

#include <pthread.h>
#include <semaphore.h>

#include "live/connection.h"
#include "live/listen.h"
#include "live/token.h"

#define SERVER_MAX_COMMANDS 256

/* What another thread wants sent: a reply, or a buffer for all streams. */
struct server_command {
	bool publish;
	uint64_t request_id;
	struct reply reply; /* `body` also holds the buffer to publish */
	size_t queued;	    /* bytes of it in server_queued_bytes() */
	char file_name[64]; /* that a browser gives the reply; "": none */
};

struct server {
	char url[LISTEN_WHERE_SIZE + TOKEN_DIGITS + 16];
	char token[TOKEN_DIGITS + 1];
	bool public;
	int listener, epoll;
	int wake; /* an eventfd: there are commands, or it is time to stop */
	struct server_handler handler;
	pthread_t thread;
	bool started;
	sem_t confined; /* posted once `rights` is set */
	int rights;	/* 0: the thread has given up its privileges; a negative errno: it ended */

	pthread_mutex_t lock; /* of what follows */
	struct server_command commands[SERVER_MAX_COMMANDS];
	uint32_t n_commands;
	bool overflowed; /* a command did not fit */
	bool stopping;

	/* Written by several threads: atomic. */
	uint32_t n_streams;
	size_t queued_bytes;

	/* The thread's own. */
	struct connection connections[SERVER_MAX_CONNECTIONS];
	uint32_t n_connections;
	uint64_t n_accepted;
	bool accept_paused; /* out of descriptors or memory, until the next sweep */
	uint64_t sweep_at;
};

/* The data of epoll events that do not belong to a connection; those have its index. */
#define SERVER_EVENT_LISTENER UINT32_MAX
#define SERVER_EVENT_WAKE     (UINT32_MAX - 1)

/* Accepts connections that wait. */
void server_accept(struct server *server);
/* Whether to accept connections. */
void server_set_accepting(struct server *server, bool accepting);
/* Reads what has arrived and writes what there is room for, as epoll says. */
void server_on_event(struct server *server, struct connection *connection, uint32_t events);
/* Sends what the socket takes, and closes the connection on errors. */
void server_write(struct server *server, struct connection *connection);
void server_disconnect(struct server *server, struct connection *connection);
/* Closes connections whose deadline has passed. */
void server_sweep(struct server *server, uint64_t now);

/* Carries out a command, and takes over the reference to its buffer. */
void server_carry_out(struct server *server, struct server_command *command);
/* Disconnects streams and clients that wait for a reply; clients connect again. */
void server_disconnect_waiting(struct server *server);
/* Subtracts from server_queued_bytes() what was sent or never will be. */
void server_dequeue(struct server *server, size_t *queued);

#endif
