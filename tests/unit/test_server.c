// SPDX-License-Identifier: GPL-2.0-or-later
/* The live server on the loopback address: which clients it serves, and which it disconnects. */
#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <cmocka.h>

#include "http_client.h"
#include "live/server.h"

/*
 * A handler of paths: "/now" is answered at once, "/later" by the test, "/stream" and "/large"
 * through server_reply(); "/hold" keeps the server's thread until `go_on`.
 */
struct fixture {
	struct server *server;
	sem_t handled, cancelled, held, go_on;
	uint64_t request_id; /* of the request handled last; read after `handled` */
	uint64_t cancelled_id;
	size_t large; /* bytes of the reply to "/large" */
};

static struct buffer *text_buffer(const char *text)
{
	struct buffer *buffer = buffer_new(strdup(text), strlen(text));

	assert_non_null(buffer);
	return buffer;
}

static bool handle(void *context, const struct request *request, uint64_t request_id,
		   struct reply *ret_reply)
{
	struct reply reply = { .status = 200, .type = "text/plain" };
	struct fixture *fixture = context;
	bool now = slice_is(request->path, "/now");

	fixture->request_id = request_id;
	if (slice_is(request->path, "/hold")) {
		sem_post(&fixture->held);
		sem_wait(&fixture->go_on);
		now = true;
	}
	if (now) {
		reply.body = text_buffer("now");
		*ret_reply = reply;
	} else if (slice_is(request->path, "/stream")) {
		reply.stream = true;
		reply.body = text_buffer("start;");
		server_reply(fixture->server, request_id, &reply);
	} else if (slice_is(request->path, "/large")) {
		reply.body = buffer_new(calloc(1, fixture->large), fixture->large);
		server_reply(fixture->server, request_id, &reply);
	}
	sem_post(&fixture->handled);
	return now;
}

static void cancel(void *context, uint64_t request_id)
{
	struct fixture *fixture = context;

	fixture->cancelled_id = request_id;
	sem_post(&fixture->cancelled);
}

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	const struct server_handler handler = { handle, cancel, fixture };
	struct error err = { 0 };

	if (!fixture || server_open(NULL, NULL, &fixture->server, &err) < 0)
		return -1;
	sem_init(&fixture->handled, 0, 0);
	sem_init(&fixture->cancelled, 0, 0);
	sem_init(&fixture->held, 0, 0);
	sem_init(&fixture->go_on, 0, 0);
	*state = fixture;
	return server_start(fixture->server, &handler, &err);
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	server_close(fixture->server);
	free(fixture);
	return 0;
}

static void await(sem_t *event)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += CLIENT_SECONDS;
	assert_int_equal(sem_timedwait(event, &until), 0);
}

static int ask(struct fixture *fixture, const char *path, int buffer)
{
	int fd = client_connect(server_url(fixture->server), buffer);

	client_ask(fd, server_url(fixture->server), path);
	return fd;
}

/* A stream that has begun. */
static int stream(struct fixture *fixture, int buffer)
{
	int fd = ask(fixture, "stream", buffer);

	assert_true(client_await(fd, "start;"));
	return fd;
}

