// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own.h"
#include "base/thread.h"
#include "confined/rights.h"
#include "live/server_internal.h"

#define DRAIN_MS 500

DEFINE_OWN(struct server, server_close)

/* ---- commands of other threads ---- */

/* Returns whether it is time to stop. */
static bool take_commands(struct server *server)
{
	struct server_command commands[SERVER_MAX_COMMANDS];
	bool stopping, overflowed;
	uint64_t count;
	uint32_t n;

	if (read(server->wake, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return true;
	pthread_mutex_lock(&server->lock);
	n = server->n_commands;
	memcpy(commands, server->commands, n * sizeof(commands[0]));
	server->n_commands = 0;
	stopping = server->stopping;
	overflowed = server->overflowed;
	server->overflowed = false;
	pthread_mutex_unlock(&server->lock);
	for (uint32_t i = 0; i < n; i++)
		server_carry_out(server, &commands[i]);
	if (overflowed)
		server_disconnect_waiting(server);
	return stopping;
}

static void wake(struct server *server)
{
	uint64_t one = 1;

	/* Only fails when the counter is full, and then it wakes as well. */
	(void)!write(server->wake, &one, sizeof(one));
}

static void enqueue(struct server *server, struct server_command *command)
{
	bool fits;

	pthread_mutex_lock(&server->lock);
	fits = server->n_commands < SERVER_MAX_COMMANDS;
	if (fits)
		server->commands[server->n_commands++] = *command;
	else
		server->overflowed = true;
	pthread_mutex_unlock(&server->lock);
	if (!fits) {
		server_dequeue(server, &command->queued);
		buffer_unref(command->reply.body);
	}
	wake(server);
}

void server_reply(struct server *server, uint64_t request_id, const struct reply *with)
{
	struct server_command command = { .request_id = request_id,
					  .reply = *with,
					  .queued = with->body ? with->body->size : 0 };

	if (with->file_name)
		snprintf(command.file_name, sizeof(command.file_name), "%s", with->file_name);
	__atomic_add_fetch(&server->queued_bytes, command.queued, __ATOMIC_RELAXED);
	enqueue(server, &command);
}

void server_publish(struct server *server, struct buffer *buffer)
{
	enqueue(server, &(struct server_command){ .publish = true, .reply.body = buffer });
}

uint32_t server_n_streams(const struct server *server)
{
	return __atomic_load_n(&server->n_streams, __ATOMIC_RELAXED);
}

size_t server_queued_bytes(const struct server *server)
{
	return __atomic_load_n(&server->queued_bytes, __ATOMIC_RELAXED);
}

/* ---- the thread ---- */

static int time_to_wait(const struct server *server, uint64_t now)
{
	if (!server->n_connections && !server->accept_paused)
		return -1;
	return server->sweep_at > now ? (int)(server->sweep_at - now) : 0;
}

static bool serve_once(struct server *server)
{
	struct epoll_event events[32];
	uint64_t now = monotonic_ms();
	bool stop = false;
	int n = epoll_wait(server->epoll, events, 32, time_to_wait(server, now));

	for (int i = 0; i < n; i++) {
		uint32_t what = events[i].data.u32;

		if (what == SERVER_EVENT_LISTENER)
			server_accept(server);
		else if (what == SERVER_EVENT_WAKE)
			stop = take_commands(server);
		else
			server_on_event(server, &server->connections[what], events[i].events);
	}
	now = monotonic_ms();
	if (now >= server->sweep_at)
		server_sweep(server, now);
	return !stop;
}

/* Sends what is queued to clients that read it soon, then closes all connections. */
static void drain(struct server *server)
{
	uint64_t end = monotonic_ms() + DRAIN_MS;

	server_set_accepting(server, false);
	for (bool more = true; more && monotonic_ms() < end;) {
		more = false;
		for (uint32_t i = 0; i < SERVER_MAX_CONNECTIONS; i++) {
			struct connection *connection = &server->connections[i];

			if (connection->state == CONNECTION_STREAMING ||
			    connection->state == CONNECTION_SENDING)
				server_write(server, connection);
			more = more || connection->n_queue > 0;
		}
		if (more)
			poll(NULL, 0, 10);
	}
	for (uint32_t i = 0; i < SERVER_MAX_CONNECTIONS; i++)
		if (server->connections[i].state != CONNECTION_FREE)
			server_disconnect(server, &server->connections[i]);
}

static void *serve(void *context)
{
	struct server *server = context;

	prctl(PR_SET_NAME, "live-serve", 0, 0, 0);
	server->rights = rights_keep_serving(server->wake);
	sem_post(&server->confined);
	if (server->rights < 0)
		return NULL;
	while (serve_once(server))
		;
	drain(server);
	return NULL;
}

/* ---- opening and closing ---- */

static int add(const struct server *server, int fd, uint32_t what)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = what };

	return epoll_ctl(server->epoll, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static int open_server(const char *where, const char *token_file, struct server *server,
		       struct error *err)
{
	char at[LISTEN_WHERE_SIZE];
	int r = listen_at(where, at, &server->public, err);

	if (r < 0)
		return r;
	server->listener = r;
	server->epoll = epoll_create1(EPOLL_CLOEXEC);
	server->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (server->epoll < 0 || server->wake < 0)
		return error_set(err, -errno, "cannot serve: %s", strerror(errno));
	r = add(server, server->listener, SERVER_EVENT_LISTENER);
	if (r == 0)
		r = add(server, server->wake, SERVER_EVENT_WAKE);
	if (r == 0)
		r = token_file ? token_of_file(token_file, server->token, err)
			       : token_make(server->token);
	if (r < 0)
		return err && err->exit_class ? r
					      : error_set(err, r, "cannot serve: %s", strerror(-r));
	snprintf(server->url, sizeof(server->url), "http://%s/%s/", at, server->token);
	return 0;
}

int server_open(const char *where, const char *token_file, struct server **ret_server,
		struct error *err)
{
	own(own_server_close) struct server *server = calloc(1, sizeof(*server));
	int r;

	if (!server)
		return error_set(err, -ENOMEM, "out of memory");
	pthread_mutex_init(&server->lock, NULL);
	sem_init(&server->confined, 0, 0);
	server->listener = server->epoll = server->wake = -1;
	r = open_server(where, token_file, server, err);
	if (r < 0)
		return r;
	*ret_server = take_ptr(server);
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
	while (sem_wait(&server->confined) < 0)
		;
	if (server->rights < 0)
		return error_set(err, server->rights,
				 "cannot serve: the thread keeps its privileges: %s",
				 strerror(-server->rights));
	return 0;
}

void server_close(struct server *server)
{
	if (!server)
		return;
	if (server->started) {
		pthread_mutex_lock(&server->lock);
		server->stopping = true;
		pthread_mutex_unlock(&server->lock);
		wake(server);
		pthread_join(server->thread, NULL);
	}
	for (uint32_t i = 0; i < server->n_commands; i++)
		buffer_unref(server->commands[i].reply.body);
	own_fd(&server->listener);
	own_fd(&server->epoll);
	own_fd(&server->wake);
	sem_destroy(&server->confined);
	pthread_mutex_destroy(&server->lock);
	free(server);
}
