/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * .gopclntab, the table that Go's own runtime unwinds with; stripping a program leaves it in
 * place. Here: which functions there are, what they are called, and how deep their stack is at
 * each instruction. Layouts of Go 1.2 to 1.20+ (src/runtime/symtab.go) are read.
 * Must not know: rules, rows.
 */
#ifndef STACKTALLY_ELF_GO_TABLE_H
#define STACKTALLY_ELF_GO_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/byte_reader.h"
#include "elf/elf_file.h"

struct go_table {
	uint8_t *bytes; /* owned */
	uint64_t size;
	uint32_t n_functions;
	uint8_t entry_size;	   /* of entries, in the index and in records */
	uint64_t text;		   /* what entries are relative to */
	uint64_t names, functions; /* what offsets of names and of records are relative to */
	uint64_t values;	   /* and of tables by instruction */
	uint64_t index;
};

struct go_function {
	uint64_t begin, end;
	const char *name; /* "" when there is none */
	uint64_t depths;  /* where its table of depths is, 0: it has none */
};

/* 0; -ENODATA: not of Go; -EBADMSG: damaged, or of a version that nobody knew; -EFBIG, -ENOMEM. */
int go_table_open(const struct elf_file *elf, struct go_table *ret_table);
void go_table_close(struct go_table *table);

/* False when its record is damaged. */
bool go_table_function(const struct go_table *table, uint32_t i, struct go_function *ret_function);

/* How deep the stack is, from `begin` to `end`: what lies between sp and the return address. */
struct go_depth {
	struct byte_reader bytes;
	uint64_t begin, end;
	int64_t depth;
	bool started;
};

void go_depth_begin(const struct go_table *table, const struct go_function *function,
		    struct go_depth *ret_depth);
/* To the next piece of the function. False at the end. */
bool go_depth_next(struct go_depth *depth);

#endif
