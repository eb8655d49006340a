/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cfi/row_writer.h"

#include <errno.h>

int row_writer_open(struct row_writer *writer, struct rule_table *book)
{
	struct rule_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return -ENOMEM;
	*writer = (struct row_writer){ .book = book, .cache = cache };
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
	uint64_t want = writer->n + n, room = writer->room ? writer->room : 1024;
	struct unwind_row *grown;

	if (want <= writer->room)
		return 0;
	if (want > UNWIND_MAX_ROWS)
		return -EFBIG;
	while (room < want)
		room *= 2;
	grown = realloc(writer->rows, room * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	writer->rows = grown;
	writer->room = (uint32_t)room;
	return 0;
}
