// SPDX-License-Identifier: GPL-2.0-or-later
#include "push/target.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *path;
} protocols[PUSH_N_PROTOCOLS] = {
	[PUSH_PPROF] = { "pprof", "/v1/pprof" },
	[PUSH_PYROSCOPE] = { "pyroscope", "/push.v1.PusherService/Push" },
	[PUSH_OTLP] = { "otlp", "/v1development/profiles" },
};

const char *target_protocol_name(enum push_protocol protocol)
{
	return protocols[protocol].name;
}

/* Takes "PROTOCOL+" and "http[s]://" from the front. */
static const char *parse_scheme(const char *url, struct target *target)
{
	for (int i = 0; i < PUSH_N_PROTOCOLS; i++) {
		size_t size = strlen(protocols[i].name);

		if (strncmp(url, protocols[i].name, size) != 0 || url[size] != '+')
			continue;
		target->protocol = (enum push_protocol)i;
		url += size + 1;
		break;
	}
	if (strncmp(url, "http://", 7) == 0)
		return url + 7;
	if (strncmp(url, "https://", 8) != 0)
		return NULL;
	target->tls = true;
	return url + 8;
}

static bool copy(const char *from, size_t size, char *to, size_t capacity)
{
	if (size == 0 || size >= capacity)
		return false;
	memcpy(to, from, size);
	to[size] = '\0';
	return true;
}

static bool parse_port(const char *from, size_t size, struct target *target)
{
	int port;

	if (!copy(from, size, target->port, sizeof(target->port)) ||
	    strspn(target->port, "0123456789") != size)
		return false;
	port = atoi(target->port);
	return port > 0 && port <= 65535;
}

static bool parse_host(const char *from, size_t size, struct target *target)
{
	const char *colon = memchr(from, ':', size), *end = from + size;

	if (*from == '[') {
		const char *bracket = memchr(from, ']', size);
		struct in6_addr address;

		if (!bracket ||
		    !copy(from + 1, (size_t)(bracket - from - 1), target->host,
			  sizeof(target->host)) ||
		    inet_pton(AF_INET6, target->host, &address) != 1)
			return false;
		colon = bracket + 1 < end ? bracket + 1 : NULL;
		if (colon && *colon != ':')
			return false;
	} else if (!copy(from, (size_t)((colon ? colon : end) - from), target->host,
			 sizeof(target->host)) ||
		   target->host[strspn(target->host, "abcdefghijklmnopqrstuvwxyz"
						     "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_")]) {
		return false;
	}
	if (colon)
		return parse_port(colon + 1, (size_t)(end - colon - 1), target);
	strcpy(target->port, target->tls ? "443" : "80");
	return true;
}

static bool parse_path(const char *path, struct target *target)
{
	if (!*path || strcmp(path, "/") == 0)
		path = protocols[target->protocol].path;
	for (const char *at = path; *at; at++)
		if (*at <= ' ' || *at > '~' || *at == '#')
			return false;
	return copy(path, strlen(path), target->path, sizeof(target->path));
}

int target_parse(const char *url, struct target *ret_target, struct error *err)
{
	struct target target = { .protocol = PUSH_PPROF };
	const char *host = parse_scheme(url, &target);
	size_t size = host ? strcspn(host, "/?") : 0;

	if (host && memchr(host, '@', size))
		return error_usage(err, "argument --push: a URL must not hold a password, which "
					"everybody could see: use --push-auth FILE");
	if (!host || size == 0 || host[size] == '?' || !parse_host(host, size, &target) ||
	    !parse_path(host + size, &target))
		return error_usage(err,
				   "argument --push: '%s' is not "
				   "[pprof+|pyroscope+|otlp+]http[s]://HOST[:PORT][/PATH]",
				   url);
	*ret_target = target;
	return 0;
}

bool target_is_local(const struct target *target)
{
	return strncmp(target->host, "127.", 4) == 0 || strcmp(target->host, "::1") == 0 ||
	       strcmp(target->host, "localhost") == 0;
}
