// SPDX-License-Identifier: GPL-2.0-or-later
#include "live/connection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINGER_MS 1000

/* Nothing may be cached, embedded in other pages or interpreted as another type. */
#define FIELDS                                                                                     \
	"Connection: close\r\n"                                                                    \
	"Cache-Control: no-store\r\n"                                                              \
	"X-Content-Type-Options: nosniff\r\n"                                                      \
	"Referrer-Policy: no-referrer\r\n"                                                         \
	"Cross-Origin-Opener-Policy: same-origin\r\n"                                              \
	"Cross-Origin-Resource-Policy: same-origin\r\n"

#define NO_POLICY "default-src 'none'; frame-ancestors 'none'; sandbox"

void connection_open(struct connection *connection, int fd, uint64_t request_id, uint64_t now)
{
	connection->state = CONNECTION_READING;
	connection->fd = fd;
	connection->request_id = request_id;
	connection->since = now;
	connection->deadline = now + CONNECTION_READ_MS;
	connection->authenticated = connection->head = false;
	connection->n_in = connection->sent = connection->queued = 0;
	connection->n_queue = 0;
}

void connection_close(struct connection *connection)
{
	if (connection->state == CONNECTION_FREE)
		return;
	close(connection->fd);
	for (uint32_t i = 0; i < connection->n_queue; i++)
		buffer_unref(connection->queue[i]);
	connection->n_queue = 0;
	connection->state = CONNECTION_FREE;
}

int connection_read(struct connection *connection, struct request *ret_request)
{
	for (;;) {
		size_t capacity = sizeof(connection->in) - connection->n_in;
		ssize_t n = recv(connection->fd, connection->in + connection->n_in, capacity, 0);
		int r;

		if (n == 0)
			return -EPIPE;
		if (n < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -EPIPE;
		connection->n_in += (size_t)n;
		/* Parsing anew for each byte of a slow client would cost too much. */
		if (connection->n_in < sizeof(connection->in) &&
		    !memchr(connection->in + connection->n_in - n, '\n', (size_t)n))
			continue;
		r = request_parse(connection->in, connection->n_in, ret_request);
		if (r != 0)
			return r < 0 ? r : 1;
	}
}

static const char *status_text(int status)
{
	switch (status) {
	case 200:
		return "OK";
	case 400:
		return "Bad Request";
	case 403:
		return "Forbidden";
	case 404:
		return "Not Found";
	case 405:
		return "Method Not Allowed";
	case 413:
		return "Content Too Large";
	case 414:
		return "URI Too Long";
	case 431:
		return "Request Header Fields Too Large";
	case 501:
		return "Not Implemented";
	case 503:
		return "Service Unavailable";
	case 505:
		return "HTTP Version Not Supported";
	}
	return "Internal Server Error";
}

static struct buffer *make_head(const struct reply *reply, const char *type, size_t size)
{
	char length[64] = "", name[128] = "", *head = NULL;
	int n;

	if (!reply->stream)
		snprintf(length, sizeof(length), "Content-Length: %zu\r\n", size);
	if (reply->file_name)
		snprintf(name, sizeof(name), "Content-Disposition: attachment; filename=\"%s\"\r\n",
			 reply->file_name);
	n = asprintf(&head,
		     "HTTP/1.1 %d %s\r\nContent-Type: %s\r\n%s%s%s%s" FIELDS
		     "Content-Security-Policy: %s\r\n\r\n",
		     reply->status, status_text(reply->status), type, length, name,
		     reply->status == 405 ? "Allow: GET, HEAD\r\n" : "",
		     reply->status == 503 ? "Retry-After: 1\r\n" : "",
		     reply->policy ? reply->policy : NO_POLICY);
	return n < 0 ? NULL : buffer_new(head, (size_t)n);
}

static struct buffer *make_status_line(int status)
{
	char *line = NULL;
	int n = asprintf(&line, "%d %s\n", status, status_text(status));

	return n < 0 ? NULL : buffer_new(line, (size_t)n);
}

int connection_reply(struct connection *connection, const struct reply *reply, uint64_t now)
{
	const char *type = reply->body ? reply->type : "text/plain; charset=utf-8";
	struct buffer *body = reply->body ? reply->body : make_status_line(reply->status);
	struct buffer *head = body ? make_head(reply, type, body->size) : NULL;

	if (!head) {
		buffer_unref(body);
		return -ENOMEM;
	}
	connection->queue[connection->n_queue++] = head;
	if (connection->head)
		buffer_unref(body);
	else
		connection->queue[connection->n_queue++] = body;
	connection->state =
		reply->stream && !connection->head ? CONNECTION_STREAMING : CONNECTION_SENDING;
	connection->since = now;
	connection->deadline = now + CONNECTION_STALL_MS;
	return 0;
}

int connection_publish(struct connection *connection, struct buffer *buffer, uint64_t now)
{
	if (connection->n_queue >= SERVER_MAX_QUEUE)
		return -ENOBUFS;
	if (connection->n_queue == 0)
		connection->deadline = now + CONNECTION_STALL_MS;
	connection->queue[connection->n_queue++] = buffer_ref(buffer);
	return 0;
}

static void next_buffer(struct connection *connection)
{
	buffer_unref(connection->queue[0]);
	connection->n_queue--;
	memmove(connection->queue, connection->queue + 1,
		connection->n_queue * sizeof(connection->queue[0]));
	connection->sent = 0;
}

static void postpone_deadline(struct connection *connection, uint64_t now)
{
	uint64_t last = connection->since + CONNECTION_SEND_MS;

	connection->deadline = now + CONNECTION_STALL_MS;
	if (connection->state == CONNECTION_SENDING && last < connection->deadline)
		connection->deadline = last;
}

int connection_write(struct connection *connection, uint64_t now)
{
	while (connection->n_queue > 0) {
		const struct buffer *buffer = connection->queue[0];
		ssize_t n;

		if (connection->sent == buffer->size) {
			next_buffer(connection);
			continue;
		}
		n = send(connection->fd, buffer->bytes + connection->sent,
			 buffer->size - connection->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -EPIPE;
		connection->sent += (size_t)n;
		postpone_deadline(connection, now);
	}
	if (connection->state == CONNECTION_STREAMING) {
		connection->deadline = UINT64_MAX;
		return 0;
	}
	/* Closing with unread input would reset the connection and lose what was sent. */
	shutdown(connection->fd, SHUT_WR);
	connection->state = CONNECTION_LINGERING;
	connection->deadline = now + LINGER_MS;
	return 0;
}

uint32_t connection_events(const struct connection *connection)
{
	uint32_t out = connection->n_queue > 0 ? EPOLLOUT : 0;

	switch (connection->state) {
	case CONNECTION_READING:
	case CONNECTION_LINGERING:
		return EPOLLIN;
	case CONNECTION_SENDING:
		return EPOLLOUT;
	case CONNECTION_WAITING:
	case CONNECTION_STREAMING:
		return EPOLLRDHUP | out;
	case CONNECTION_FREE:
		break;
	}
	return 0;
}
