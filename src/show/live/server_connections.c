// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "live/server_internal.h"

#define SWEEP_MS   250	/* between two checks of deadlines */
#define STALLED_MS 1000 /* without a byte sent: may be replaced by a new client */
#define MAX_ACCEPT 16	/* at a time */

/* ---- replies ---- */

static void set_events(struct server *server, const struct connection *connection, int operation)
{
	struct epoll_event event = {
		.events = connection_events(connection),
		.data.u32 = (uint32_t)(connection - server->connections),
	};

	epoll_ctl(server->epoll, operation, connection->fd, &event);
}

void server_dequeue(struct server *server, size_t *queued)
{
	__atomic_sub_fetch(&server->queued_bytes, *queued, __ATOMIC_RELAXED);
	*queued = 0;
}

void server_disconnect(struct server *server, struct connection *connection)
{
	server_dequeue(server, &connection->queued);
	if (connection->state == CONNECTION_WAITING && server->handler.cancel)
		server->handler.cancel(server->handler.context, connection->request_id);
	if (connection->state == CONNECTION_STREAMING)
		__atomic_sub_fetch(&server->n_streams, 1, __ATOMIC_RELAXED);
	connection_close(connection);
	server->n_connections--;
}

void server_write(struct server *server, struct connection *connection)
{
	if (connection_write(connection, monotonic_ms()) < 0) {
		server_disconnect(server, connection);
		return;
	}
	if (connection->n_queue == 0)
		server_dequeue(server, &connection->queued);
	set_events(server, connection, EPOLL_CTL_MOD);
}

static void reply(struct server *server, struct connection *connection, const struct reply *with)
{
	if (connection_reply(connection, with, monotonic_ms()) < 0) {
		server_disconnect(server, connection);
		return;
	}
	if (connection->state == CONNECTION_STREAMING)
		__atomic_add_fetch(&server->n_streams, 1, __ATOMIC_RELAXED);
	server_write(server, connection);
}

static void refuse(struct server *server, struct connection *connection, int status)
{
	const struct reply with = { .status = status };

	reply(server, connection, &with);
}

/* ---- requests ---- */

/* Whether the path begins with the token, which is then removed from it. */
static bool take_token(const struct server *server, struct request *request)
{
	struct slice path = request->path;
	const char *slash = memchr(path.at + 1, '/', path.size - 1);

	if (!slash)
		return false;
	request->path = (struct slice){ slash, path.size - (size_t)(slash - path.at) };
	return token_equal(server->token, path.at + 1, (size_t)(slash - path.at) - 1);
}

static void handle(struct server *server, struct connection *connection, struct request *request)
{
	struct reply with = { 0 };

	connection->head = request->head;
	if (!request_host_is_literal(request) || !request_is_same_origin(request)) {
		refuse(server, connection, 403);
		return;
	}
	if (!take_token(server, request)) {
		refuse(server, connection, 404);
		return;
	}
	connection->authenticated = true;
	connection->state = CONNECTION_WAITING;
	connection->deadline = UINT64_MAX;
	if (server->handler.handle(server->handler.context, request, connection->request_id, &with))
		reply(server, connection, &with);
	else
		set_events(server, connection, EPOLL_CTL_MOD);
}

static void on_input(struct server *server, struct connection *connection)
{
	struct request request;
	int r = connection_read(connection, &request);

	if (r == -EPIPE)
		server_disconnect(server, connection);
	else if (r < 0)
		refuse(server, connection, -r);
	else if (r > 0)
		handle(server, connection, &request);
}

/* Discards what the client still sends until it closes its side. */
static void linger(struct server *server, struct connection *connection)
{
	char discarded[4096];
	ssize_t n = recv(connection->fd, discarded, sizeof(discarded), MSG_DONTWAIT);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		server_disconnect(server, connection);
}

void server_on_event(struct server *server, struct connection *connection, uint32_t events)
{
	switch (connection->state) {
	case CONNECTION_FREE:
		break;
	case CONNECTION_READING:
		on_input(server, connection);
		break;
	case CONNECTION_LINGERING:
		linger(server, connection);
		break;
	case CONNECTION_WAITING:
	case CONNECTION_STREAMING:
		if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) {
			server_disconnect(server, connection);
			break;
		}
		/* fall through */
	case CONNECTION_SENDING:
		server_write(server, connection);
		break;
	}
}

/* ---- new connections ---- */

/* The connection whose reply has been stalled for longest, and for STALLED_MS; or NULL. */
static struct connection *most_stalled(struct server *server)
{
	uint64_t latest = monotonic_ms() + CONNECTION_STALL_MS - STALLED_MS;
	struct connection *found = NULL;

