// SPDX-License-Identifier: GPL-2.0-or-later
#include "cfi/row_writer.h"

#include <errno.h>

#include "base/grow.h"

int row_writer_open(struct row_writer *writer, struct rule_table *table)
{
	struct rule_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return -ENOMEM;
	*writer = (struct row_writer){ .table = table, .cache = cache };
	return 0;
}

void row_writer_close(struct row_writer *writer)
{
	free(writer->rows);
	free(writer->cache);
	*writer = (struct row_writer){ 0 };
}

int row_writer_reserve(struct row_writer *writer, uint64_t n)
{
	if (n > UNWIND_MAX_ROWS - writer->n)
		return -EFBIG;
	return grow(&writer->rows, &writer->capacity, writer->n + n);
}
