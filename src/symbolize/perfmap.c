/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolize/perfmap.h"

#include <errno.h>
#include <string.h>

#include "base/lines.h"

#define MAX_BYTES   (1ull << 30)
#define MAX_MATCHES (1ull << 26) /* bounds the time for lines that all span everything */

struct batch {
	const struct jit_window *window;
	uint64_t at; /* of the next line */
	struct symbol_query *queries;
	size_t n;
	struct pool *pool;
	uint64_t matches;
};

/* A number, perhaps with 0x, and the blanks behind it. */
static bool read_number(const char **at, const char *end, uint64_t *ret_number)
{
	if (end - *at > 2 && (*at)[0] == '0' && ((*at)[1] == 'x' || (*at)[1] == 'X'))
		*at += 2;
	if (!lines_hex(at, end, ret_number) || *at == end || (**at != ' ' && **at != '\t'))
		return false;
	*at += strspn(*at, " \t");
	return true;
}

static int read_entry(void *context, char *line, size_t size)
{
	struct batch *batch = context;
	const char *at = line, *end = line + size, *name = NULL;
	enum jit_when when = jit_names_when(batch->window, batch->at, 0);
	uint64_t start, length;

	batch->at += size + 1;
	if (!read_number(&at, end, &start) || !read_number(&at, end, &length) || !length)
		return 0;
	if (end > at && end[-1] == '\r')
		line[--size] = '\0';
	if (!*at)
		return 0;
	for (size_t i = symbol_query_lower_bound(batch->queries, batch->n, start);
	     i < batch->n && batch->queries[i].address - start < length; i++) {
		if (batch->matches++ > MAX_MATCHES)
			return -EFBIG;
		if (!jit_names_wants(&batch->queries[i], when))
			continue;
		if (!name)
			name = pool_string(batch->pool, at);
		if (!name)
			return -ENOMEM;
		jit_names_give(&batch->queries[i], when, start, name);
	}
	return 0;
}

int perfmap_find(int fd, const struct jit_window *window, struct symbol_query *queries, size_t n,
		 struct pool *pool)
{
	struct batch batch = { .window = window, .queries = queries, .n = n, .pool = pool };
	int r = lines_read(fd, MAX_BYTES, read_entry, &batch);

	if (r == 0 || r == -EFBIG)
		r = jit_names_end(queries, n, pool);
	return r;
}
