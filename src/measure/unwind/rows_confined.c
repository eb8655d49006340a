// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/rows_confined.h"

#include <errno.h>

#include "unwind/table_cache_internal.h"

/* Runs in the child: sends the size of the content, and the content. */
static int compile(const struct confined_job *job)
{
	static const struct table_identity none;
	own(own_rule_table_free) struct rule_table *rules = NULL;
	own(unwind_rows_free) struct unwind_rows rows = { 0 };
	own(own_free) void *bytes = NULL;
	uint64_t size = 0;
	int r = rule_table_new(&rules);

	if (r == 0)
		r = unwind_rows_compile(job->fds[0], rules, &rows, NULL);
	if (r == 0)
		r = table_cache_file_format(&none, rules, &rows, &bytes, &size);
	if (r < 0)
		return r;
	confined_send(job, &size, sizeof(size));
	confined_send(job, bytes, size);
	return 0;
}

static int receive(struct confined_child *child, struct rule_table *rules,
		   struct unwind_rows *ret_rows)
{
	static const struct table_identity none;
	const struct byte_source source = confined_source(child);
	uint64_t size;
	int r = source_read(&source, &size, sizeof(size));

	if (r < 0)
		return r;
	return size > TABLE_CACHE_MAX_FILE
		       ? -EPROTO
		       : table_cache_content_read(&source, size, &none, rules, ret_rows);
}

int rows_confined_compile(struct confined *confined, int fd, struct rule_table *rules,
			  struct unwind_rows *ret_rows)
{
	const struct confined_call call = {
		.work = compile, .owner = confined_owner(fd), .fds = &fd, .n_fds = 1
	};
	own(unwind_rows_free) struct unwind_rows rows = { 0 };
	struct confined_child *child;
	int r = confined_begin(confined, &call, &child), end;

	if (r < 0)
		return r;
	r = receive(child, rules, &rows);
	end = confined_finish(child);
	/* If the child failed, its own error says more than that its answer was cut off. */
	if (r == -EBADMSG || r == 0)
		r = end < 0 ? end : r;
	if (r < 0)
		return r == -EBADMSG ? -EPROTO : r;
	*ret_rows = rows;
	rows = (struct unwind_rows){ 0 };
	return 0;
}
