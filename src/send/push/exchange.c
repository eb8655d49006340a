// SPDX-License-Identifier: GPL-2.0-or-later
#include "push/exchange.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "push/response.h"

#define PIECE 16384 /* bytes that are sent at once */

static const char *const content_types[PUSH_N_PROTOCOLS] = {
	[PUSH_PPROF] = "application/octet-stream",
	[PUSH_PYROSCOPE] = "application/proto",
	[PUSH_OTLP] = "application/x-protobuf\r\nContent-Encoding: gzip",
};

static void put_base64(struct bytes *out, const char *text, size_t size)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < size; i += 3) {
		size_t n = size - i < 3 ? size - i : 3;
		uint32_t word = 0;

		for (size_t k = 0; k < n; k++)
			word |= (uint32_t)(unsigned char)text[i + k] << (16 - 8 * k);
		for (size_t k = 0; k < 4; k++)
			bytes_char(out, k <= n ? digits[word >> (18 - 6 * k) & 63] : '=');
	}
}

static void put_credentials(struct bytes *out, const char *credentials)
{
	if (!*credentials)
		return;
	/* RFC 6750: no token has a colon; RFC 7617: a user's name and password have one between. */
	if (strchr(credentials, ':')) {
		bytes_string(out, "Authorization: Basic ");
		put_base64(out, credentials, strlen(credentials));
	} else {
		bytes_string(out, "Authorization: Bearer ");
		bytes_string(out, credentials);
	}
	bytes_string(out, "\r\n");
}

static void put_head(struct bytes *out, const struct exchange_request *request)
{
	const struct target *target = request->target;
	bool v6 = strchr(target->host, ':') != NULL;

	bytes_string(out, "POST ");
	bytes_string(out, target->path);
	bytes_string(out, " HTTP/1.1\r\nHost: ");
	bytes_string(out, v6 ? "[" : "");
	bytes_string(out, target->host);
	bytes_string(out, v6 ? "]:" : ":");
	bytes_string(out, target->port);
	bytes_string(out, "\r\nUser-Agent: stacktally/" STACKTALLY_VERSION "\r\nContent-Type: ");
	bytes_string(out, content_types[target->protocol]);
	bytes_string(out, "\r\nContent-Length: ");
	bytes_decimal(out, request->size);
	bytes_string(out, "\r\nConnection: close\r\n");
	put_credentials(out, request->credentials);
	bytes_string(out, "\r\n");
}

/* Head and body. *ret_whole: all of it was handed to the connection. */
static int send_request(struct stream *stream, const struct exchange_request *request,
			bool *ret_whole)
{
	uint64_t deadline = request->deadline_ms - request->answer_ms;
	struct bytes head;
	char piece[PIECE];
	int r;

	bytes_start(&head, NULL);
	put_head(&head, request);
	r = head.failed ? head.failed : stream_write(stream, head.start, head.used, deadline);
	bytes_clear(&head);
	for (uint64_t at = 0; r == 0 && at < request->size;) {
		uint64_t left = request->size - at;
		ssize_t n = pread(request->body, piece, left < PIECE ? left : PIECE, (off_t)at);

		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		at += (uint64_t)n;
		/* Before this, the server cannot have all of it, as it was told the size. */
		*request->last_piece = at == request->size;
		r = stream_write(stream, piece, (size_t)n, deadline);
		*ret_whole = at == request->size && r == 0;
	}
	return r;
}

static int receive(struct stream *stream, uint64_t deadline_ms, struct response *response)
{
	char bytes[4096];

	response_start(response);
	while (!response->complete) {
		ssize_t n = stream_read(stream, bytes, sizeof(bytes), deadline_ms);
		int r = n < 0	 ? (int)n
			: n == 0 ? response_end(response)
				 : response_take(response, bytes, (size_t)n, (int64_t)time(NULL));

		/* Of an answer that does not end, the head is enough. */
		if (r < 0)
			return response->headed ? 0 : r;
	}
	return 0;
}

static enum outcome judge(int status)
{
	switch (status) {
	case 200 ... 299:
		return OUTCOME_TAKEN;
	/* What one side can put right while the interval waits: credentials, paths, load. */
	case 401:
	case 403:
	case 404:
	case 408:
	case 425:
	case 429:
	case 500 ... 599:
		return OUTCOME_LATER;
	default:
		return OUTCOME_REFUSED;
	}
}

/* The first line of the body, if it is text. */
static void put_body(const struct response *response, struct exchange_result *result)
{
	size_t at = strlen(result->text), limit = sizeof(result->text) - 1;
	const char *body = response->body;

	if (response->body_size == 0 || (unsigned char)*body < ' ')
		return;
	at += (size_t)snprintf(result->text + at, sizeof(result->text) - at, ": ");
	for (size_t i = 0; i < response->body_size && at < limit; i++) {
		unsigned char byte = (unsigned char)body[i];

		if (byte == '\n' || byte == '\r' || byte == '\0')
			break;
		result->text[at++] = byte < ' ' || byte > '~' ? '?' : (char)byte;
	}
	result->text[at] = '\0';
}

static void conclude(const struct response *response, struct exchange_result *result)
{
	result->status = response->status;
	result->outcome = judge(response->status);
	result->retry_after_s = response->retry_after_s;
	if (result->outcome == OUTCOME_TAKEN)
		return;
	snprintf(result->text, sizeof(result->text), "it answered %d", response->status);
	put_body(response, result);
}

void exchange(const struct exchange_request *request, struct exchange_result *ret_result)
{
	own(own_stream_close) struct stream *stream = NULL;
	own(own_free) struct response *response = malloc(sizeof(*response));
	char why[STREAM_WHY_SIZE] = "out of memory";
	bool whole = false;
	int r = response ? stream_open(request->target, request->trust,
				       request->deadline_ms - request->answer_ms, &stream, why)
			 : -ENOMEM;

	*ret_result = (struct exchange_result){ .outcome = OUTCOME_LATER };
	if (r < 0) {
		snprintf(ret_result->text, sizeof(ret_result->text), "%s", why);
		return;
	}
	r = send_request(stream, request, &whole);
	/* A server that refuses early closes its side: its answer says why. */
	if (r == 0 || r == -ECONNRESET) {
		int received = receive(stream, request->deadline_ms, response);

		if (received == 0) {
			conclude(response, ret_result);
			return;
		}
		r = r < 0 ? r : received;
	}
	if (whole)
		ret_result->outcome = OUTCOME_UNANSWERED;
	snprintf(ret_result->text, sizeof(ret_result->text), "%s: %s",
		 whole ? "no answer" : "the connection broke",
		 r == -EPROTO ? "that is not HTTP" : strerror(-r));
}
