// SPDX-License-Identifier: GPL-2.0-or-later
#include "push/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "push/stream_internal.h"

struct stream {
	int socket;
	struct tls *tls; /* or NULL */
};

int stream_open(const struct target *target, const struct tls_trust *trust, uint64_t deadline_ms,
		struct stream **ret_stream, char why[STREAM_WHY_SIZE])
{
	own(own_stream_close) struct stream *stream = calloc(1, sizeof(*stream));
	int r;

	if (!stream)
		return -ENOMEM;
	stream->socket = tcp_connect(target, deadline_ms, why);
	if (stream->socket < 0)
		return stream->socket;
	if (target->tls) {
		r = tls_open(stream->socket, target->host, trust, deadline_ms, &stream->tls, why);
		if (r < 0)
			return r;
	}
	*ret_stream = take_ptr(stream);
	return 0;
}

void stream_close(struct stream *stream)
{
	if (!stream)
		return;
	tls_close(stream->tls);
	if (stream->socket >= 0)
		close(stream->socket);
	free(stream);
}

int stream_write(struct stream *stream, const void *bytes, size_t size, uint64_t deadline_ms)
{
	const char *from = bytes;

	if (stream->tls)
		return tls_write(stream->tls, bytes, size, deadline_ms);
	while (size > 0) {
		ssize_t n = send(stream->socket, from, size, MSG_NOSIGNAL);
		int r = 0;

		if (n > 0) {
			from += n;
			size -= (size_t)n;
			continue;
		}
		if (errno == EAGAIN)
			r = tcp_wait(stream->socket, true, deadline_ms);
		else if (errno != EINTR)
			r = errno == EPIPE ? -ECONNRESET : -errno;
		if (r < 0)
			return r;
	}
	return 0;
}

ssize_t stream_read(struct stream *stream, void *bytes, size_t size, uint64_t deadline_ms)
{
	if (stream->tls)
		return tls_read(stream->tls, bytes, size, deadline_ms);
	for (;;) {
		ssize_t n = recv(stream->socket, bytes, size, 0);
		int r = 0;

		if (n >= 0)
			return n;
		if (errno == EAGAIN)
			r = tcp_wait(stream->socket, false, deadline_ms);
		else if (errno != EINTR)
			r = -errno;
		if (r < 0)
			return r;
	}
}