	for (uint32_t i = 0; i < SERVER_MAX_CONNECTIONS; i++) {
		struct connection *connection = &server->connections[i];

		if (connection->state == CONNECTION_SENDING && connection->deadline < latest &&
		    (!found || connection->deadline < found->deadline))
			found = connection;
	}
	return found;
}

/* A free connection, made by closing another if need be; NULL when none may be closed. */
static struct connection *find_place(struct server *server)
{
	struct connection *oldest = NULL;

	for (uint32_t i = 0; i < SERVER_MAX_CONNECTIONS; i++) {
		struct connection *connection = &server->connections[i];

		if (connection->state == CONNECTION_FREE)
			return connection;
		if (!connection->authenticated && (!oldest || connection->since < oldest->since))
			oldest = connection;
	}
	if (!oldest)
		oldest = most_stalled(server);
	if (oldest)
		server_disconnect(server, oldest);
	return oldest;
}

void server_set_accepting(struct server *server, bool accepting)
{
	struct epoll_event event = { .events = accepting ? EPOLLIN : 0,
				     .data.u32 = SERVER_EVENT_LISTENER };

	epoll_ctl(server->epoll, EPOLL_CTL_MOD, server->listener, &event);
	server->accept_paused = !accepting;
}

void server_accept(struct server *server)
{
	for (int i = 0; i < MAX_ACCEPT; i++) {
		int fd = accept4(server->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		struct connection *connection;
		uint64_t index;

		if (fd < 0) {
			if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
			    errno == ENOMEM)
				server_set_accepting(server, false);
			return;
		}
		connection = find_place(server);
		if (!connection) {
			close(fd);
			continue;
		}
		server->n_connections++;
		/* The low byte of a request's id finds its connection again. */
		index = (uint64_t)(connection - server->connections);
		connection_open(connection, fd, ++server->n_accepted << 8 | index, monotonic_ms());
		set_events(server, connection, EPOLL_CTL_ADD);
	}
}

void server_sweep(struct server *server, uint64_t now)
{
	for (uint32_t i = 0; i < SERVER_MAX_CONNECTIONS; i++) {
		struct connection *connection = &server->connections[i];

		if (connection->state != CONNECTION_FREE && now >= connection->deadline)
			server_disconnect(server, connection);
	}
	if (server->accept_paused)
		server_set_accepting(server, true);
	server->sweep_at = now + SWEEP_MS;
}

/* ---- commands ---- */

static void publish(struct server *server, struct buffer *buffer)
{
	for (uint32_t i = 0; i < SERVER_MAX_CONNECTIONS; i++) {
		struct connection *connection = &server->connections[i];

		if (connection->state != CONNECTION_STREAMING)
			continue;
		if (connection_publish(connection, buffer, monotonic_ms()) < 0)
			server_disconnect(server, connection);
		else
			server_write(server, connection);
	}
}

/* The stream with most bytes that its client has not acknowledged; NULL when all have none. */
static struct connection *furthest_behind(struct server *server)
{
	struct connection *found = NULL;
	int most = 0;

	for (uint32_t i = 0; i < SERVER_MAX_CONNECTIONS; i++) {
		struct connection *connection = &server->connections[i];
		int unsent = 0;

		if (connection->state == CONNECTION_STREAMING &&
		    ioctl(connection->fd, SIOCOUTQ, &unsent) == 0 && unsent > most) {
			found = connection;
			most = unsent;
		}
	}
	return found;
}

static bool make_place_for_stream(struct server *server)
{
	struct connection *behind;

	if (server_n_streams(server) < SERVER_MAX_STREAMS)
		return true;
	behind = furthest_behind(server);
	if (behind)
		server_disconnect(server, behind);
	return behind;
}

void server_carry_out(struct server *server, struct server_command *command)
{
	struct connection *connection =
		&server->connections[(command->request_id & 0xff) % SERVER_MAX_CONNECTIONS];

	if (command->publish) {
		publish(server, command->reply.body);
		buffer_unref(command->reply.body);
		return;
	}
	if (connection->state != CONNECTION_WAITING ||
	    connection->request_id != command->request_id) {
		server_dequeue(server, &command->queued);
		buffer_unref(command->reply.body);
		return;
	}
	connection->queued = command->queued;
	if (command->reply.file_name)
		command->reply.file_name = command->file_name;
	if (command->reply.stream && !make_place_for_stream(server)) {
		buffer_unref(command->reply.body);
		refuse(server, connection, 503);
		return;
	}
	reply(server, connection, &command->reply);
}

void server_disconnect_waiting(struct server *server)
{
	for (uint32_t i = 0; i < SERVER_MAX_CONNECTIONS; i++) {
		struct connection *connection = &server->connections[i];

		if (connection->state == CONNECTION_STREAMING ||
		    connection->state == CONNECTION_WAITING)
			server_disconnect(server, connection);
	}
}
