// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The loader of compiled tables. The input is the content of a file of the cache; its version, its
 * checksum and what it says it is of are made right first, or nothing would get beyond them.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <zlib.h>

#include "unwind/table_cache.h"

#define VERSION_AT  8
#define CHECKSUM_AT 12
#define IDENTITY_AT 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct unwind_rows *rows, const struct rule_table *book)
{
	uint32_t n;
	const struct wire_rule *rules = rule_table_rules(book, &n);

	for (uint32_t i = 0; i < rows->n; i++) {
		if (rows->rows[i].rule >= n ||
		    (i && rows->rows[i].address <= rows->rows[i - 1].address))
			abort();
	}
	for (uint32_t i = 0; i < n; i++) {
		if (rules[i].cfa > WIRE_CFA_UNSUPPORTED || rules[i].fp > WIRE_FP_UNSUPPORTED ||
		    rules[i].reg >= WIRE_N_REGISTERS)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct table_identity identity = { .inode = 1 };
	const uint32_t version = TABLE_CACHE_VERSION;
	struct rule_table *book = NULL;
	struct unwind_rows rows;
	uint32_t crc = 0;
	uint8_t *bytes;
	int file;

	if (size < IDENTITY_AT + sizeof(identity))
		return 0;
	bytes = malloc(size);
	if (!bytes || rule_table_new(&book))
		abort();
	memcpy(bytes, data, size);
	memcpy(bytes + VERSION_AT, &version, sizeof(version));
	memcpy(bytes + IDENTITY_AT, &identity, sizeof(identity));
	memset(bytes + CHECKSUM_AT, 0, sizeof(crc));
	crc = (uint32_t)crc32_z(0, bytes, size);
	memcpy(bytes + CHECKSUM_AT, &crc, sizeof(crc));
	file = memfd_create("table", MFD_CLOEXEC);
	if (file < 0 || write(file, bytes, size) != (ssize_t)size)
		abort();
	if (table_cache_read(file, size, &identity, book, &rows) == 0) {
		check(&rows, book);
		unwind_rows_free(&rows);
	}
	close(file);
	rule_table_free(book);
	free(bytes);
	return 0;
}
