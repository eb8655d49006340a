/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows of Go functions, from Go's table of how deep the stack is at each instruction. The frame
 * pointer is taken to be saved where the code is seen to save it. Stacks end where Go's own
 * tracebacks do: at the functions that begin a goroutine, a thread or a system stack.
 */
#ifndef STACKTALLY_CFI_GO_ROWS_H
#define STACKTALLY_CFI_GO_ROWS_H

#include "cfi/code_ranges.h"
#include "cfi/code_view.h"
#include "cfi/row_writer.h"
#include "elf/go_table.h"

/*
 * Adds a range for each function that has a table of depths; `context` is its number, `program` how
 * it treats the stack. Functions without one are C functions, which Go's linker lists too, and
 * markers like go:textfipsstart. 0, -ENOMEM, -EFBIG.
 */
int go_rows_ranges(const struct go_table *table, const struct code_view *code,
		   struct code_ranges *ranges, struct unwind_counts *counts);

/* Writes the rows of a range: 0, -ENOMEM, -EFBIG; -EBADMSG: malformed, unsupported from there. */
int go_rows_put(const struct go_table *table, const struct code_view *code,
		const struct code_range *range, struct row_writer *writer);

#endif
