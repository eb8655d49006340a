/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The row compiler: turns an ELF file into rows. A row names the rule that leads from a frame to
 * its caller, for the code from the row's address up to the next row's.
 *
 * These sources are read in this order, each for code that those before it do not cover:
 * .eh_frame (by its section, else by its segment), Go's function table, .debug_frame (compressed
 * or not), code known by its bytes (linkers' stubs, entry points, thread starts, signal returns),
 * code that keeps frame pointers, and code whose frames follow from its instructions.
 *
 * The files may be hostile. They are read with bounded pread()s, never mapped; time is linear in
 * the sizes of the sections and memory is bounded; a malformed entry affects only the code it is
 * for. Compilations may run in several threads at once. Must not know: processes, the kernel's
 * maps, caches.
 */
#ifndef STACKTALLY_CFI_UNWIND_ROWS_H
#define STACKTALLY_CFI_UNWIND_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "cfi/rule_table.h"

/*
 * Addresses are the file's own (p_vaddr), below 2^32, and ascend. Adjacent rows have different
 * rules. RULE_GAP is the rule of code that no source covers, such as that before the first row;
 * the last row has it.
 */
struct unwind_row {
	uint32_t address;
	uint16_t rule; /* its number in the rule table */
};

enum unwind_source {
	UNWIND_EH_FRAME,
	UNWIND_DEBUG_FRAME,
	UNWIND_GO,   /* .gopclntab */
	UNWIND_CODE, /* the code itself: known bytes, prologues, or its instructions */
	UNWIND_N_SOURCES,
};

struct unwind_counts {
	uint32_t ranges[UNWIND_N_SOURCES]; /* of code (FDEs, functions) that gave rows */
	uint32_t unsupported;		   /* rows whose rule no wire_rule can express */
	uint32_t malformed; /* entries dropped, or unsupported from where they are malformed */
	uint32_t outside;   /* entries dropped: not for code of this file, or of no size */
	uint32_t overlaps;  /* entries cut or dropped because another one begins in their range */
};

struct unwind_rows {
	struct unwind_row *rows;
	uint32_t n;
	struct unwind_counts counts;
};

/* The most rows of a file: -EFBIG beyond. */
#define UNWIND_MAX_ROWS (16u << 20)

/*
 * Compiles a regular file, or one in memory (the vDSO); adds its rules to `rules`. The caller frees
 * the rows. A file of which nothing is known gives no rows and no error. 0; -ENOEXEC: not an ELF
 * file, or not of this architecture; -EIO, -ENOMEM; -EFBIG: more than can be compiled. `err` may be
 * NULL; its text does not name the file.
 */
int unwind_rows_compile(int fd, struct rule_table *rules, struct unwind_rows *ret_rows,
			struct error *err);
/* As unwind_rows_compile(), of a file of that machine: EM_X86_64 or EM_AARCH64. */
int unwind_rows_compile_machine(int fd, uint16_t machine, struct rule_table *rules,
				struct unwind_rows *ret_rows, struct error *err);
int unwind_rows_compile_memory(const void *bytes, size_t size, struct rule_table *rules,
			       struct unwind_rows *ret_rows, struct error *err);

/* Frees the rows and leaves none. */
void unwind_rows_free(struct unwind_rows *rows);

/* The number of the rule for an address. */
uint16_t unwind_rows_find(const struct unwind_rows *rows, uint32_t address);

#endif
