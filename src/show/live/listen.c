// SPDX-License-Identifier: GPL-2.0-or-later
#include "live/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "base/own.h"

#define BACKLOG	    64
#define SEND_BUFFER (256 * 1024) /* SO_SNDBUF of each connection, bytes */

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static int parse_port(const char *text, uint16_t *ret_port)
{
	uint32_t port = 0;

	if (!*text || strlen(text) > 5)
		return -EINVAL;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return -EINVAL;
		port = port * 10 + (uint32_t)(*text - '0');
	}
	if (port > UINT16_MAX)
		return -EINVAL;
	*ret_port = (uint16_t)port;
	return 0;
}

/* Splits "HOST:PORT" in place, with defaults for what is missing. */
static int split(char *text, const char **ret_host, const char **ret_port)
{
	char *colon;

	if (*text == '[') {
		char *bracket = strchr(text, ']');

		if (!bracket || (bracket[1] && bracket[1] != ':'))
			return -EINVAL;
		*ret_host = text + 1;
		*ret_port = bracket[1] ? bracket + 2 : "0";
		*bracket = '\0';
		return 0;
	}
	colon = strchr(text, ':');
	if (colon && strchr(colon + 1, ':'))
		return -EINVAL;
	*ret_host = "127.0.0.1";
	*ret_port = "0";
	if (colon) {
		*colon = '\0';
		*ret_port = colon + 1;
	} else if (*text && strspn(text, "0123456789") == strlen(text)) {
		*ret_port = text;
		return 0;
	}
	if (*text)
		*ret_host = strcmp(text, "localhost") == 0 ? "127.0.0.1" : text;
	return 0;
}

static int parse(const char *where, union address *ret_address)
{
	char text[LISTEN_WHERE_SIZE];
	const char *host, *port;
	uint16_t number;

	if (strlen(where) >= sizeof(text))
		return -EINVAL;
	strcpy(text, where);
	if (split(text, &host, &port) < 0 || parse_port(port, &number) < 0)
		return -EINVAL;
	*ret_address = (union address){ 0 };
	if (inet_pton(AF_INET, host, &ret_address->v4.sin_addr) == 1) {
		ret_address->v4.sin_family = AF_INET;
		ret_address->v4.sin_port = htons(number);
		return 0;
	}
	if (inet_pton(AF_INET6, host, &ret_address->v6.sin6_addr) == 1) {
		ret_address->v6.sin6_family = AF_INET6;
		ret_address->v6.sin6_port = htons(number);
		return 0;
	}
	return -EINVAL;
}

static bool is_public(const union address *address)
{
	if (address->any.sa_family == AF_INET)
		return ntohl(address->v4.sin_addr.s_addr) >> 24 != 127;
	return !IN6_IS_ADDR_LOOPBACK(&address->v6.sin6_addr);
}

static void put(const union address *address, char ret_where[LISTEN_WHERE_SIZE])
{
	bool v6 = address->any.sa_family == AF_INET6;
	char host[INET6_ADDRSTRLEN] = "";

	inet_ntop(address->any.sa_family,
		  v6 ? (const void *)&address->v6.sin6_addr : (const void *)&address->v4.sin_addr,
		  host, sizeof(host));
	snprintf(ret_where, LISTEN_WHERE_SIZE, v6 ? "[%s]:%u" : "%s:%u", host,
		 ntohs(v6 ? address->v6.sin6_port : address->v4.sin_port));
}

int listen_at(const char *where, char ret_where[LISTEN_WHERE_SIZE], bool *ret_public,
	      struct error *err)
{
	union address address;
	own(own_fd) int fd = -1;
	socklen_t size;
	int yes = 1, capacity = SEND_BUFFER;

	if (parse(where ? where : "", &address) < 0)
		return error_set(err, -EINVAL,
				 "cannot serve at '%s': give ADDRESS:PORT, an address in digits",
				 where);
	size = address.any.sa_family == AF_INET ? sizeof(address.v4) : sizeof(address.v6);
	fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0) {
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &capacity, sizeof(capacity));
	}
	if (fd < 0 || bind(fd, &address.any, size) < 0 || listen(fd, BACKLOG) < 0 ||
	    getsockname(fd, &address.any, &size) < 0)
		return error_set(err, -errno, "cannot serve at '%s': %s",
				 where ? where : "127.0.0.1", strerror(errno));
	put(&address, ret_where);
	*ret_public = is_public(&address);
	return take_fd(&fd);
}
