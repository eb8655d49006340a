// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/reading.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_STRING 65536 /* bytes */

int reading_begin(confined_work *work, const void *request, size_t size, const int *fds,
		  uint32_t n_fds, struct reading *reading, struct error *err)
{
	const struct iovec part = { (void *)request, size };
	const struct confined_call call = { .work = work,
					    .owner = confined_owner_of_all(fds, n_fds),
					    .fds = fds,
					    .n_fds = n_fds,
					    .request = &part,
					    .n_parts = 1 };
	struct reading_head head;
	int r = confined_new(&confined_limits_default, &reading->confined);

	if (r == 0)
		r = confined_begin(reading->confined, &call, &reading->child);
	if (r == 0)
		r = reading_bytes(reading, &head, sizeof(head));
	if (r < 0)
		return error_set(err, r, "cannot read the file to be probed: %s", strerror(-r));
	if (head.result == 0)
		return 0;
	head.err.text[sizeof(head.err.text) - 1] = '\0';
	error_set(err, head.result, "%s", head.err.text);
	return head.result < 0 ? head.result : -EPROTO;
}

int reading_bytes(struct reading *reading, void *bytes, size_t size)
{
	return confined_read(reading->child, bytes, size);
}

int reading_string(struct reading *reading, struct pool *pool, const char **ret_string)
{
	own(own_free) char *buffer = malloc(MAX_STRING);
	uint32_t size;
	int r = buffer ? reading_bytes(reading, &size, sizeof(size)) : -ENOMEM;

	if (r == 0)
		r = size < MAX_STRING ? reading_bytes(reading, buffer, size) : -EPROTO;
	if (r < 0)
		return r;
	*ret_string = pool_string_n(pool, buffer, strnlen(buffer, size));
	return *ret_string ? 0 : -ENOMEM;
}

void reading_end(struct reading *reading)
{
	confined_free(reading->confined);
	*reading = (struct reading){ 0 };
}

void reading_send_head(const struct confined_job *job, int result, const struct error *err)
{
	struct reading_head head = { .result = result, .err = *err };

	confined_send(job, &head, sizeof(head));
}

void reading_send_string(const struct confined_job *job, const char *string)
{
	uint32_t size = (uint32_t)strnlen(string, MAX_STRING - 1);

	confined_send(job, &size, sizeof(size));
	confined_send(job, string, size);
}
