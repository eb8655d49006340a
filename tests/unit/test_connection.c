// SPDX-License-Identifier: GPL-2.0-or-later
/* A connection over a socket pair: reads, the queue, replies, streams, and deadlines. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "live/connection.h"

#define HEAD "GET /a HTTP/1.1\r\nHost: localhost\r\n"

struct pair {
	struct connection connection;
	int peer;
};

static int set_up(void **state)
{
	struct pair *pair = calloc(1, sizeof(*pair));
	int fds[2];

	if (!pair || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) < 0)
		return -1;
	connection_open(&pair->connection, fds[0], 7, 1000);
	pair->peer = fds[1];
	*state = pair;
	return 0;
}

static int tear_down(void **state)
{
	struct pair *pair = *state;

	connection_close(&pair->connection);
	if (pair->peer >= 0)
		close(pair->peer);
	free(pair);
	return 0;
}

static struct buffer *a_buffer(size_t size)
{
	char *bytes = malloc(size + 1);
	struct buffer *buffer;

	assert_non_null(bytes);
	memset(bytes, 'x', size);
	buffer = buffer_new(bytes, size);
	assert_non_null(buffer);
	return buffer;
}

static void peer_sends(struct pair *pair, const char *text)
{
	assert_int_equal(send(pair->peer, text, strlen(text), 0), strlen(text));
}

/* Reads the bytes that have arrived, and returns their number. */
static size_t peer_takes(struct pair *pair, char *bytes, size_t size)
{
	size_t taken = 0;
	ssize_t n;

	while (taken < size && (n = recv(pair->peer, bytes + taken, size - taken, 0)) > 0)
		taken += (size_t)n;
	return taken;
}

static void expect_reply(struct pair *pair, const struct reply *reply, const char *head,
			 const char *body)
{
	char bytes[4096];
	size_t size;

	assert_int_equal(connection_reply(&pair->connection, reply, 2000), 0);
	assert_int_equal(connection_write(&pair->connection, 2000), 0);
	size = peer_takes(pair, bytes, sizeof(bytes) - 1);
	bytes[size] = '\0';
	assert_non_null(strstr(bytes, head));
	assert_non_null(strstr(bytes, "\r\n\r\n"));
	assert_string_equal(strstr(bytes, "\r\n\r\n") + 4, body);
}

/* ---- reading */

static void a_request_may_arrive_in_parts(void **state)
{
	struct pair *pair = *state;
	struct request request;

	assert_int_equal(connection_events(&pair->connection), EPOLLIN);
	assert_int_equal(connection_read(&pair->connection, &request), 0);
	peer_sends(pair, HEAD);
	assert_int_equal(connection_read(&pair->connection, &request), 0);
	peer_sends(pair, "\r");
	assert_int_equal(connection_read(&pair->connection, &request), 0);
	peer_sends(pair, "\n");
	assert_int_equal(connection_read(&pair->connection, &request), 1);
	assert_true(slice_is(request.path, "/a"));
	assert_int_equal(pair->connection.deadline, 1000 + CONNECTION_READ_MS);
}

static void a_request_that_is_too_long_is_refused(void **state)
{
	static const struct {
		const char *start;
		size_t size;
		int status;
	} cases[] = {
		{ "GET /", REQUEST_MAX_SIZE, 414 },
		{ HEAD "X: ", REQUEST_MAX_SIZE, 431 },
		{ HEAD "X: ", REQUEST_MAX_SIZE - 1, 0 },
	};
	struct pair *pair = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[REQUEST_MAX_SIZE + 1];
		struct request request;

		memset(text, 'a', cases[i].size);
		text[cases[i].size] = '\0';
		memcpy(text, cases[i].start, strlen(cases[i].start));
		pair->connection.n_in = 0;
		peer_sends(pair, text);
		assert_int_equal(connection_read(&pair->connection, &request), -cases[i].status);
	}
}

