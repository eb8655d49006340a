// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbolize/answers.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/own.h"
#include "symbolize/demangle.h"

#define END_NUMBER UINT32_MAX /* instead of a query: all was sent */
#define SAME_NAMES UINT32_MAX /* instead of a size: the names of the answer before */

/* One answer; the bytes of the names follow. */
struct sent_answer {
	uint64_t start;
	uint32_t query;		     /* ascending */
	uint32_t size, linkage_size; /* bytes of the names; a linkage name of none is the same */
	uint32_t is_start;	     /* 0: false; anything else is true */
};

uint64_t *answers_addresses(const struct symbol_query *queries, size_t n)
{
	uint64_t *addresses = malloc((n + 1) * sizeof(*addresses));

	for (size_t i = 0; addresses && i < n; i++)
		addresses[i] = queries[i].address;
	return addresses;
}

struct symbol_query *answers_queries(const uint64_t *addresses, size_t n)
{
	struct symbol_query *queries = calloc(n + 1, sizeof(*queries));

	for (size_t i = 0; queries && i < n; i++) {
		queries[i].address = addresses[i];
		queries[i].chain = QUERY_NO_CHAIN;
	}
	return queries;
}

/* `demangled` is room for a name. */
static void send_names(const struct byte_sink *sink, struct sent_answer *answer, const char *name,
		       char *demangled)
{
	bool differs = demangle(name, demangled, DEMANGLE_SIZE);
	size_t size = strnlen(name, DEMANGLE_SIZE - 1);

	answer->linkage_size = differs ? (uint32_t)size : 0;
	answer->size = differs ? (uint32_t)strlen(demangled) : (uint32_t)size;
	sink_write(sink, answer, sizeof(*answer));
	sink_write(sink, differs ? demangled : name, answer->size);
	sink_write(sink, name, answer->linkage_size);
}

int answers_send(const struct byte_sink *sink, const struct symbol_query *queries, size_t n)
{
	own(own_free) char *demangled = malloc(DEMANGLE_SIZE);
	struct sent_answer answer = { .query = END_NUMBER };
	const char *last = NULL;

	if (!demangled)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (!queries[i].name)
			continue;
		answer = (struct sent_answer){ .start = queries[i].start,
					       .query = (uint32_t)i,
					       .size = SAME_NAMES,
					       .is_start = queries[i].is_start };
		if (queries[i].name == last)
			sink_write(sink, &answer, sizeof(answer));
		else
			send_names(sink, &answer, queries[i].name, demangled);
		last = queries[i].name;
	}
	answer = (struct sent_answer){ .query = END_NUMBER };
	sink_write(sink, &answer, sizeof(answer));
	return 0;
}

/* A name of `size` bytes; `buffer` has room for it. */
static int receive_name(const struct byte_source *source, struct pool *pool, uint32_t size,
			char *buffer, const char **ret_name)
{
	int r;

	if (size >= DEMANGLE_SIZE)
		return -EPROTO;
	r = source_read(source, buffer, size);
	if (r < 0)
		return r;
	if (memchr(buffer, '\0', size))
		return -EPROTO;
	*ret_name = pool_string_n(pool, buffer, size);
	return *ret_name ? 0 : -ENOMEM;
}

int answers_receive(const struct byte_source *source, struct pool *pool,
		    struct symbol_query *queries, size_t n)
{
	own(own_free) char *buffer = malloc(DEMANGLE_SIZE);
	const char *name = NULL, *linkage_name = NULL;
	size_t next = 0;

	if (!buffer)
		return -ENOMEM;
	for (;;) {
		struct sent_answer answer;
		int r = source_read(source, &answer, sizeof(answer));

		if (r < 0)
			return r;
		if (answer.query == END_NUMBER)
			return 0;
		/* Numbers must ascend, which bounds how many there are. */
		if (answer.query < next || answer.query >= n ||
		    (answer.size == SAME_NAMES ? !name : !answer.size))
			return -EPROTO;
		if (answer.size != SAME_NAMES) {
			linkage_name = NULL;
			r = receive_name(source, pool, answer.size, buffer, &name);
			if (r == 0 && answer.linkage_size)
				r = receive_name(source, pool, answer.linkage_size, buffer,
						 &linkage_name);
			if (r < 0)
				return r;
		}
		next = answer.query + 1ull;
		queries[answer.query].start = answer.start;
		queries[answer.query].name = name;
		queries[answer.query].linkage_name = linkage_name;
		queries[answer.query].is_start = answer.is_start != 0;
	}
}
