// SPDX-License-Identifier: GPL-2.0-or-later
#include "live/request.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#define MAX_TARGET 2048
#define MAX_FIELDS 100

bool slice_is(struct slice slice, const char *text)
{
	return slice.at && slice.size == strlen(text) && memcmp(slice.at, text, slice.size) == 0;
}

static bool is_field(struct slice name, const char *text)
{
	return name.size == strlen(text) && strncasecmp(name.at, text, name.size) == 0;
}

/* The next line, without its LF; false when it is not complete. */
static bool next_line(const char **at, const char *end, struct slice *ret_line)
{
	const char *newline = memchr(*at, '\n', (size_t)(end - *at));

	if (!newline)
		return false;
	ret_line->at = *at;
	ret_line->size = (size_t)(newline - *at);
	*at = newline + 1;
	return true;
}

/* Removes the CR at the end; false when there is none, or a CR or NUL elsewhere. */
static bool remove_cr(struct slice *line)
{
	if (line->size == 0 || line->at[line->size - 1] != '\r')
		return false;
	line->size--;
	return !memchr(line->at, '\r', line->size) && !memchr(line->at, '\0', line->size);
}

/* ---- the first line ---- */

static bool is_token_character(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_token(struct slice slice)
{
	for (size_t i = 0; i < slice.size; i++)
		if (!is_token_character((unsigned char)slice.at[i]))
			return false;
	return slice.size > 0;
}

static int parse_target(struct slice target, struct request *request)
{
	const char *question;

	if (target.size > MAX_TARGET)
		return -414;
	if (target.size == 0 || target.at[0] != '/')
		return -400;
	for (size_t i = 0; i < target.size; i++)
		if (target.at[i] <= ' ' || target.at[i] > '~' || target.at[i] == '#')
			return -400;
	question = memchr(target.at, '?', target.size);
	request->path = target;
	request->query = (struct slice){ target.at + target.size, 0 };
	if (question) {
		request->path.size = (size_t)(question - target.at);
		request->query.at = question + 1;
		request->query.size = target.size - request->path.size - 1;
	}
	return 0;
}

static int parse_first_line(struct slice line, struct request *request)
{
	const char *space = memchr(line.at, ' ', line.size);
	const char *last = memrchr(line.at, ' ', line.size);
	struct slice method, target, version;
	int r;

	if (!space || space == last)
		return -400;
	method = (struct slice){ line.at, (size_t)(space - line.at) };
	target = (struct slice){ space + 1, (size_t)(last - space - 1) };
	version = (struct slice){ last + 1, line.size - (size_t)(last + 1 - line.at) };
	if (!is_token(method))
		return -400;
	if (version.size != 8 || memcmp(version.at, "HTTP/", 5) != 0)
		return -400;
	if (!slice_is(version, "HTTP/1.1") && !slice_is(version, "HTTP/1.0"))
		return -505;
	r = parse_target(target, request);
	if (r < 0)
		return r;
	request->head = slice_is(method, "HEAD");
	return request->head || slice_is(method, "GET") ? 0 : -405;
}

/* ---- fields ---- */

static struct slice trimmed(struct slice value)
{
	while (value.size && (value.at[0] == ' ' || value.at[0] == '\t')) {
		value.at++;
		value.size--;
	}
	while (value.size && (value.at[value.size - 1] == ' ' || value.at[value.size - 1] == '\t'))
		value.size--;
	return value;
}

/* A field that occurs twice is refused: proxies disagree about which one counts. */
static int take_once(struct slice value, struct slice *to)
{
	if (to->at)
		return -400;
	*to = value;
	return 0;
}

static int parse_field(struct slice line, struct request *request)
{
	const char *colon = memchr(line.at, ':', line.size);
	struct slice name, value;

	if (!colon)
		return -400;
	name = (struct slice){ line.at, (size_t)(colon - line.at) };
	value = (struct slice){ colon + 1, line.size - name.size - 1 };
	value = trimmed(value);
	if (!is_token(name))
		return -400;
	if (is_field(name, "Host"))
		return take_once(value, &request->host);
	if (is_field(name, "Origin"))
		return take_once(value, &request->origin);
	/* No request has a body: a second request could hide in it (request smuggling). */
	if (is_field(name, "Transfer-Encoding"))
		return -501;
	if (is_field(name, "Content-Length") && !slice_is(value, "0"))
		return -400;
	return 0;
}

int request_parse(const char *bytes, size_t size, struct request *ret_request)
{
	const char *at = bytes, *end = bytes + size;
	struct request request = { 0 };
	struct slice line;
	int r;

	if (!next_line(&at, end, &line))
		return size >= REQUEST_MAX_SIZE ? -414 : 0;
	if (!remove_cr(&line))
		return -400;
	r = parse_first_line(line, &request);
	if (r < 0 && r != -405)
		return r;
	for (int fields = 0;; fields++) {
		int field;

		if (!next_line(&at, end, &line))
			return size >= REQUEST_MAX_SIZE ? -431 : 0;
		if (!remove_cr(&line))
			return -400;
		if (line.size == 0)
			break;
		if (fields == MAX_FIELDS)
			return -431;
		field = parse_field(line, &request);
		if (field < 0)
			return field;
	}
	if (r < 0)
		return r;
	if (!request.host.at)
		return -400;
	*ret_request = request;
	return (int)(at - bytes);
}

/* ---- Host and Origin ---- */

/* The host without its port; false when what follows the colon is no port. */
static bool split_port(struct slice host, struct slice *ret_name)
{
	size_t at = host.size;

	while (at > 0 && host.at[at - 1] >= '0' && host.at[at - 1] <= '9')
		at--;
	*ret_name = host;
	/* Without a colon before the last digits there is no port: "1.2.3.4", "[::1]". */
	if (at == 0 || host.at[at - 1] != ':')
		return true;
	if (host.size - at < 1 || host.size - at > 5)
		return false;
	ret_name->size = at - 1;
	return true;
}

bool request_host_is_literal(const struct request *request)
{
	char text[INET6_ADDRSTRLEN];
	unsigned char address[16];
	struct slice name;
	int family = AF_INET;

	if (!request->host.at || !split_port(request->host, &name))
		return false;
	if (slice_is(name, "localhost"))
		return true;
	if (name.size > 2 && name.at[0] == '[' && name.at[name.size - 1] == ']') {
		name.at++;
		name.size -= 2;
		family = AF_INET6;
	}
	if (name.size == 0 || name.size >= sizeof(text))
		return false;
	memcpy(text, name.at, name.size);
	text[name.size] = '\0';
	return inet_pton(family, text, address) == 1;
}

bool request_is_same_origin(const struct request *request)
{
	struct slice origin = request->origin;

	if (!origin.at)
		return true;
	return origin.size == request->host.size + 7 && memcmp(origin.at, "http://", 7) == 0 &&
	       memcmp(origin.at + 7, request->host.at, request->host.size) == 0;
}

/* ---- parameters ---- */

static bool find(const struct request *request, const char *name, struct slice *ret_value)
{
	const char *at = request->query.at, *end = at + request->query.size;
	size_t size = strlen(name);

	while (at < end) {
		const char *stop = memchr(at, '&', (size_t)(end - at));

		if (!stop)
			stop = end;
		if ((size_t)(stop - at) > size && at[size] == '=' && memcmp(at, name, size) == 0) {
			ret_value->at = at + size + 1;
			ret_value->size = (size_t)(stop - ret_value->at);
			return true;
		}
		at = stop < end ? stop + 1 : end;
	}
	return false;
}

int request_number(const struct request *request, const char *name, uint64_t max,
		   uint64_t *ret_value)
{
	uint64_t value = 0;
	struct slice text;

	if (!find(request, name, &text))
		return 0;
	if (text.size == 0 || text.size > 18)
		return -EINVAL;
	for (size_t i = 0; i < text.size; i++) {
		if (text.at[i] < '0' || text.at[i] > '9')
			return -EINVAL;
		value = value * 10 + (uint64_t)(text.at[i] - '0');
	}
	if (value > max)
		return -EINVAL;
	*ret_value = value;
	return 1;
}

bool request_word(const struct request *request, const char *name, char *ret_word, size_t size)
{
	struct slice text;

	if (!find(request, name, &text) || text.size == 0 || text.size >= size)
		return false;
	for (size_t i = 0; i < text.size; i++) {
		char c = text.at[i];

		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-'))
			return false;
	}
	memcpy(ret_word, text.at, text.size);
	ret_word[text.size] = '\0';
	return true;
}

static bool is_one_of(const char *at, const char *stop, const char *const *names)
{
	for (; *names; names++) {
		size_t size = strlen(*names);

		if ((size_t)(stop - at) > size && at[size] == '=' && memcmp(at, *names, size) == 0)
			return true;
	}
	return false;
}

bool request_has_only(const struct request *request, const char *const *names)
{
	const char *at = request->query.at, *end = at + request->query.size;

	while (at < end) {
		const char *stop = memchr(at, '&', (size_t)(end - at));

		if (!stop)
			stop = end;
		if (!is_one_of(at, stop, names))
			return false;
		at = stop < end ? stop + 1 : end;
	}
	return true;
}
