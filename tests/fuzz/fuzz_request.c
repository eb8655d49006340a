// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parses HTTP requests: the result does not depend on the pieces in which a head arrives, and the
 * numbers in a route are within their bounds.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "live/routes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_slice(struct slice slice, const char *bytes, size_t size)
{
	if (slice.at && (slice.at < bytes || slice.at + slice.size > bytes + size))
		abort();
}

static void check_route(const struct request *request)
{
	struct route route;
	int r = route_find(request, &route);

	if (r == -400 || r == -404 || r == -501)
		return;
	if (r != 0 || route.from > route.to || !route.seconds || route.seconds > ROUTE_MAX_SECONDS)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct request request, again;
	char *bytes;
	int r;

	if (size > REQUEST_MAX_SIZE)
		size = REQUEST_MAX_SIZE;
	bytes = malloc(size + 1);
	if (!bytes)
		return 0;
	memcpy(bytes, data, size);
	r = request_parse(bytes, size, &request);
	if (size == REQUEST_MAX_SIZE && r == 0)
		abort(); /* there is no room to complete it */
	if (r > 0) {
		check_slice(request.path, bytes, size);
		check_slice(request.query, bytes, size);
		check_slice(request.host, bytes, size);
		check_slice(request.origin, bytes, size);
		if ((size_t)r > size || request.path.at[0] != '/')
			abort();
		/* The last byte completes the head; bytes behind it do not matter. */
		if (request_parse(bytes, (size_t)r - 1, &again) > 0 ||
		    request_parse(bytes, (size_t)r, &again) != r)
			abort();
		if (request_host_is_literal(&request) && request_is_same_origin(&request))
			check_route(&request);
	}
	free(bytes);
	return 0;
}
