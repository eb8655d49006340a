// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The reader of /proc/kallsyms and /proc/modules: the input is the text of the first, an
 * empty line, and the text of the second.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel/kallsyms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int file_of(const uint8_t *data, size_t size)
{
	int fd = memfd_create("list", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET))
		abort();
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *blank = size ? memmem(data, size, "\n\n", 2) : NULL;
	size_t symbols_size = blank ? (size_t)(blank - data) : size;
	struct kallsyms *kallsyms = NULL;
	struct kernel_symbol symbol;
	int symbols = file_of(data, symbols_size);
	int modules = file_of(data + symbols_size, size - symbols_size);

	if (kallsyms_read(symbols, modules, &kallsyms))
		abort();
	for (uint32_t i = 0; i < 512; i++) {
		/* Small addresses, then the top of each power of two. */
		uint64_t address = i < 448 ? i : UINT64_MAX >> (511 - i);

		if (kallsyms_find(kallsyms, address, &symbol) &&
		    (symbol.start > address || !symbol.module[0] ||
		     strlen(symbol.name) >= KALLSYMS_NAME_SIZE))
			abort();
	}
	kallsyms_free(kallsyms);
	close(symbols);
	close(modules);
	return 0;
}
