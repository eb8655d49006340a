// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbolize/file_reader.h"

#include <errno.h>
#include <stdlib.h>

#include "symbolize/answers.h"
#include "symbolize/placed_queries.h"
#include "symbolize/sources.h"

static bool all_named(const struct symbol_query *queries, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!queries[i].name)
			return false;
	}
	return true;
}

int file_reader_find(struct symbol_tables *tables, struct pool *pool, struct symbol_query *queries,
		     size_t n)
{
	own(placed_queries_free) struct placed_queries placed = PLACED_QUERIES_NONE;
	int r = placed_queries_make(tables->main, queries, n, &placed);

	if (r == 0)
		r = symbol_tables_find(tables, pool, placed.queries, placed.n);
	for (file_source *const *source = sources_of_files; r == 0 && *source; source++) {
		if (all_named(placed.queries, placed.n))
			break;
		r = (*source)(tables->main, placed.queries, placed.n, pool);
	}
	if (r == 0)
		placed_queries_give(&placed, queries);
	return r;
}

/* Opens the debug files that were sent, if they belong to the file. */
static void open_debug_files(const struct confined_job *job, const struct file_question *question,
			     struct symbol_tables *tables, struct file_facts *facts)
{
	int next = 1, fd;

	if (question->has_symfs) {
		fd = job->fds[next++];
		facts->wrong_symfs = debug_file_open_checked(tables->main, fd, DEBUG_PROOF_BUILD_ID,
							     &tables->symfs) < 0;
	}
	if (question->has_debug) {
		fd = job->fds[next];
		facts->wrong_debug = debug_file_open_checked(tables->main, fd, question->proof,
							     &tables->debug) < 0;
	}
}

int file_reader_work(const struct confined_job *job)
{
	const struct file_question *question = job->request;
	const struct byte_sink sink = confined_sink(job);
	own(own_pool_free) struct pool *pool = NULL;
	own(symbol_tables_close) struct symbol_tables tables = SYMBOL_TABLES_NONE;
	own(own_free) struct symbol_query *queries = NULL;
	struct file_facts facts = { 0 };
	int r = elf_file_open(job->fds[0], &tables.main);

	if (r == 0)
		r = pool_new(&pool);
	if (r < 0)
		return r;
	queries = answers_queries((const void *)(question + 1), question->n);
	if (!queries)
		return -ENOMEM;
	debug_wanted_read(tables.main, &facts.wanted);
	open_debug_files(job, question, &tables, &facts);
	if (!facts.wrong_debug) {
		r = file_reader_find(&tables, pool, queries, question->n);
		if (r < 0)
			return r;
	}
	facts.wants_debug = tables.wants_debug && !question->has_debug;
	facts.has_dwarf = elf_file_section(tables.main, ".debug_info") ||
			  elf_file_section(tables.main, ".zdebug_info");
	sink_write(&sink, &facts, sizeof(facts));
	return answers_send(&sink, queries, facts.wrong_debug ? 0 : question->n);
}
