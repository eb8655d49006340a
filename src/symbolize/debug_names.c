// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbolize/debug_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elf/build_id.h"
#include "symbolize/answers.h"
#include "symbolize/symbol_tables.h"

/* The addresses follow. */
struct question {
	uint64_t n;
	uint32_t size;
	uint8_t build_id[BUILD_ID_MAX];
};

static bool has_build_id(const struct elf_file *elf, const struct question *question)
{
	uint8_t id[BUILD_ID_MAX];

	return build_id_of(elf, id, sizeof(id)) == question->size &&
	       memcmp(id, question->build_id, question->size) == 0;
}

/* Runs in a child. */
static int read_names(const struct confined_job *job)
{
	const struct question *question = job->request;
	const struct byte_sink sink = confined_sink(job);
	own(symbol_tables_close) struct symbol_tables tables = SYMBOL_TABLES_NONE;
	own(own_free) struct symbol_query *queries = NULL;
	own(own_pool_free) struct pool *pool = NULL;
	int r = elf_file_open(job->fds[0], &tables.main);

	if (r < 0)
		return r;
	if (!has_build_id(tables.main, question))
		return -ESTALE;
	queries = answers_queries((const void *)(question + 1), question->n);
	r = queries ? pool_new(&pool) : -ENOMEM;
	if (r == 0)
		r = symbol_tables_find(&tables, pool, queries, question->n);
	return r < 0 ? r : answers_send(&sink, queries, question->n);
}

int debug_names_find(struct confined *readers, int fd, const uint8_t *build_id, uint32_t size,
		     struct pool *pool, struct symbol_query *queries, size_t n)
{
	own(own_free) uint64_t *addresses = answers_addresses(queries, n);
	struct question question = { .n = n, .size = size };
	const struct iovec parts[] = { { &question, sizeof(question) },
				       { addresses, n * sizeof(*addresses) } };
	const struct confined_call call = { .work = read_names,
					    .owner = confined_owner(fd),
					    .fds = &fd,
					    .n_fds = 1,
					    .request = parts,
					    .n_parts = 2 };
	struct confined_child *child;
	struct byte_source source;
	int r, end;

	if (!addresses)
		return -ENOMEM;
	if (!size || size > BUILD_ID_MAX)
		return -EINVAL;
	memcpy(question.build_id, build_id, size);
	r = confined_begin(readers, &call, &child);
	if (r < 0)
		return r;
	source = confined_source(child);
	r = answers_receive(&source, pool, queries, n);
	end = confined_finish(child);
	return end < 0 ? end : r;
}
