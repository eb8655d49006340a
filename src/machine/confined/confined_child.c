// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "confined/confined_internal.h"

#define KEPT_BYTES (32 << 20)

/* What is to be sent, behind the header of its piece; there is room for the last one's behind it.
 */
struct confined_answer {
	int socket;
	struct confined_piece piece;
	uint8_t bytes[CONFINED_PIECE_SIZE + sizeof(struct confined_piece)];
};

/* Nobody waits for answers that cannot be sent. */
static void write_all(int socket, const void *bytes, size_t size)
{
	const char *from = bytes;

	while (size > 0) {
		ssize_t n = write(socket, from, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(1);
		from += n;
		size -= (size_t)n;
	}
}

static void read_all(int socket, void *bytes, size_t size)
{
	char *to = bytes;

	while (size > 0) {
		ssize_t n = read(socket, to, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(0); /* the parent has ended */
		to += n;
		size -= (size_t)n;
	}
}

static void flush(struct confined_answer *answer)
{
	if (answer->piece.size == 0)
		return;
	write_all(answer->socket, &answer->piece, sizeof(answer->piece) + answer->piece.size);
	answer->piece.size = 0;
}

/* Sends what is left and the end, at once: who waits is woken once. */
static void finish(struct confined_answer *answer, struct confined_piece end)
{
	size_t size = answer->piece.size;

	if (size == 0) {
		write_all(answer->socket, &end, sizeof(end));
		return;
	}
	memcpy(answer->bytes + size, &end, sizeof(end));
	write_all(answer->socket, &answer->piece, sizeof(answer->piece) + size + sizeof(end));
	answer->piece.size = 0;
}

void confined_send(const struct confined_job *job, const void *bytes, size_t size)
{
	struct confined_answer *answer = job->answer;
	const char *from = bytes;

	while (size > 0) {
		size_t capacity = CONFINED_PIECE_SIZE - answer->piece.size;
		size_t n = size < capacity ? size : capacity;

		memcpy(answer->bytes + answer->piece.size, from, n);
		answer->piece.size += (uint32_t)n;
		from += n;
		size -= n;
		if (answer->piece.size == CONFINED_PIECE_SIZE)
			flush(answer);
	}
}

static void write_answer(void *context, const void *bytes, size_t size)
{
	confined_send(context, bytes, size);
}

struct byte_sink confined_sink(const struct confined_job *job)
{
	return (struct byte_sink){ write_answer, (void *)job };
}

/* Receives the next call and its descriptors. */
static void receive(int socket, struct confined_message *call, struct confined_job *job)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(CONFINED_MAX_FDS * sizeof(int))];
	} control = { 0 };
	struct iovec part = { call, sizeof(*call) };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control.bytes) };
	ssize_t n;

	do {
		n = recvmsg(socket, &message, MSG_WAITALL);
	} while (n < 0 && errno == EINTR);
	if (n != sizeof(*call))
		_exit(0);
	for (uint32_t i = 0; i < CONFINED_MAX_FDS; i++)
		job->fds[i] = -1;
	if (call->n_fds && message.msg_controllen >= CMSG_LEN(call->n_fds * sizeof(int)))
		memcpy(job->fds, CMSG_DATA(&control.header), call->n_fds * sizeof(int));
}

static void serve_one(struct confined_answer *answer)
{
	struct confined_job job = { .answer = answer };
	own(own_free) void *request = NULL;
	struct confined_message call;
	struct confined_piece end = { 0 };

	receive(answer->socket, &call, &job);
	request = malloc(call.size + 1);
	if (!request) {
		end.result = -ENOMEM;
		write_all(answer->socket, &end, sizeof(end));
		_exit(1); /* the request is not read */
	}
	read_all(answer->socket, request, call.size);
	job.request = request;
	job.size = call.size;
	end.result = call.work(&job);
	finish(answer, end);
	for (uint32_t i = 0; i < CONFINED_MAX_FDS; i++) {
		if (job.fds[i] >= 0)
			close(job.fds[i]);
	}
}

_Noreturn void confined_serve(int socket, const struct confined_limits *limits)
{
	struct confined_answer answer = { 0 };

	socket = confined_drop_rights(socket, limits);
	if (socket < 0)
		_exit(CONFINED_EXIT_RIGHTS + (-socket & (CONFINED_EXIT_RIGHTS - 1)));
	/* The next call takes as much as this one: memory given back would be zeroed again. */
	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
	mallopt(M_MMAP_THRESHOLD, KEPT_BYTES);
	answer.socket = socket;
	for (;;)
		serve_one(&answer);
}
