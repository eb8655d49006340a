// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads responses of engines: the result does not depend on the pieces in which one arrives, and
 * its numbers are within their bounds.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "push/response.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int take(struct response *response, const uint8_t *data, size_t size, size_t piece)
{
	int r = 0;

	response_start(response);
	for (size_t at = 0; r == 0 && at < size && !response->complete; at += piece)
		r = response_take(response, (const char *)data + at,
				  size - at < piece ? size - at : piece, 0);
	return r == 0 && !response->complete ? response_end(response) : r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct response whole, cut;
	int r = take(&whole, data, size, size + 1);

	if (r != take(&cut, data, size, 1))
		abort();
	if (r != 0)
		return 0;
	if (whole.status < 200 || whole.status > 599 || !whole.complete ||
	    whole.body_size > RESPONSE_BODY_MAX || whole.body[whole.body_size] != '\0')
		abort();
	if (whole.status != cut.status || whole.retry_after_s != cut.retry_after_s ||
	    whole.body_size != cut.body_size || memcmp(whole.body, cut.body, whole.body_size) != 0)
		abort();
	return 0;
}
