// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The reader of files of the table cache. The input is such a file; its version, identity and
 * checksum are corrected first, so that the reader gets beyond them.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <zlib.h>

#include "unwind/table_cache_internal.h"

#define VERSION_AT  8
#define CHECKSUM_AT 12
#define IDENTITY_AT 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct unwind_rows *rows, const struct rule_table *rules)
{
	uint32_t n;
	const struct wire_rule *all = rule_table_rules(rules, &n);

	for (uint32_t i = 0; i < rows->n; i++) {
		if (rows->rows[i].rule >= n ||
		    (i && rows->rows[i].address <= rows->rows[i - 1].address))
			abort();
	}
	for (uint32_t i = 0; i < n; i++) {
		if (all[i].cfa > WIRE_CFA_UNSUPPORTED || all[i].fp > WIRE_FP_UNSUPPORTED ||
		    all[i].reg >= WIRE_N_REGISTERS)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct table_identity identity = { .inode = 1 };
	const uint32_t version = TABLE_CACHE_VERSION;
	struct rule_table *rules = NULL;
	struct unwind_rows rows;
	uint32_t crc = 0;
	uint8_t *bytes;
	int file;

	if (size < IDENTITY_AT + sizeof(identity))
		return 0;
	bytes = malloc(size);
	if (!bytes || rule_table_new(&rules))
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
	if (table_cache_file_read(file, size, &identity, rules, &rows) == 0) {
		check(&rows, rules);
		unwind_rows_free(&rows);
	}
	close(file);
	rule_table_free(rules);
	free(bytes);
	return 0;
}
