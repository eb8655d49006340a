// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <netdb.h>
#include <nss.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "push/stream_internal.h"

int tcp_wait(int socket, bool write, uint64_t deadline_ms)
{
	struct pollfd each = { .fd = socket, .events = write ? POLLOUT : POLLIN };

	for (;;) {
		uint64_t now = monotonic_ms();
		int n;

		if (now >= deadline_ms)
			return -ETIMEDOUT;
		n = poll(&each, 1, (int)(deadline_ms - now));
		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return -errno;
	}
}

/* One address. A connected socket or a negative errno. */
static int connect_to(const struct addrinfo *address, uint64_t deadline_ms)
{
	own(own_fd) int fd =
		socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int code = 0, r;
	socklen_t size = sizeof(code);

	if (fd < 0)
		return -errno;
	if (connect(fd, address->ai_addr, address->ai_addrlen) < 0) {
		if (errno != EINPROGRESS)
			return -errno;
		r = tcp_wait(fd, true, deadline_ms);
		if (r < 0)
			return r;
		if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &size) < 0)
			return -errno;
		if (code)
			return -code;
	}
	return take_fd(&fd);
}

/*
 * The program is static: /etc/nsswitch.conf may name libraries of another libc, which must not be
 * loaded. /etc/hosts and DNS are built in.
 */
static int look_up(const struct target *target, struct addrinfo **ret_list)
{
	const struct addrinfo wanted = { .ai_socktype = SOCK_STREAM };

	__nss_configure_lookup("hosts", "files dns");
	return getaddrinfo(target->host, target->port, &wanted, ret_list);
}

int tcp_connect(const struct target *target, uint64_t deadline_ms, char why[STREAM_WHY_SIZE])
{
	struct addrinfo *list = NULL;
	uint32_t n = 0;
	int r = look_up(target, &list);

	if (r != 0) {
		snprintf(why, STREAM_WHY_SIZE, "its name cannot be looked up: %s", gai_strerror(r));
		return -EHOSTUNREACH;
	}
	r = -EHOSTUNREACH;
	for (const struct addrinfo *each = list; each; each = each->ai_next)
		n++;
	/* Each address gets its share of the time that is left. */
	for (const struct addrinfo *each = list; each && r < 0; each = each->ai_next, n--) {
		uint64_t now = monotonic_ms();

		if (now < deadline_ms)
			r = connect_to(each, now + (deadline_ms - now) / n);
	}
	freeaddrinfo(list);
	if (r < 0)
		snprintf(why, STREAM_WHY_SIZE, "cannot connect: %s", strerror(-r));
	return r;
}
