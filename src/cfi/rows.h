/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The row compiler: from an ELF file to rows, each of which says by which rule one gets from a
 * frame to its caller, from its address up to the next row's.
 *
 * What is read, in this order, each for code that those before it say nothing of: .eh_frame (by
 * section; else by segment), Go's table of functions, .debug_frame (compressed or not), code
 * known by its bytes (linker's stubs, entry points, thread starts and signal returns), code that
 * keeps frame pointers, code whose frames follow from its instructions.
 *
 * Files may be hostile: all is read with bounded pread()s, nothing is mapped; time is linear in
 * the sizes of the sections, memory is bounded. What is malformed costs its own code ranges only.
 * Must not know: processes, the kernel's maps, caches.
 */
#ifndef STACKTALLY_CFI_ROWS_H
#define STACKTALLY_CFI_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "cfi/rules.h"

/*
 * Addresses are the file's own (p_vaddr), below 2^32, and ascend. Neighbours differ in their
 * rule; RULE_GAP stands where code begins that nothing is known of. Before the first row is a
 * gap, and the last row is one, if there are any.
 */
struct unwind_row {
	uint32_t address;
	uint16_t rule; /* of the book that was compiled with */
};

/* Where rows come from. */
enum unwind_source {
	UNWIND_EH_FRAME,
	UNWIND_DEBUG_FRAME,
	UNWIND_GO,   /* .gopclntab */
	UNWIND_CODE, /* itself: its bytes, prologues, or what its instructions do */
	UNWIND_N_SOURCES,
};

struct unwind_counts {
	uint32_t ranges[UNWIND_N_SOURCES]; /* pieces of code (FDEs, functions) that gave rows */
	uint32_t unsupported;		   /* rows whose rule is not (fully) supported */
	uint32_t malformed; /* entries that make no sense: dropped, or unsupported from there on */
	uint32_t outside;   /* entries for no code of this file, or of no size: dropped */
	uint32_t overlaps;  /* entries cut because another one begins in their range */
};

struct unwind_rows {
	struct unwind_row *rows;
	uint32_t n;
	struct unwind_counts counts;
};

/* The most rows of a file; more of them are an error. */
#define UNWIND_MAX_ROWS (16u << 20)

/*
 * From a regular file, or from one in memory (the vDSO). A file without any call frame information
 * gives no rows and no error. -ENOEXEC (no ELF file, or not of this architecture), -EIO, -ENOMEM,
 * -EFBIG (more than can be compiled). The text of `err` does not name the file.
 */
int unwind_rows_compile(int fd, struct rule_table *book, struct unwind_rows *ret_rows,
			struct error *err);
int unwind_rows_compile_memory(const void *bytes, size_t size, struct rule_table *book,
			       struct unwind_rows *ret_rows, struct error *err);

/* Frees what it holds, and makes it empty. */
void unwind_rows_free(struct unwind_rows *rows);

/* The number of the rule that holds for an address. */
uint16_t unwind_rows_find(const struct unwind_rows *rows, uint32_t address);

#endif
