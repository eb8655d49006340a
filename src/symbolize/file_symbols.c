/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolize/file_symbols.h"

#include <errno.h>
#include <stdlib.h>

#include "symbolize/answers.h"
#include "symbolize/file_reader.h"

/* The files that names are looked up in. */
struct files {
	int symfs, debug; /* -1: none */
	enum debug_proof proof;
};

static void files_close(struct files *files)
{
	own_fd(&files->symfs);
	own_fd(&files->debug);
}

/* Sends a question to a child. 0, or a negative errno. */
static int ask(const struct file_symbols_request *request, const struct files *files,
	       const struct symbol_query *queries, size_t n, struct confined_child **ret_child)
{
	own(own_free) uint64_t *addresses = answers_addresses(queries, n);
	struct file_question question = { .n = n,
					  .has_symfs = files->symfs >= 0,
					  .has_debug = files->debug >= 0,
					  .proof = files->proof };
	const struct iovec parts[] = { { &question, sizeof(question) },
				       { addresses, n * sizeof(*addresses) } };
	int fds[CONFINED_MAX_FDS] = { request->fd };
	struct confined_call call = {
		.work = file_reader_work, .fds = fds, .n_fds = 1, .request = parts, .n_parts = 2
	};

	if (!addresses)
		return -ENOMEM;
	if (files->symfs >= 0)
		fds[call.n_fds++] = files->symfs;
	if (files->debug >= 0)
		fds[call.n_fds++] = files->debug;
	call.owner = confined_owner_of_all(fds, call.n_fds);
	return confined_begin(request->readers, &call, ret_child);
}

/* Reads the answer. 0, or a negative errno. */
static int hear(struct confined_child *child, struct pool *pool, struct symbol_query *queries,
		size_t n, struct file_facts *ret_facts)
{
	struct byte_source source = confined_source(child);
	int r = source_read(&source, ret_facts, sizeof(*ret_facts)), end;

	if (r == 0)
		r = answers_receive(&source, pool, queries, n);
	end = confined_finish(child);
	return r < 0 ? r : end;
}

static struct debug_search search_of(const struct file_symbols_request *request)
{
	return (struct debug_search){ .places = request->places,
				      .path = request->path,
				      .file = request->file,
				      .fd = request->fd };
}

/* Looks for the debug file, and looks names up in it. Leaves it open in `files`. */
static int ask_with_debug_file(const struct file_symbols_request *request, struct files *files,
			       const struct file_facts *facts, struct symbol_query *queries,
			       size_t n)
{
	struct debug_search search = search_of(request);

	for (;;) {
		struct file_facts more = { 0 };
		struct confined_child *child;
		int r;

		files->debug = debug_file_open_next(&search, &facts->wanted, &files->proof);
		if (files->debug < 0)
			return 0;
		r = ask(request, files, queries, n, &child);
		if (r == 0)
			r = hear(child, request->pool, queries, n, &more);
		if (r < 0 || !more.wrong_debug)
			return r;
		own_fd(&files->debug);
		files->debug = -1;
	}
}

/* The file that has the DWARF; -1: none. */
static int dwarf_of(const struct file_symbols_request *request, const struct files *files,
		    const struct file_facts *facts)
{
	if (facts->has_dwarf)
		return request->fd;
	return files->debug >= 0 || facts->wrong_symfs ? files->debug : files->symfs;
}

int file_symbols_begin(const struct file_symbols_request *request, struct symbol_query *queries,
		       size_t n, struct file_symbols_call *ret_call)
{
	struct files files = { .symfs = -1, .debug = -1 };
	int r;

	*ret_call = (struct file_symbols_call){ .request = *request, .queries = queries, .n = n };
	if (request->places) {
		const struct debug_search search = search_of(request);

		files.symfs = debug_file_open_symfs(&search);
	}
	ret_call->symfs = files.symfs;
	r = ask(request, &files, queries, n, &ret_call->child);
	if (r < 0)
		ret_call->child = NULL;
	return r == -ENOMEM ? r : 0;
}

int file_symbols_end(struct file_symbols_call *call)
{
	const struct file_symbols_request *request = &call->request;
	own(files_close) struct files files = { .symfs = call->symfs, .debug = -1 };
	struct confined_child *child = call->child;
	struct file_facts facts = { 0 };
	bool lacks_dwarf;
	int r, dwarf;

	call->symfs = -1;
	call->child = NULL;
	if (!child)
		return 0;
	r = hear(child, request->pool, call->queries, call->n, &facts);
	lacks_dwarf =
		request->inlines && !facts.has_dwarf && (files.symfs < 0 || facts.wrong_symfs);
	if (r == 0 && request->places && (facts.wants_debug || lacks_dwarf))
		r = ask_with_debug_file(request, &files, &facts, call->queries, call->n);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	dwarf = dwarf_of(request, &files, &facts);
	if (!request->inlines || dwarf < 0)
		return 0;
	return inlines_find(request->inlines, dwarf, request->fd, call->queries, call->n);
}

void file_symbols_close(struct file_symbols_call *call)
{
	if (call->child)
		confined_finish(call->child);
	own_fd(&call->symfs);
	*call = FILE_SYMBOLS_CALL_NONE;
}

int file_symbols_find(const struct file_symbols_request *request, struct symbol_query *queries,
		      size_t n)
{
	own(file_symbols_close) struct file_symbols_call call = FILE_SYMBOLS_CALL_NONE;
	int r = file_symbols_begin(request, queries, n, &call);

	return r < 0 ? r : file_symbols_end(&call);
}

int file_symbols_find_memory(const void *bytes, size_t size, struct pool *pool,
			     struct symbol_query *queries, size_t n)
{
	own(symbol_tables_close) struct symbol_tables tables = SYMBOL_TABLES_NONE;
	int r = elf_file_open_memory(bytes, size, &tables.main);

	if (r == 0)
		r = file_reader_find(&tables, pool, queries, n);
	return r == -ENOMEM ? r : 0;
}
