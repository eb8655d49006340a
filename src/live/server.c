// SPDX-License-Identifier: GPL-2.0-or-later
#include "live/server.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/sockios.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/own.h"
#include "base/thread.h"
#include "live/connection.h"
#include "live/listen.h"
#include "live/token.h"

#define SWEEP_MS      250 /* how often deadlines are looked at */
#define LAST_WORDS_MS 500
#define STALLED_MS    1000 /* without taking anything, while others have no place */
#define MAX_ACCEPT    16   /* at a time */
#define MAX_PENDING   256

/* What the data of an epoll event says that is no connection. */
#define EVENT_LISTENER UINT32_MAX
#define EVENT_COMMANDS (UINT32_MAX - 1)

/* Something another thread wants sent. */
struct command {
	bool publish;
	uint64_t ticket;
	struct reply reply;
	size_t owed; /* bytes that are counted as waiting */
	char file_name[64];
};

struct server {
	char url[LISTEN_WHERE_SIZE + TOKEN_DIGITS + 16];
	char token[TOKEN_DIGITS + 1];
	bool public;
	int listener, poll, wake;
	struct server_handler handler;
	pthread_t thread;
	bool started;

	pthread_mutex_t lock; /* of what follows */
	struct command pending[MAX_PENDING];
	uint32_t n_pending;
	bool stopping;
	bool lost; /* something found no room in `pending` */

	uint32_t n_streams; /* atomic */
	size_t waiting;	    /* atomic */

	/* The thread's own. */
	struct connection connections[SERVER_MAX_CONNECTIONS];
	uint32_t n_connections;
	uint64_t n_accepted;
	bool deaf; /* no descriptors left: not listening until the next sweep */
	uint64_t sweep_at;
};

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- connections ---- */

static void watch(struct server *server, const struct connection *connection, int how)
{
	struct epoll_event event = {
		.events = connection_wants(connection),
		.data.u32 = (uint32_t)(connection - server->connections),
	};

	epoll_ctl(server->poll, how, connection->fd, &event);
}

/* What was waiting has gone out, or never will. */
static void forget(struct server *server, size_t *owed)
{
	__atomic_sub_fetch(&server->waiting, *owed, __ATOMIC_RELAXED);
	*owed = 0;
}

static void drop(struct server *server, struct connection *connection)
{
	forget(server, &connection->owed);
	if (connection->state == CONNECTION_WAITING && server->handler.gone)
		server->handler.gone(server->handler.context, connection->ticket);
	if (connection->state == CONNECTION_STREAMING)
		__atomic_sub_fetch(&server->n_streams, 1, __ATOMIC_RELAXED);
	connection_close(connection);
	server->n_connections--;
}

static void write_on(struct server *server, struct connection *connection)
{
	if (connection_write(connection, now_ms()) < 0) {
		drop(server, connection);
		return;
	}
	if (connection->n_queue == 0)
		forget(server, &connection->owed);
	watch(server, connection, EPOLL_CTL_MOD);
}

static void reply(struct server *server, struct connection *connection, const struct reply *with)
{
	if (connection_reply(connection, with, now_ms()) < 0) {
		drop(server, connection);
		return;
	}
	if (connection->state == CONNECTION_STREAMING)
		__atomic_add_fetch(&server->n_streams, 1, __ATOMIC_RELAXED);
	write_on(server, connection);
}

static void refuse(struct server *server, struct connection *connection, int status)
{
	const struct reply with = { .status = status };

	reply(server, connection, &with);
}

/* Leaves what follows the token in the path. */
static bool has_token(const struct server *server, struct request *request)
{
	struct slice path = request->path;
	const char *slash;

	slash = memchr(path.at + 1, '/', path.size - 1);
	if (!slash)
		return false;
	request->path = (struct slice){ slash, path.size - (size_t)(slash - path.at) };
	return token_equal(server->token, path.at + 1, (size_t)(slash - path.at) - 1);
}

static void answer(struct server *server, struct connection *connection, struct request *request)
{
	struct reply with = { 0 };

	connection->head = request->head;
	if (!request_host_is_plain(request) || !request_origin_is_ours(request)) {
		refuse(server, connection, 403);
		return;
	}
	if (!has_token(server, request)) {
		refuse(server, connection, 404);
		return;
	}
	connection->trusted = true;
	connection->state = CONNECTION_WAITING;
	connection->deadline = UINT64_MAX;
	if (server->handler.handle(server->handler.context, request, connection->ticket, &with))
		reply(server, connection, &with);
	else
		watch(server, connection, EPOLL_CTL_MOD);
}

