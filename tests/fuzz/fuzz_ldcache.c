// SPDX-License-Identifier: GPL-2.0-or-later
/* The dynamic linker's cache: the input is the file. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trigger/ld_cache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = ld_cache_find(data, size, "libc.so");
	const char *bytes = (const char *)data;

	if (path && (path < bytes || path + strlen(path) >= bytes + size || path[0] != '/'))
		abort();
	return 0;
}