static void a_client_that_leaves_is_noticed(void **state)
{
	struct pair *pair = *state;
	struct request request;

	peer_sends(pair, HEAD);
	close(pair->peer);
	pair->peer = -1;
	assert_int_equal(connection_read(&pair->connection, &request), -EPIPE);
	/* Sending to it raises no SIGPIPE. */
	assert_int_equal(connection_reply(&pair->connection, &(struct reply){ .status = 200 }, 0),
			 0);
	assert_int_equal(connection_write(&pair->connection, 0), -EPIPE);
}

/* ---- replies */

static void a_reply_has_its_fields(void **state)
{
	const struct reply reply = { .status = 200,
				     .type = "application/json",
				     .policy = "default-src 'self'",
				     .file_name = "a.json",
				     .body = buffer_new(strdup("{}"), 2) };
	struct pair *pair = *state;
	char byte;

	expect_reply(pair, &reply,
		     "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
		     "Content-Disposition: attachment; filename=\"a.json\"\r\n",
		     "{}");
	/* The client has the whole reply and must close the connection. */
	assert_int_equal(recv(pair->peer, &byte, 1, 0), 0);
	assert_int_equal(pair->connection.state, CONNECTION_LINGERING);
	assert_int_equal(connection_events(&pair->connection), EPOLLIN);
	assert_in_range(pair->connection.deadline, 2001, 2000 + CONNECTION_STALL_MS - 1);
}

static void the_default_policy_allows_nothing(void **state)
{
	expect_reply(*state, &(struct reply){ .status = 404 },
		     "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'; sandbox",
		     "404 Not Found\n");
}

static void a_wrong_method_names_the_right_ones(void **state)
{
	expect_reply(*state, &(struct reply){ .status = 405 }, "\r\nAllow: GET, HEAD\r\n",
		     "405 Method Not Allowed\n");
}

static void head_has_no_body(void **state)
{
	const struct reply reply = { .status = 200, .type = "a/b", .body = a_buffer(100) };
	struct pair *pair = *state;

	pair->connection.head = true;
	expect_reply(pair, &reply, "Content-Length: 100\r\n", "");
}

/* ---- slow clients */

static void a_large_reply_is_sent_in_parts(void **state)
{
	const size_t size = 2 << 20;
	const struct reply reply = { .status = 200, .type = "a/b", .body = a_buffer(size) };
	struct pair *pair = *state;
	char *bytes = malloc(size + 4096);
	size_t taken = 0;
	uint64_t now = 5000;

	assert_non_null(bytes);
	assert_int_equal(connection_reply(&pair->connection, &reply, now), 0);
	assert_int_equal(connection_write(&pair->connection, now), 0);
	assert_int_equal(pair->connection.state, CONNECTION_SENDING);
	assert_int_equal(connection_events(&pair->connection), EPOLLOUT);
	/* The deadline stays while the client reads nothing. */
	assert_int_equal(pair->connection.deadline, now + CONNECTION_STALL_MS);
	assert_int_equal(connection_write(&pair->connection, now + 1000), 0);
	assert_int_equal(pair->connection.deadline, now + CONNECTION_STALL_MS);
	while (pair->connection.state == CONNECTION_SENDING) {
		size_t part = peer_takes(pair, bytes + taken, size + 4096 - taken);

		assert_true(part > 0);
		taken += part;
		now += 1000;
		assert_int_equal(connection_write(&pair->connection, now), 0);
		if (pair->connection.state == CONNECTION_SENDING)
			assert_int_equal(pair->connection.deadline, now + CONNECTION_STALL_MS);
	}
	taken += peer_takes(pair, bytes + taken, size + 4096 - taken);
	assert_true(taken > size);
	for (size_t i = taken - size; i < taken; i++)
		assert_int_equal(bytes[i], 'x');
	free(bytes);
}