static void read_on(struct server *server, struct connection *connection)
{
	struct request request;
	int r = connection_read(connection, &request);

	if (r == -EPIPE)
		drop(server, connection);
	else if (r < 0)
		refuse(server, connection, -r);
	else if (r > 0)
		answer(server, connection, &request);
}

/* Takes what they still send, which nobody wants, until they have seen ours. */
static void leave(struct server *server, struct connection *connection)
{
	char waste[4096];
	ssize_t n = recv(connection->fd, waste, sizeof(waste), MSG_DONTWAIT);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		drop(server, connection);
}

static void on_event(struct server *server, struct connection *connection, uint32_t events)
{
	switch (connection->state) {
	case CONNECTION_FREE:
		break;
	case CONNECTION_READING:
		read_on(server, connection);
		break;
	case CONNECTION_LEAVING:
		leave(server, connection);
		break;
	case CONNECTION_WAITING:
	case CONNECTION_STREAMING:
		if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) {
			drop(server, connection);
			break;
		}
		/* fall through */
	case CONNECTION_SENDING:
		write_on(server, connection);
		break;
	}
}

/* ---- who comes ---- */

/* Of those who had a second to take something of a reply and did not, the first to be cut off. */
static struct connection *most_stalled(struct server *server)
{
	uint64_t latest = now_ms() + CONNECTION_STALL_MS - STALLED_MS;
	struct connection *found = NULL;

	for (uint32_t i = 0; i < SERVER_MAX_CONNECTIONS; i++) {
		struct connection *connection = &server->connections[i];

		if (connection->state == CONNECTION_SENDING && connection->deadline < latest &&
		    (!found || connection->deadline < found->deadline))
			found = connection;
	}
	return found;
}

/* The stream of which most has not arrived; NULL: all is where it should be. */
static struct connection *most_behind(struct server *server)
{
	struct connection *found = NULL;
	int most = 0;

	for (uint32_t i = 0; i < SERVER_MAX_CONNECTIONS; i++) {
		struct connection *connection = &server->connections[i];
		int unread = 0;

		if (connection->state == CONNECTION_STREAMING &&
		    ioctl(connection->fd, SIOCOUTQ, &unread) == 0 && unread > most) {
			found = connection;
			most = unread;
		}
	}
	return found;
}

/*
 * A free place, if need be that of the stranger who has been here longest, or of somebody who does
 * not take what he asked for.
 */
static struct connection *place(struct server *server)
{
	struct connection *oldest = NULL;

	for (uint32_t i = 0; i < SERVER_MAX_CONNECTIONS; i++) {
		struct connection *connection = &server->connections[i];

		if (connection->state == CONNECTION_FREE)
			return connection;
		if (!connection->trusted && (!oldest || connection->since < oldest->since))
			oldest = connection;
	}
	if (!oldest)
		oldest = most_stalled(server);
	if (oldest)
		drop(server, oldest);
	return oldest;
}

static void listen_on(struct server *server, bool on)
{
	struct epoll_event event = { .events = on ? EPOLLIN : 0, .data.u32 = EVENT_LISTENER };

	epoll_ctl(server->poll, EPOLL_CTL_MOD, server->listener, &event);
	server->deaf = !on;
}

static void accept_some(struct server *server)
{
	for (int i = 0; i < MAX_ACCEPT; i++) {
		int fd = accept4(server->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		struct connection *connection;

		if (fd < 0) {
			if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
			    errno == ENOMEM)
				listen_on(server, false);
			return;
		}
		connection = place(server);
		if (!connection) {
			close(fd);
			continue;
		}
		server->n_connections++;
		connection_open(connection, fd,
				++server->n_accepted << 8 |
					(uint64_t)(connection - server->connections),
				now_ms());
		watch(server, connection, EPOLL_CTL_ADD);
	}
}

static void sweep(struct server *server, uint64_t now)
{
	for (uint32_t i = 0; i < SERVER_MAX_CONNECTIONS; i++) {
		struct connection *connection = &server->connections[i];

		if (connection->state != CONNECTION_FREE && now >= connection->deadline)
			drop(server, connection);
	}
	if (server->deaf)
		listen_on(server, true);
	server->sweep_at = now + SWEEP_MS;
}

