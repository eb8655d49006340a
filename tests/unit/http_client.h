/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A client of the live server for unit tests, over real sockets. Nothing waits longer than
 * CLIENT_SECONDS, after which the test fails.
 */
#ifndef STACKTALLY_TESTS_HTTP_CLIENT_H
#define STACKTALLY_TESTS_HTTP_CLIENT_H

#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CLIENT_SECONDS 30

/* The port and the path, which ends with a slash, of "http://127.0.0.1:PORT/TOKEN/". */
static inline uint16_t client_port(const char *url)
{
	const char *colon = strrchr(url, ':');

	assert_non_null(colon);
	return (uint16_t)atoi(colon + 1);
}

static inline const char *client_path(const char *url)
{
	return strchr(url + strlen("http://"), '/');
}

/* `buffer`: SO_RCVBUF, bytes; 0: the kernel's default. */
static inline int client_connect(const char *url, int buffer)
{
	const struct timeval limit = { .tv_sec = CLIENT_SECONDS };
	const struct sockaddr_in address = { .sin_family = AF_INET,
					     .sin_port = htons(client_port(url)),
					     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	if (buffer)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof(buffer));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static inline void client_send(int fd, const char *text)
{
	size_t size = strlen(text);

	assert_int_equal(send(fd, text, size, MSG_NOSIGNAL), size);
}

/* Asks for what follows the token in the path. */
static inline void client_ask(int fd, const char *url, const char *path)
{
	char text[1024];

	snprintf(text, sizeof(text), "GET %s%s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n",
		 client_path(url), path, client_port(url));
	client_send(fd, text);
}

/*
 * Reads up to the end of `text`, which must not contain its first character twice, and no further;
 * true, or false when the connection ends before.
 */
static inline bool client_await(int fd, const char *text)
{
	static char bytes[65536];
	size_t matched = 0;

	for (;;) {
		ssize_t n = recv(fd, bytes, sizeof(bytes), MSG_PEEK), at = 0;

		if (n < 0 && errno == EAGAIN)
			fail_msg("waited too long for %s", text);
		if (n <= 0)
			return false;
		for (; at < n && text[matched]; at++)
			matched = bytes[at] == text[matched] ? matched + 1 : bytes[at] == text[0];
		assert_int_equal(recv(fd, bytes, (size_t)at, 0), at);
		if (!text[matched])
			return true;
	}
}

/* Reads to the end and closes; the caller frees. The bytes are followed by a NUL. */
static inline char *client_finish(int fd, size_t *ret_size)
{
	size_t size = 0, capacity = 4096;
	char *bytes = malloc(capacity);
	ssize_t n;

	assert_non_null(bytes);
	while ((n = recv(fd, bytes + size, capacity - size - 1, 0)) > 0) {
		size += (size_t)n;
		if (size + 1 < capacity)
			continue;
		capacity *= 2;
		bytes = realloc(bytes, capacity);
		assert_non_null(bytes);
	}
	if (n < 0 && errno == EAGAIN)
		fail_msg("waited too long for the end, after %zu bytes", size);
	close(fd);
	bytes[size] = '\0';
	if (ret_size)
		*ret_size = size;
	return bytes;
}

/* The HTTP status with which the server answers before it closes; 0: with nothing. */
static inline int client_status(int fd)
{
	char *bytes = client_finish(fd, NULL);
	int status = 0;

	if (sscanf(bytes, "HTTP/1.1 %d ", &status) != 1)
		status = 0;
	free(bytes);
	return status;
}

static inline int client_get(const char *url, const char *path)
{
	int fd = client_connect(url, 0);

	client_ask(fd, url, path);
	return client_status(fd);
}

#endif