/* A client cannot keep a connection for ever by taking a byte now and then. */
static void a_reply_has_to_end(void **state)
{
	const struct reply reply = { .status = 200, .type = "a/b", .body = a_buffer(2 << 20) };
	struct pair *pair = *state;
	char bytes[65536];

	assert_int_equal(connection_reply(&pair->connection, &reply, 0), 0);
	assert_int_equal(connection_write(&pair->connection, 0), 0);
	assert_true(peer_takes(pair, bytes, sizeof(bytes)) > 0);
	assert_int_equal(connection_write(&pair->connection, CONNECTION_SEND_MS - 10), 0);
	assert_int_equal(pair->connection.deadline, CONNECTION_SEND_MS);
}

static void start_stream(struct pair *pair)
{
	const struct reply reply = {
		.status = 200, .type = "text/event-stream", .stream = true, .body = a_buffer(10)
	};

	assert_int_equal(connection_reply(&pair->connection, &reply, 0), 0);
	assert_int_equal(connection_write(&pair->connection, 0), 0);
	assert_int_equal(pair->connection.state, CONNECTION_STREAMING);
	assert_int_equal(pair->connection.n_queue, 0);
}

static void a_stream_goes_on(void **state)
{
	struct pair *pair = *state;
	struct buffer *buffer = a_buffer(100);
	char bytes[4096];

	start_stream(pair);
	bytes[peer_takes(pair, bytes, sizeof(bytes) - 1)] = '\0';
	assert_null(strstr(bytes, "Content-Length"));
	assert_int_equal(pair->connection.deadline, UINT64_MAX);
	assert_int_equal(connection_events(&pair->connection), EPOLLRDHUP);
	assert_int_equal(connection_publish(&pair->connection, buffer, 50), 0);
	assert_int_equal(buffer->references, 2);
	assert_int_equal(pair->connection.deadline, 50 + CONNECTION_STALL_MS);
	assert_int_equal(connection_events(&pair->connection), EPOLLRDHUP | EPOLLOUT);
	assert_int_equal(connection_write(&pair->connection, 60), 0);
	assert_int_equal(peer_takes(pair, bytes, sizeof(bytes)), 100);
	/* With an empty queue there is no deadline. */
	assert_int_equal(pair->connection.deadline, UINT64_MAX);
	assert_int_equal(buffer->references, 1);
	buffer_unref(buffer);
}

static void a_stream_has_a_bounded_queue(void **state)
{
	struct pair *pair = *state;
	struct buffer *buffer = a_buffer(1 << 20);

	start_stream(pair);
	for (uint32_t i = 0; i < SERVER_MAX_QUEUE; i++) {
		assert_int_equal(connection_publish(&pair->connection, buffer, 100 + i), 0);
		assert_int_equal(connection_write(&pair->connection, 100), 0);
	}
	/* The socket took a part of the first buffer, so all of them are still queued. */
	assert_int_equal(connection_publish(&pair->connection, buffer, 200), -ENOBUFS);
	assert_int_equal(pair->connection.n_queue, SERVER_MAX_QUEUE);
	assert_int_equal(buffer->references, 1 + SERVER_MAX_QUEUE);
	/* Later buffers do not postpone the deadline. */
	assert_int_equal(pair->connection.deadline, 100 + CONNECTION_STALL_MS);
	connection_close(&pair->connection);
	assert_int_equal(buffer->references, 1);
	assert_int_equal(pair->connection.state, CONNECTION_FREE);
	buffer_unref(buffer);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_request_may_arrive_in_parts),
		TEST(a_request_that_is_too_long_is_refused),
		TEST(a_client_that_leaves_is_noticed),
		TEST(a_reply_has_its_fields),
		TEST(the_default_policy_allows_nothing),
		TEST(a_wrong_method_names_the_right_ones),
		TEST(head_has_no_body),
		TEST(a_large_reply_is_sent_in_parts),
		TEST(a_reply_has_to_end),
		TEST(a_stream_goes_on),
		TEST(a_stream_has_a_bounded_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