/* A request that waits for its reply. */
static int wait_later(struct fixture *fixture)
{
	int fd = ask(fixture, "later", 0);

	await(&fixture->handled);
	return fd;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Waits until the server's thread has done all earlier work. */
static void expect_served(struct fixture *fixture)
{
	assert_int_equal(client_get(server_url(fixture->server), "now"), 200);
	await(&fixture->handled);
}

/* ---- which requests are handled */

static int status_of(struct fixture *fixture, const char *format, ...)
{
	int fd = client_connect(server_url(fixture->server), 0);
	char text[REQUEST_MAX_SIZE + 64];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	client_send(fd, text);
	return client_status(fd);
}

static void requests_need_the_token(void **state)
{
	struct fixture *fixture = *state;
	const char *path = client_path(server_url(fixture->server));
	char token[64], wrong[64];

	assert_int_equal(strlen(path), 34);
	snprintf(token, sizeof(token), "%.32s", path + 1);
	assert_int_equal(status_of(fixture, "GET /%s/now HTTP/1.1\r\nHost: localhost\r\n\r\n",
				   token),
			 200);
	assert_int_equal(status_of(fixture, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), 404);
	assert_int_equal(status_of(fixture, "GET //now HTTP/1.1\r\nHost: localhost\r\n\r\n"), 404);
	assert_int_equal(status_of(fixture, "GET /%s HTTP/1.1\r\nHost: localhost\r\n\r\n", token),
			 404);
	assert_int_equal(status_of(fixture, "GET /%s0/now HTTP/1.1\r\nHost: localhost\r\n\r\n",
				   token),
			 404);
	assert_int_equal(status_of(fixture, "GET /%.31s/now HTTP/1.1\r\nHost: localhost\r\n\r\n",
				   token),
			 404);
	for (size_t i = 0; i < 32; i++) {
		snprintf(wrong, sizeof(wrong), "%s", token);
		wrong[i] = wrong[i] == '0' ? '1' : '0';
		assert_int_equal(status_of(fixture,
					   "GET /%s/now HTTP/1.1\r\nHost: localhost\r\n\r\n",
					   wrong),
				 404);
	}
	/* Only one of all these was handled. */
	await(&fixture->handled);
	assert_int_equal(sem_trywait(&fixture->handled), -1);
}

static void foreign_hosts_and_origins_are_refused(void **state)
{
	struct fixture *fixture = *state;
	const char *path = client_path(server_url(fixture->server));

	assert_int_equal(status_of(fixture, "GET %snow HTTP/1.1\r\nHost: example.com\r\n\r\n",
				   path),
			 403);
	assert_int_equal(status_of(fixture,
				   "GET %snow HTTP/1.1\r\nHost: 127.0.0.1\r\n"
				   "Origin: http://example.com\r\n\r\n",
				   path),
			 403);
	assert_int_equal(sem_trywait(&fixture->handled), -1);
	assert_int_equal(status_of(fixture,
				   "GET %snow HTTP/1.1\r\nHost: 127.0.0.1\r\n"
				   "Origin: http://127.0.0.1\r\n\r\n",
				   path),
			 200);
}

static void oversized_requests_are_refused(void **state)
{
	struct fixture *fixture = *state;
	char text[REQUEST_MAX_SIZE + 1];

	memset(text, 'a', REQUEST_MAX_SIZE);
	text[REQUEST_MAX_SIZE] = '\0';
	memcpy(text, "GET /", 5);
	assert_int_equal(status_of(fixture, "%s", text), 414);
	memcpy(text, "GET / HTTP/1.1\r\nX: ", 19);
	assert_int_equal(status_of(fixture, "%s", text), 431);
	/* The same when the client sends more than the server reads. */
	assert_int_equal(status_of(fixture, "%saaaa", text), 431);
	expect_served(fixture);
}

/* ---- replies that come later */

static void a_reply_may_come_later(void **state)
{
	const struct reply reply = { .status = 503 };
	struct fixture *fixture = *state;
	int fd = wait_later(fixture);

	server_reply(fixture->server, fixture->request_id, &reply);
	assert_int_equal(client_status(fd), 503);
	/* A second reply to the same request has no client any more. */
	server_reply(fixture->server, fixture->request_id,
		     &(struct reply){ .status = 200, .type = "a/b", .body = text_buffer("late") });
	expect_served(fixture);
	assert_int_equal(server_queued_bytes(fixture->server), 0);
}

static void a_client_that_leaves_is_cancelled(void **state)
{
	struct fixture *fixture = *state;
	int fd = wait_later(fixture);
	uint64_t request_id = fixture->request_id;

	close(fd);
	await(&fixture->cancelled);
	assert_int_equal(fixture->cancelled_id, request_id);
	/* The next client gets the same place, but not the reply to the one before. */
	fd = wait_later(fixture);
	assert_int_not_equal(fixture->request_id, request_id);
	server_reply(fixture->server, request_id, &(struct reply){ .status = 200 });
	server_reply(fixture->server, fixture->request_id, &(struct reply){ .status = 404 });
	assert_int_equal(client_status(fd), 404);
}

static void queued_bytes_are_counted(void **state)
{
	struct fixture *fixture = *state;
	size_t size;
	char *bytes;
	int fd;

	fixture->large = 8 << 20;
	fd = ask(fixture, "large", 4096);
	await(&fixture->handled);
	assert_int_equal(server_queued_bytes(fixture->server), fixture->large);
	bytes = client_finish(fd, &size);
	assert_true(size > fixture->large);
	free(bytes);
	expect_served(fixture);
	assert_int_equal(server_queued_bytes(fixture->server), 0);
	/* A reply to a client that has left is not counted either. */
	fd = ask(fixture, "large", 4096);
	await(&fixture->handled);
	assert_true(client_await(fd, "200 OK"));
	close(fd);
	while (server_queued_bytes(fixture->server) > 0)
		expect_served(fixture);
}

/* ---- too many connections */

static void the_oldest_client_without_token_makes_room(void **state)
{
	struct fixture *fixture = *state;
	int fds[SERVER_MAX_CONNECTIONS];
	uint64_t start;
	char byte;

	fds[0] = client_connect(server_url(fixture->server), 0);
	/* The server measures time in ms: the other clients must come at least one later. */
	expect_served(fixture);
	for (start = now_ms(); now_ms() == start;)
		expect_served(fixture);
	for (uint32_t i = 1; i < SERVER_MAX_CONNECTIONS; i++)
		fds[i] = client_connect(server_url(fixture->server), 0);
	expect_served(fixture);
	assert_int_equal(recv(fds[0], &byte, 1, MSG_DONTWAIT), 0);
	/* The others are still connected. */
	for (uint32_t i = 1; i < SERVER_MAX_CONNECTIONS; i++)
		assert_int_equal(recv(fds[i], &byte, 1, MSG_DONTWAIT), -1);
	client_ask(fds[1], server_url(fixture->server), "now");
	assert_int_equal(client_status(fds[1]), 200);
	close(fds[0]);
	for (uint32_t i = 2; i < SERVER_MAX_CONNECTIONS; i++)
		close(fds[i]);
}

static void clients_with_the_token_stay(void **state)
{
	struct fixture *fixture = *state;
	int fds[SERVER_MAX_CONNECTIONS], fd;
	char byte;

	for (uint32_t i = 0; i < SERVER_MAX_CONNECTIONS; i++)
		fds[i] = wait_later(fixture);
	fd = client_connect(server_url(fixture->server), 0);
	/* The new one is closed; it may see that as an end or as a reset. */
	assert_true(recv(fd, &byte, 1, 0) <= 0);
	close(fd);
	for (uint32_t i = 0; i < SERVER_MAX_CONNECTIONS; i++)
		assert_int_equal(recv(fds[i], &byte, 1, MSG_DONTWAIT), -1);
	assert_int_equal(sem_trywait(&fixture->cancelled), -1);
	close(fds[5]);
	await(&fixture->cancelled);
	expect_served(fixture);
	for (uint32_t i = 0; i < SERVER_MAX_CONNECTIONS; i++)
		if (i != 5)
			close(fds[i]);
}

/* A client that does not read its reply is replaced by a new one. */
static void the_most_stalled_client_makes_room(void **state)
{
	struct fixture *fixture = *state;
	int fds[SERVER_MAX_CONNECTIONS], stalled;
	uint64_t start = now_ms();

	fixture->large = 8 << 20;
	stalled = ask(fixture, "large", 4096);
	await(&fixture->handled);
	for (uint32_t i = 1; i < SERVER_MAX_CONNECTIONS; i++)
		fds[i] = wait_later(fixture);
	/* It may only be replaced once it has been stalled for a while: until then, others are not
	 * served. */
	for (int status = 0; status != 200; poll(NULL, 0, 20)) {
		status = client_get(server_url(fixture->server), "now");
		assert_true(status == 0 || status == 200);
	}
	/* It was replaced, and did not just reach its deadline. */
	assert_true(now_ms() - start < 10000);
	/* It gets only the part of the reply that was sent before. */
	free(client_finish(stalled, &fixture->large));
	assert_true(fixture->large < 8 << 20);
	assert_int_equal(sem_trywait(&fixture->cancelled), -1);
	for (uint32_t i = 1; i < SERVER_MAX_CONNECTIONS; i++)
		close(fds[i]);
}

/* The server accepts connections again once there are descriptors. */
static void it_survives_a_lack_of_descriptors(void **state)
{
	struct fixture *fixture = *state;
	struct rlimit limit, none;
	int fd = client_connect(server_url(fixture->server), 0), other;

	expect_served(fixture);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	other = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(other >= 0);
	none = limit;
	none.rlim_cur = (rlim_t)other + 1;
	/* Uses up the descriptors below the limit. */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	while (dup(other) >= 0)
		;
	{
		const struct sockaddr_in address = {
			.sin_family = AF_INET,
			.sin_port = htons(client_port(server_url(fixture->server))),
			.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		};

		assert_int_equal(connect(other, (const struct sockaddr *)&address, sizeof(address)),
				 0);
	}
	client_ask(other, server_url(fixture->server), "now");
	/* Meanwhile, the connection that was there before is served. */
	client_ask(fd, server_url(fixture->server), "now");
	await(&fixture->handled);
	assert_int_equal(sem_trywait(&fixture->handled), -1);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(client_status(fd), 200);
	assert_int_equal(client_status(other), 200);
}

/* ---- streams */

static void all_streams_get_each_message(void **state)
{
	struct fixture *fixture = *state;
	int fds[3];

	for (int i = 0; i < 3; i++)
		fds[i] = stream(fixture, 0);
	assert_int_equal(server_n_streams(fixture->server), 3);
	expect_served(fixture);
	assert_int_equal(server_queued_bytes(fixture->server), 0);
	server_publish(fixture->server, text_buffer("one;"));
	server_publish(fixture->server, text_buffer("two!"));
	for (int i = 0; i < 3; i++)
		assert_true(client_await(fds[i], "one;two!"));
	close(fds[1]);
	while (server_n_streams(fixture->server) > 2)
		expect_served(fixture);
	server_publish(fixture->server, text_buffer("three;"));
	assert_true(client_await(fds[0], "three;"));
	assert_true(client_await(fds[2], "three;"));
	close(fds[0]);
	close(fds[2]);
}

static void a_slow_stream_is_cut_off(void **state)
{
	struct fixture *fixture = *state;
	int slow = stream(fixture, 4096), quick = stream(fixture, 0), published = 0;
	size_t size;

	/* Waits for the quick client each time, so that it keeps up. */
	while (server_n_streams(fixture->server) == 2) {
		char *text = malloc((256 << 10) + 16);

		assert_non_null(text);
		memset(text, '.', 256 << 10);
		strcpy(text + (256 << 10), "end;");
		server_publish(fixture->server, buffer_new(text, (256 << 10) + 4));
		assert_true(client_await(quick, "end;"));
		assert_true(++published < 100);
	}
	/* The queue was full before the client was disconnected. */
	assert_true(published > SERVER_MAX_QUEUE);
	free(client_finish(slow, &size));
	assert_true(size < (size_t)published * (256 << 10));
	server_publish(fixture->server, text_buffer("on;"));
	assert_true(client_await(quick, "on;"));
	close(quick);
}

static void streams_are_bounded(void **state)
{
	struct fixture *fixture = *state;
	int fds[SERVER_MAX_STREAMS], fd;

	for (uint32_t i = 0; i < SERVER_MAX_STREAMS; i++)
		fds[i] = stream(fixture, i == 7 ? 4096 : 0);
	assert_int_equal(server_n_streams(fixture->server), SERVER_MAX_STREAMS);
	/* All clients have read everything, so none has to make room. */
	assert_int_equal(client_get(server_url(fixture->server), "stream"), 503);
	await(&fixture->handled);
	/* Now one is behind, and is replaced. */
	server_publish(fixture->server, buffer_new(calloc(1, 1 << 20), 1 << 20));
	server_publish(fixture->server, text_buffer("end;"));
	for (uint32_t i = 0; i < SERVER_MAX_STREAMS; i++)
		if (i != 7)
			assert_true(client_await(fds[i], "end;"));
	fd = stream(fixture, 0);
	assert_int_equal(server_n_streams(fixture->server), SERVER_MAX_STREAMS);
	assert_false(client_await(fds[7], "end;"));
	server_publish(fixture->server, text_buffer("all;"));
	assert_true(client_await(fd, "all;"));
	close(fd);
	for (uint32_t i = 0; i < SERVER_MAX_STREAMS; i++) {
		if (i != 7)
			assert_true(client_await(fds[i], "all;"));
		close(fds[i]);
	}
}

/* A stream that misses a message is closed, so that its client connects again. */
static void a_lost_message_ends_the_streams(void **state)
{
	struct fixture *fixture = *state;
	int watching = stream(fixture, 0), waiting = wait_later(fixture), fd;

	while (sem_trywait(&fixture->handled) == 0)
		;
	fd = ask(fixture, "hold", 0);
	await(&fixture->held);
	for (int i = 0; i < 256; i++)
		server_publish(fixture->server, text_buffer("x"));
	server_publish(fixture->server, text_buffer("lost;"));
	sem_post(&fixture->go_on);
	assert_int_equal(client_status(fd), 200);
	assert_false(client_await(watching, "lost;"));
	assert_int_equal(client_status(waiting), 0);
	await(&fixture->cancelled);
	assert_int_equal(server_n_streams(fixture->server), 0);
	close(watching);
	/* Streams that begin later are not concerned. */
	watching = stream(fixture, 0);
	server_publish(fixture->server, text_buffer("one!"));
	assert_true(client_await(watching, "one!"));
	server_publish(fixture->server, text_buffer("two!"));
	assert_true(client_await(watching, "two!"));
	close(watching);
}

static void the_end_is_sent(void **state)
{
	struct fixture *fixture = *state;
	int watching = stream(fixture, 0), waiting = wait_later(fixture);

	server_publish(fixture->server, text_buffer("last;"));
	server_close(fixture->server);
	fixture->server = NULL;
	assert_true(client_await(watching, "last;"));
	assert_false(client_await(watching, "more"));
	assert_int_equal(client_status(waiting), 0);
	close(watching);
}

/* A client that does not read cannot keep the server from closing. */
static void the_end_does_not_wait_for_long(void **state)
{
	struct fixture *fixture = *state;
	int slow = stream(fixture, 4096);
	uint64_t start = now_ms();

	server_publish(fixture->server, buffer_new(calloc(1, 8 << 20), 8 << 20));
	server_close(fixture->server);
	fixture->server = NULL;
	assert_true(now_ms() - start < 10000);
	close(slow);
}

/* ---- where it listens */

static void it_listens_where_it_is_told(void **state)
{
	static const struct {
		const char *where, *url;
		bool public;
	} cases[] = {
		{ NULL, "http://127.0.0.1:", false },
		{ "", "http://127.0.0.1:", false },
		{ "localhost", "http://127.0.0.1:", false },
		{ ":0", "http://127.0.0.1:", false },
		{ "127.0.0.2", "http://127.0.0.2:", false },
		{ "0.0.0.0:0", "http://0.0.0.0:", true },
	};
	static const char *const refused[] = {
		"example.com", "1.2.3", "127.0.0.1:", "127.0.0.1:65536", ":a",
		"::1",	       "[::1",	"[::1]x",     "127.0.0.1:1:2"
	};
	struct server *server, *other = NULL;
	struct error err = { 0 };
	char where[64];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(server_open(cases[i].where, NULL, &server, &err), 0);
		assert_int_equal(strncmp(server_url(server), cases[i].url, strlen(cases[i].url)),
				 0);
		assert_int_equal(server_is_public(server), cases[i].public);
		server_close(server);
	}
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		assert_int_equal(server_open(refused[i], NULL, &other, &err), -EINVAL);
		assert_non_null(strstr(err.text, refused[i]));
	}
	/* Each server has a token of its own. */
	assert_int_equal(server_open(NULL, NULL, &server, &err), 0);
	assert_int_equal(server_open(NULL, NULL, &other, &err), 0);
	assert_string_not_equal(client_path(server_url(server)), client_path(server_url(other)));
	server_close(other);
	other = NULL;
	snprintf(where, sizeof(where), "127.0.0.1:%u", client_port(server_url(server)));
	assert_int_equal(server_open(where, NULL, &other, &err), -EADDRINUSE);
	assert_null(other);
	server_close(server);
	server_close(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(requests_need_the_token),
		TEST(foreign_hosts_and_origins_are_refused),
		TEST(oversized_requests_are_refused),
		TEST(a_reply_may_come_later),
		TEST(a_client_that_leaves_is_cancelled),
		TEST(queued_bytes_are_counted),
		TEST(the_oldest_client_without_token_makes_room),
		TEST(clients_with_the_token_stay),
		TEST(the_most_stalled_client_makes_room),
		TEST(it_survives_a_lack_of_descriptors),
		TEST(all_streams_get_each_message),
		TEST(a_slow_stream_is_cut_off),
		TEST(streams_are_bounded),
		TEST(a_lost_message_ends_the_streams),
		TEST(the_end_is_sent),
		TEST(the_end_does_not_wait_for_long),
		cmocka_unit_test(it_listens_where_it_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
