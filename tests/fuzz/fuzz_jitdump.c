// SPDX-License-Identifier: GPL-2.0-or-later
/* The reader of jitdump files. The input is the file. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbolize/jitdump.h"

#define N_QUERIES 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symbol_query queries[N_QUERIES] = { 0 };
	const struct jit_window window = { size / 3, size / 2, 1, 1 + size };
	struct pool *pool = NULL;
	int fd = memfd_create("dump", MFD_CLOEXEC);

	if (fd < 0 || pool_new(&pool))
		abort();
	if (write(fd, data, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET))
		abort();
	/* Dense at the low addresses of small inputs, then sparse up to the highest one. */
	for (uint32_t i = 0; i < N_QUERIES; i++)
		queries[i].address = i < 32 ? i * 3 : UINT64_MAX >> (N_QUERIES - 1 - i);
	if (jitdump_find(fd, &window, queries, N_QUERIES, pool))
		abort();
	for (uint32_t i = 0; i < N_QUERIES; i++) {
		if (queries[i].name && queries[i].start > queries[i].address)
			abort();
	}
	pool_free(pool);
	close(fd);
	return 0;
}
