/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files in which a process names its generated code, as sources of names. */
#include <errno.h>
#include <stdio.h>

#include "base/own.h"
#include "symbolize/jitdump.h"
#include "symbolize/perfmap.h"
#include "symbolize/sources.h"
#include "tally/names.h"

typedef int reader(int fd, struct symbol_query *queries, size_t n, struct pool *pool);

static int find(struct process_request *request, enum jit_file kind, reader *read_file)
{
	own(own_fd) int fd = -1;
	char module[64];
	pid_t tgid;
	int r;

	images_lock(request->images);
	fd = images_open_jit(request->images, request->image, kind);
	tgid = images_tgid(request->images, request->image);
	images_unlock(request->images);
	if (fd < 0)
		return 0;
	snprintf(module, sizeof(module),
		 kind == JIT_FILE_PERF_MAP ? "[perf-%d.map]" : "[jit-%d.dump]", (int)tgid);
	request->module = pool_string(request->pool, module);
	if (!request->module)
		return -ENOMEM;
	request->flags = NAMES_FRAME_JIT;
	r = sources_make_queries(request);
	if (r < 0)
		return r;
	r = read_file(fd, request->queries, request->n, request->pool);
	return r == -ENOMEM ? r : 0;
}

int jit_files_perf_map(struct process_request *request)
{
	return find(request, JIT_FILE_PERF_MAP, perfmap_find);
}

int jit_files_jitdump(struct process_request *request)
{
	return find(request, JIT_FILE_JITDUMP, jitdump_find);
}
