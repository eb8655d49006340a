// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads DWARF in this process instead of a confined child, so that crashes of libdw are seen. The
 * input is an ELF file; the addresses looked up are in its code.
 *
 * A search finds within seconds that libdw 0.188 reads a file name in .debug_line that lacks its
 *NUL beyond the end of the section (read_srclines() in dwarf_getsrclines.c). That is why libdw is
 * confined, and why the tests only replay the inputs in the tree (fuzz: corpus only). To search,
 * ignoring crashes of libdw:
 *
 *	build/fuzz/tests/fuzz/fuzz_inlines -fork=2 -ignore_crashes=1 DIRECTORY
 *tests/fuzz/corpus/inlines
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/own.h"
#include "symbolize/inlines_internal.h"

#define N_QUERIES 128
#define MAX_NS	  1000000000ull

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_chain(void *context, uint32_t query, uint32_t number)
{
	const struct inlines *inlines = context;
	const struct inline_chain *chain = inlines_chain(inlines, number);

	if (query >= N_QUERIES || chain->n == 0 || chain->n > INLINES_MAX_DEPTH)
		abort();
	for (uint32_t i = 0; i < chain->n; i++) {
		const struct inline_frame *frame = &inlines_frames(inlines, chain)[i];

		/* Reads both strings to their ends. */
		if ((frame->name && strlen(frame->name) > 1 << 30) ||
		    (frame->file && strlen(frame->file) > 1 << 30))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	own(own_inlines_free) struct inlines *inlines = NULL;
	struct symbol_query queries[N_QUERIES] = { 0 };
	own(own_fd) int fd = memfd_create("input", MFD_CLOEXEC);
	struct pool *pool = NULL;
	struct inlines_job job = { .queries = queries, .n = N_QUERIES, .done = check_chain };

	if (fd < 0 || write(fd, data, size) != (ssize_t)size || pool_new(&pool) ||
	    inlines_new(pool, true, true, &inlines))
		abort();
	/* Dense where relocatable files have their code, then where programs have it. */
	for (uint32_t i = 0; i < N_QUERIES; i++)
		queries[i].address = i < 64 ? i * 2 : 0x1000 + (i - 64) * 16;
	job.inlines = job.context = inlines;
	job.end_ns = monotonic_ns() + MAX_NS;
	inlines_read(&job, fd);
	pool_free(pool);
	return 0;
}