/* ---- what others want sent ---- */

static void publish(struct server *server, struct blob *blob)
{
	for (uint32_t i = 0; i < SERVER_MAX_CONNECTIONS; i++) {
		struct connection *connection = &server->connections[i];

		if (connection->state != CONNECTION_STREAMING)
			continue;
		if (connection_publish(connection, blob, now_ms()) < 0)
			drop(server, connection);
		else
			write_on(server, connection);
	}
}

/* Those for whom something was meant that is lost; they come again. */
static void drop_expectant(struct server *server)
{
	for (uint32_t i = 0; i < SERVER_MAX_CONNECTIONS; i++) {
		struct connection *connection = &server->connections[i];

		if (connection->state == CONNECTION_STREAMING ||
		    connection->state == CONNECTION_WAITING)
			drop(server, connection);
	}
}

static bool place_for_stream(struct server *server)
{
	struct connection *behind;

	if (server_n_streams(server) < SERVER_MAX_STREAMS)
		return true;
	behind = most_behind(server);
	if (behind)
		drop(server, behind);
	return behind;
}

static void carry_out(struct server *server, struct command *command)
{
	struct connection *connection =
		&server->connections[(command->ticket & 0xff) % SERVER_MAX_CONNECTIONS];
	size_t owed = command->owed;

	if (command->publish) {
		publish(server, command->reply.body);
		blob_free(command->reply.body);
		return;
	}
	if (connection->state != CONNECTION_WAITING || connection->ticket != command->ticket) {
		forget(server, &owed);
		blob_free(command->reply.body);
		return;
	}
	connection->owed = owed;
	if (command->reply.file_name)
		command->reply.file_name = command->file_name;
	if (command->reply.stream && !place_for_stream(server)) {
		blob_free(command->reply.body);
		refuse(server, connection, 503);
		return;
	}
	reply(server, connection, &command->reply);
}

