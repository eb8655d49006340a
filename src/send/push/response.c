// SPDX-License-Identifier: GPL-2.0-or-later
#include "push/response.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* What of a chunk comes next. */
enum { CHUNK_SIZE, CHUNK_EXTENSION, CHUNK_DATA, CHUNK_AFTER };

#define MAX_NUMBER (UINT64_C(1) << 50)

void response_start(struct response *response)
{
	memset(response, 0, sizeof(*response));
	response->length = -1;
}

/* Digits only; larger numbers than MAX_NUMBER are that. -1: not a number. */
static int64_t parse_number(const char *text, size_t size)
{
	uint64_t number = 0;

	if (size == 0)
		return -1;
	for (size_t i = 0; i < size; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -1;
		number = number * 10 + (uint64_t)(text[i] - '0');
		if (number > MAX_NUMBER)
			number = MAX_NUMBER;
	}
	return (int64_t)number;
}

static void parse_retry_after(struct response *response, const char *value, size_t size,
			      int64_t now)
{
	int64_t seconds = parse_number(value, size);
	char date[64];
	struct tm when = { 0 };

	if (seconds < 0 && size < sizeof(date)) {
		memcpy(date, value, size);
		date[size] = '\0';
		if (strptime(date, "%a, %d %b %Y %H:%M:%S GMT", &when))
			seconds = (int64_t)timegm(&when) - now;
	}
	if (seconds > 0)
		response->retry_after_s = (uint64_t)seconds;
}

static bool is_named(const char *line, size_t size, const char *name)
{
	size_t length = strlen(name);

	return size > length && line[length] == ':' && strncasecmp(line, name, length) == 0;
}

static bool ends_with_chunked(const char *value, size_t size)
{
	return size >= 7 && strncasecmp(value + size - 7, "chunked", 7) == 0;
}

static int parse_field(struct response *response, const char *line, size_t size, int64_t now)
{
	const char *colon = memchr(line, ':', size), *value, *end = line + size;

	if (!colon)
		return -EPROTO;
	value = colon + 1;
	while (value < end && (*value == ' ' || *value == '\t'))
		value++;
	while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	if (is_named(line, size, "Retry-After")) {
		parse_retry_after(response, value, (size_t)(end - value), now);
	} else if (is_named(line, size, "Content-Length")) {
		response->length = parse_number(value, (size_t)(end - value));
		if (response->length < 0)
			return -EPROTO;
	} else if (is_named(line, size, "Transfer-Encoding")) {
		response->chunked = ends_with_chunked(value, (size_t)(end - value));
	}
	return 0;
}

/* "HTTP/1.1 200 OK" */
static int parse_status(struct response *response, const char *line, size_t size)
{
	int64_t status;

	if (size < 12 || memcmp(line, "HTTP/1.", 7) != 0 || (line[7] != '0' && line[7] != '1') ||
	    line[8] != ' ' || (size > 12 && line[12] != ' '))
		return -EPROTO;
	status = parse_number(line + 9, 3);
	if (status < 100 || status > 599)
		return -EPROTO;
	response->status = (int)status;
	return 0;
}

/* Parses the `size` bytes of a complete head, without the blank line. */
static int parse_head(struct response *response, size_t size, int64_t now)
{
	const char *at = response->head, *end = at + size;
	bool first = true;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *next = newline ? newline + 1 : end;
		size_t length = (size_t)((newline ? newline : end) - at);
		int r;

		if (length > 0 && at[length - 1] == '\r')
			length--;
		if (length == 0 && !first)
			break; /* the blank line */
		r = first ? parse_status(response, at, length)
			  : parse_field(response, at, length, now);
		if (r < 0)
			return r;
		first = false;
		at = next;
	}
	return first ? -EPROTO : 0;
}

/* Whether the last byte ended the blank line. */
static bool is_blank(const struct response *response)
{
	const char *head = response->head;
	size_t n = response->head_size;

	return n >= 2 && head[n - 1] == '\n' &&
	       (head[n - 2] == '\n' || (n >= 3 && head[n - 2] == '\r' && head[n - 3] == '\n'));
}

static void keep(struct response *response, char byte)
{
	if (response->body_size < RESPONSE_BODY_MAX)
		response->body[response->body_size++] = byte;
}

static int hex(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	digit |= 0x20;
	return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

static int end_of_chunk_size(struct response *response)
{
	response->seen = 0;
	response->chunk_state = CHUNK_DATA;
	if (response->chunk == 0)
		response->complete = true; /* trailers do not matter */
	return 0;
}

static int take_chunked(struct response *response, char byte)
{
	switch (response->chunk_state) {
	case CHUNK_SIZE:
		if (hex(byte) >= 0) {
			if (++response->seen > 12)
				return -EPROTO;
			response->chunk = response->chunk * 16 + (uint64_t)hex(byte);
			return 0;
		}
		if (response->seen == 0)
			return -EPROTO;
		response->chunk_state = CHUNK_EXTENSION;
		__attribute__((fallthrough));
	case CHUNK_EXTENSION:
		return byte == '\n' ? end_of_chunk_size(response) : 0;
	case CHUNK_DATA:
		keep(response, byte);
		if (++response->seen == response->chunk)
			response->chunk_state = CHUNK_AFTER;
		return 0;
	default:
		if (byte == '\n') {
			response->chunk_state = CHUNK_SIZE;
			response->chunk = response->seen = 0;
		}
		return 0;
	}
}

static int take_body(struct response *response, const char *bytes, size_t size)
{
	for (size_t i = 0; i < size && !response->complete; i++) {
		int r = 0;

		if (response->chunked)
			r = take_chunked(response, bytes[i]);
		else
			keep(response, bytes[i]);
		if (r < 0)
			return r;
		if (!response->chunked && ++response->seen == (uint64_t)response->length)
			response->complete = true;
	}
	/* More would not be shown. */
	if (response->body_size == RESPONSE_BODY_MAX)
		response->complete = true;
	return 0;
}

static bool has_no_body(const struct response *response)
{
	return response->status == 204 || response->status == 304 ||
	       (!response->chunked && response->length == 0);
}

int response_take(struct response *response, const char *bytes, size_t size, int64_t now)
{
	while (size > 0 && !response->headed) {
		int r;

		if (response->head_size == sizeof(response->head))
			return -EPROTO;
		response->head[response->head_size++] = *bytes++;
		size--;
		if (!is_blank(response))
			continue;
		r = parse_head(response, response->head_size, now);
		if (r < 0)
			return r;
		/* Interim responses (100 Continue) precede the response. */
		if (response->status < 200) {
			response_start(response);
			continue;
		}
		response->headed = true;
		response->complete = has_no_body(response);
	}
	return response->headed ? take_body(response, bytes, size) : 0;
}

int response_end(struct response *response)
{
	if (!response->headed)
		return -EPROTO;
	response->complete = true;
	return 0;
}
