/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads .gopclntab, the table from which Go's runtime unwinds stacks and names functions: where
 * each function is, its name, and how deep its stack is at each instruction. Stripping a program
 * leaves the table in place. Layouts of Go 1.2 to 1.20 and later: src/runtime/symtab.go,
 * src/cmd/link/internal/ld/pcln.go.
 *
 * A table that was opened reads the file at each question; one that was loaded answers from
 * memory, which pays for passes over all functions. The ELF file must stay open as long as its
 * table. For one thread. Must not know: rules, rows, symbol queries.
 */
#ifndef STACKTALLY_ELF_GO_TABLE_H
#define STACKTALLY_ELF_GO_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/byte_reader.h"
#include "elf/elf_file.h"

#define GO_TABLE_MAX_SIZE      (256u << 20) /* bytes that are loaded */
#define GO_TABLE_MAX_FUNCTIONS (4u << 20)

/* Offsets are from the beginning of the section. */
struct go_table {
	const struct elf_file *elf;
	const struct elf_section *section;
	uint8_t *bytes; /* of the section, owned; NULL: not loaded */
	uint64_t size;
	uint32_t n_functions;
	uint8_t quantum;      /* bytes: all instructions have a multiple of them */
	uint8_t pointer_size; /* 4 or 8 */
	uint8_t entry_size;   /* of a function's address, in the index and in its record */
	uint64_t text;	      /* the address that functions' addresses are relative to */
	uint64_t names;	      /* offset that offsets of names are relative to */
	uint64_t functions;   /* the same for functions' records */
	uint64_t values;      /* the same for tables of depths */
	uint64_t index;	      /* offset of pairs: function's address, offset of its record */
};

struct go_function {
	uint64_t begin, end;
	uint64_t name;	 /* offset */
	uint64_t depths; /* offset of its table of depths; 0: it has none */
};

/* 0; -ENODATA: no Go table; -EBADMSG: damaged, or a layout that is not known. */
int go_table_open(const struct elf_file *elf, struct go_table *ret_table);
/* Reads the section into memory. 0, -ENODATA (compressed), -EBADMSG (truncated), -EFBIG, -ENOMEM.
 */
int go_table_load(struct go_table *table);
void go_table_close(struct go_table *table);

/* The address of function `i`; of `n_functions`, where the last one ends. False: damaged. */
bool go_table_address(const struct go_table *table, uint32_t i, uint64_t *ret_address);

/* Function `i`. False: its record is damaged. */
bool go_table_function(const struct go_table *table, uint32_t i, struct go_function *ret_function);

/* Its name, cut at `size` - 1 bytes; returns the length, 0 if there is none. */
size_t go_table_name(const struct go_table *table, const struct go_function *function,
		     char *ret_name, size_t size);

/*
 * An iterator over a function's table of depths: from `begin` to `end`, `depth` bytes lie between
 * the stack pointer and the return address.
 */
struct go_depth {
	struct byte_reader bytes;
	uint64_t begin, end;
	int64_t depth;
	uint8_t quantum;
	bool started;
};

/* The table must be loaded. */
void go_depth_begin(const struct go_table *table, const struct go_function *function,
		    struct go_depth *ret_depth);
/* Moves on to the next piece of the function. False at the end, or where the table is damaged. */
bool go_depth_next(struct go_depth *depth);

#endif
