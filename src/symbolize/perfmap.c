/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolize/perfmap.h"

#include <errno.h>
#include <string.h>

#include "base/lines.h"

#define MAX_BYTES   (1ull << 30)
#define MAX_ANSWERS (1ull << 26) /* a file of lines that all span everything is no JIT's */

struct batch {
	struct symbol_query *queries;
	size_t n;
	struct pool *pool;
	uint64_t answers;
};

static int read_entry(void *context, char *line, size_t size)
{
	struct batch *batch = context;
	const char *at = line, *end = line + size, *name = NULL;
	uint64_t start, length;

	/* Some runtimes write 0x before the numbers. */
	if (size > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
		at += 2;
	if (!lines_hex(&at, end, &start) || at == end || *at != ' ')
		return 0;
	at += strspn(at, " ");
	if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
		at += 2;
	if (!lines_hex(&at, end, &length) || at == end || *at != ' ' || !length)
		return 0;
	at += strspn(at, " ");
	if (end > at && end[-1] == '\r')
		line[--size] = '\0';
	if (!*at)
		return 0;
	for (size_t i = symbol_query_lower_bound(batch->queries, batch->n, start);
	     i < batch->n && batch->queries[i].address - start < length; i++) {
		if (batch->answers++ > MAX_ANSWERS)
			return -EFBIG;
		if (!name)
			name = pool_string(batch->pool, at);
		if (!name)
			return -ENOMEM;
		batch->queries[i].start = start;
		batch->queries[i].name = name;
	}
	return 0;
}

int perfmap_find(int fd, struct symbol_query *queries, size_t n, struct pool *pool)
{
	struct batch batch = { .queries = queries, .n = n, .pool = pool };
	int r = lines_read(fd, MAX_BYTES, read_entry, &batch);

	return r == -EFBIG ? 0 : r;
}