/* Returns whether it is time to stop. */
static bool take_commands(struct server *server)
{
	struct command commands[MAX_PENDING];
	bool stopping, lost;
	uint64_t count;
	uint32_t n;

	if (read(server->wake, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return true;
	pthread_mutex_lock(&server->lock);
	n = server->n_pending;
	memcpy(commands, server->pending, n * sizeof(commands[0]));
	server->n_pending = 0;
	stopping = server->stopping;
	lost = server->lost;
	server->lost = false;
	pthread_mutex_unlock(&server->lock);
	for (uint32_t i = 0; i < n; i++)
		carry_out(server, &commands[i]);
	if (lost)
		drop_expectant(server);
	return stopping;
}

static void enqueue(struct server *server, const struct command *command)
{
	uint64_t one = 1;
	bool fits;

	pthread_mutex_lock(&server->lock);
	fits = server->n_pending < MAX_PENDING;
	if (fits)
		server->pending[server->n_pending++] = *command;
	else
		server->lost = true;
	pthread_mutex_unlock(&server->lock);
	if (!fits) {
		__atomic_sub_fetch(&server->waiting, command->owed, __ATOMIC_RELAXED);
		blob_free(command->reply.body);
	}
	/* Only a full counter could fail, and that wakes as well. */
	(void)!write(server->wake, &one, sizeof(one));
}

void server_reply(struct server *server, uint64_t ticket, const struct reply *with)
{
	struct command command = { .ticket = ticket,
				   .reply = *with,
				   .owed = with->body ? with->body->size : 0 };

	if (with->file_name)
		snprintf(command.file_name, sizeof(command.file_name), "%s", with->file_name);
	__atomic_add_fetch(&server->waiting, command.owed, __ATOMIC_RELAXED);
	enqueue(server, &command);
}

void server_publish(struct server *server, struct blob *blob)
{
	enqueue(server, &(struct command){ .publish = true, .reply.body = blob });
}

uint32_t server_n_streams(const struct server *server)
{
	return __atomic_load_n(&server->n_streams, __ATOMIC_RELAXED);
}

size_t server_waiting(const struct server *server)
{
	return __atomic_load_n(&server->waiting, __ATOMIC_RELAXED);
}

/* ---- the thread ---- */

/* All it needs is sockets that are open already, and memory. */
static void give_up_privileges(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	syscall(SYS_capset, &header, none);
}

static int time_to_wait(const struct server *server, uint64_t now)
{
	if (!server->n_connections && !server->deaf)
		return -1;
	return server->sweep_at > now ? (int)(server->sweep_at - now) : 0;
}

static bool serve_once(struct server *server)
{
	struct epoll_event events[32];
	uint64_t now = now_ms();
	bool stop = false;
	int n = epoll_wait(server->poll, events, 32, time_to_wait(server, now));

	for (int i = 0; i < n; i++) {
		uint32_t what = events[i].data.u32;

		if (what == EVENT_LISTENER)
			accept_some(server);
		else if (what == EVENT_COMMANDS)
			stop = take_commands(server);
		else
			on_event(server, &server->connections[what], events[i].events);
	}
	now = now_ms();
	if (now >= server->sweep_at)
		sweep(server, now);
	return !stop;
}

/* What is on its way may arrive, if they are quick. */
static void say_last_words(struct server *server)
{
	uint64_t end = now_ms() + LAST_WORDS_MS;

	listen_on(server, false);
	for (bool more = true; more && now_ms() < end;) {
		more = false;
		for (uint32_t i = 0; i < SERVER_MAX_CONNECTIONS; i++) {
			struct connection *connection = &server->connections[i];

			if (connection->state == CONNECTION_STREAMING ||
			    connection->state == CONNECTION_SENDING)
				write_on(server, connection);
			more = more || connection->n_queue > 0;
		}
		if (more)
			poll(NULL, 0, 10);
	}
	for (uint32_t i = 0; i < SERVER_MAX_CONNECTIONS; i++)
		if (server->connections[i].state != CONNECTION_FREE)
			drop(server, &server->connections[i]);
}

static void *serve(void *context)
{
	struct server *server = context;

	give_up_privileges();
	prctl(PR_SET_NAME, "live-serve", 0, 0, 0);
	while (serve_once(server))
		;
	say_last_words(server);
	return NULL;
}

/* ---- opening and closing ---- */

static int add(const struct server *server, int fd, uint32_t what)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = what };

	return epoll_ctl(server->poll, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static int open_server(struct server *server, const char *where, struct error *err)
{
	char at[LISTEN_WHERE_SIZE];
	int r = listen_at(where, at, &server->public, err);

	if (r < 0)
		return r;
	server->listener = r;
	server->poll = epoll_create1(EPOLL_CLOEXEC);
	server->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = server->poll < 0 || server->wake < 0 ? -errno : 0;
	if (r == 0)
		r = add(server, server->listener, EVENT_LISTENER);
	if (r == 0)
		r = add(server, server->wake, EVENT_COMMANDS);
	if (r == 0)
		r = token_make(server->token);
	if (r < 0)
		return error_set(err, r, "cannot serve: %s", strerror(-r));
	snprintf(server->url, sizeof(server->url), "http://%s/%s/", at, server->token);
	return 0;
}

int server_open(const char *where, struct server **ret_server, struct error *err)
{
	struct server *server = calloc(1, sizeof(*server));
	int r;

	if (!server)
		return error_set(err, -ENOMEM, "out of memory");
	pthread_mutex_init(&server->lock, NULL);
	server->listener = server->poll = server->wake = -1;
	r = open_server(server, where, err);
	if (r < 0) {
		server_close(server);
		return r;
	}
	*ret_server = server;
	return 0;
}

const char *server_url(const struct server *server)
{
	return server->url;
}

bool server_is_public(const struct server *server)
{
	return server->public;
}

int server_start(struct server *server, const struct server_handler *handler, struct error *err)
{
	int r;

	server->handler = *handler;
	r = thread_start(&server->thread, serve, server);
	if (r < 0)
		return error_set(err, r, "cannot serve: %s", strerror(-r));
	server->started = true;
	return 0;
}

void server_close(struct server *server)
{
	uint64_t one = 1;

	if (!server)
		return;
	if (server->started) {
		pthread_mutex_lock(&server->lock);
		server->stopping = true;
		pthread_mutex_unlock(&server->lock);
		(void)!write(server->wake, &one, sizeof(one));
		pthread_join(server->thread, NULL);
	}
	for (uint32_t i = 0; i < server->n_pending; i++)
		blob_free(server->pending[i].reply.body);
	own_fd(&server->listener);
	own_fd(&server->poll);
	own_fd(&server->wake);
	pthread_mutex_destroy(&server->lock);
	free(server);
}
