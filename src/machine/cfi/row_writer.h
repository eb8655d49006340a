/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes rows in ascending order: replaces rules by their numbers and drops rows that repeat the
 * rule of the one before. Must not know: where rows come from.
 */
#ifndef STACKTALLY_CFI_ROW_WRITER_H
#define STACKTALLY_CFI_ROW_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "cfi/rule_table.h"
#include "cfi/unwind_rows.h"

struct row_writer {
	struct unwind_row *rows;
	uint32_t n, capacity;
	uint32_t unsupported; /* rows, repeated ones included */
	struct rule_table *table;
	struct rule_cache *cache; /* owned */
};

/* 0 or -ENOMEM. */
int row_writer_open(struct row_writer *writer, struct rule_table *table);
void row_writer_close(struct row_writer *writer);

/* Makes room for `n` more rows: 0, -ENOMEM, -EFBIG. */
int row_writer_reserve(struct row_writer *writer, uint64_t n);

/* Room must be reserved. A second row for an address replaces the first. */
static inline void row_writer_put(struct row_writer *writer, uint32_t address, uint16_t rule)
{
	uint32_t n = writer->n;

	if (n > 0 && writer->rows[n - 1].address == address)
		writer->n = --n;
	if (n > 0 ? writer->rows[n - 1].rule == rule : rule == RULE_GAP)
		return;
	writer->rows[n] = (struct unwind_row){ .address = address, .rule = rule };
	writer->n = n + 1;
}

static inline bool rule_is_supported(const struct wire_rule *rule)
{
	return rule->cfa != WIRE_CFA_UNSUPPORTED && WIRE_RULE_FP(rule) != WIRE_FP_UNSUPPORTED &&
	       WIRE_RULE_RA(rule) != WIRE_RA_UNSUPPORTED;
}

static inline void row_writer_put_rule(struct row_writer *writer, uint32_t address,
				       const struct wire_rule *rule)
{
	if (!rule_is_supported(rule))
		writer->unsupported++;
	row_writer_put(writer, address, rule_number(writer->table, writer->cache, rule));
}

#endif
