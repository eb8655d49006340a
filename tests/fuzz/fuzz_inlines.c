// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The reader of DWARF, in this process rather than in a confined child: what goes wrong in libdw
 * is seen here. The input is an ELF file; addresses that are asked for lie in its code.
 *
 * A search finds within seconds what libdw 0.188 does not check: a file name in .debug_line without
 * its NUL is read beyond the end of the section (read_srclines() in dwarf_getsrclines.c). That is
 * why it is confined, and why the tests only replay what is in the tree (fuzz: corpus only). To
 * search, with crashes of libdw set aside:
 *
 *	build/fuzz/tests/fuzz/fuzz_inlines -fork=2 -ignore_crashes=1 DIRECTORY
 *tests/fuzz/corpus/inlines
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/own.h"
#include "symbolize/inlines_internal.h"

#define N_QUERIES 128
#define MAX_NS	  1000000000ull

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void done(void *context, const struct inlines *inlines, uint32_t query, uint32_t number)
{
	const struct inline_chain *chain = inlines_chain(inlines, number);

	(void)context;
	if (query >= N_QUERIES || chain->n == 0 || chain->n > INLINES_MAX_DEPTH)
		abort();
	for (uint32_t i = 0; i < chain->n; i++) {
		const struct inline_frame *frame = &inlines_frames(inlines, chain)[i];

		/* Touches all of it. */
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

	if (fd < 0 || write(fd, data, size) != (ssize_t)size || pool_new(&pool) ||
	    inlines_new(pool, true, true, &inlines))
		abort();
	/* Dense where relocatable files have their code, then where programs have it. */
	for (uint32_t i = 0; i < N_QUERIES; i++)
		queries[i].address = i < 64 ? i * 2 : 0x1000 + (i - 64) * 16;
	inlines_read(inlines, fd, queries, N_QUERIES, inlines_now_ns() + MAX_NS, done, NULL);
	pool_free(pool);
	return 0;
}
