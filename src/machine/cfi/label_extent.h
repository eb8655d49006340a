/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How far the code of a symbol without a size reaches: functions of assembly, and labels. It is
 * told by call frame information and, where there is none, by following the code from the symbol:
 * it ends where the flow of control does and nothing jumps to what comes next.
 *
 * Must not know: symbol tables.
 */
#ifndef STACKTALLY_CFI_LABEL_EXTENT_H
#define STACKTALLY_CFI_LABEL_EXTENT_H

#include "cfi/code_view.h"
#include "cfi/frame_lookup.h"
#include "elf/elf_symbols.h"

#define LABEL_EXTENT_KNOWN 4

struct label_walk;

struct label_extent {
	struct code_view code;
	struct frame_lookup frames;
	bool opened;
	struct label_walk *walk; /* NULL until needed */
	/* What was found last. */
	struct {
		uint64_t label, end;
	} known[LABEL_EXTENT_KNOWN];
	uint32_t next;
};

/* The file must stay open. Nothing is read before the first question. */
void label_extent_open(struct label_extent *extent, const struct elf_file *elf);
void label_extent_close(struct label_extent *extent);

/* For struct elf_code_extent; `context` is a struct label_extent. */
enum elf_extent label_extent_find(void *context, uint64_t label, uint64_t address);

#endif
