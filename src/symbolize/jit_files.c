/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files in which a process names its generated code, as sources of names. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/own.h"
#include "symbolize/answers.h"
#include "symbolize/jitdump.h"
#include "symbolize/perfmap.h"
#include "symbolize/sources.h"
#include "tally/names.h"

typedef int reader(int fd, const struct jit_window *window, struct symbol_query *queries, size_t n,
		   struct pool *pool);

/* ---- in the child, whose request is a window and the addresses ---- */

static int read_file(const struct confined_job *job, reader *find)
{
	const struct byte_sink sink = confined_sink(job);
	const struct jit_window *window = job->request;
	size_t n =
		job->size < sizeof(*window) ? 0 : (job->size - sizeof(*window)) / sizeof(uint64_t);
	own(own_pool_free) struct pool *pool = NULL;
	own(own_free) struct symbol_query *queries =
		answers_queries((const uint64_t *)(window + 1), n);
	int r = queries ? pool_new(&pool) : -ENOMEM;

	if (r == 0)
		r = find(job->fds[0], window, queries, n, pool);
	if (r == -ENOMEM)
		return r;
	return answers_send(&sink, queries, n); /* names found before an error stand */
}

static int read_perf_map(const struct confined_job *job)
{
	return read_file(job, perfmap_find);
}

static int read_jitdump(const struct confined_job *job)
{
	return read_file(job, jitdump_find);
}

/* ---- in our process ---- */

static int ask(struct process_request *request, int fd, const struct jit_window *window,
	       confined_work *work)
{
	own(own_free) uint64_t *addresses = answers_addresses(request->queries, request->n);
	const struct iovec parts[] = { { (void *)window, sizeof(*window) },
				       { addresses, request->n * sizeof(*addresses) } };
	const struct confined_call call = { .work = work,
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
	r = confined_begin(request->readers, &call, &child);
	if (r < 0)
		return r;
	source = confined_source(child);
	r = answers_receive(&source, request->pool, request->queries, request->n);
	end = confined_finish(child);
	return r < 0 ? r : end;
}

static void note_refused(struct process_request *request, enum jit_file kind, pid_t tgid)
{
	struct sources_refused *refused = request->refused;
	struct stat status;
	int r;

	images_lock(request->images);
	r = images_stat_jit(request->images, request->image, kind, &status);
	images_unlock(request->images);
	if (r != -EPERM || refused->n++ > 0)
		return;
	refused->owner = status.st_uid;
	snprintf(refused->name, sizeof(refused->name),
		 kind == JIT_FILE_PERF_MAP ? "perf-%d.map" : "jit-%d.dump", (int)tgid);
}

static int find(struct process_request *request, enum jit_file kind, confined_work *work)
{
	own(own_fd) int fd = -1;
	struct jit_window window;
	char module[64];
	pid_t tgid;
	int r;

	images_lock(request->images);
	fd = images_open_jit(request->images, request->image, kind);
	images_jit_window(request->images, request->image, kind, fd, &window);
	tgid = images_tgid(request->images, request->image);
	images_unlock(request->images);
	if (fd == -EPERM)
		note_refused(request, kind, tgid);
	if (fd < 0)
		return fd == -ENOMEM ? fd : 0;
	snprintf(module, sizeof(module),
		 kind == JIT_FILE_PERF_MAP ? "[perf-%d.map]" : "[jit-%d.dump]", (int)tgid);
	request->module = pool_string(request->pool, module);
	if (!request->module)
		return -ENOMEM;
	request->flags = NAMES_FRAME_JIT;
	r = sources_make_queries(request);
	if (r < 0)
		return r;
	r = ask(request, fd, &window, work);
	return r == -ENOMEM ? r : 0;
}

int jit_files_perf_map(struct process_request *request)
{
	return find(request, JIT_FILE_PERF_MAP, read_perf_map);
}

int jit_files_jitdump(struct process_request *request)
{
	return find(request, JIT_FILE_JITDUMP, read_jitdump);
}
