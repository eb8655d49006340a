/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What functions.c, in our process, and functions_reader.c, in a confined child, share.
 */
#ifndef STACKTALLY_TRIGGER_FUNCTIONS_INTERNAL_H
#define STACKTALLY_TRIGGER_FUNCTIONS_INTERNAL_H

#include <elf.h>

#include "elf/elf_file.h"
#include "symbolize/debug_file.h"
#include "trigger/function_entry.h"
#include "trigger/functions.h"
#include "trigger/reading.h"

/* What a child is asked about a file; its debug file may be the second descriptor. */
struct functions_question {
	const struct matcher *matcher;
	const struct nearest *nearest; /* to begin with */
	const char *path;
	bool exported, briefly, calls, details;
	struct code_point point;
	enum debug_proof proof; /* that the debug file must give */
};

/* What comes before the functions. */
struct functions_facts {
	uint32_t n;	    /* places that follow */
	uint32_t n_symbols; /* as of struct functions */
	uint32_t n_inlined;
	struct nearest nearest;
	struct debug_wanted wanted;
	uint64_t first; /* the address of the file's first byte */
	/* 0: false. */
	uint8_t has_first;
	uint8_t stripped;    /* it has no full symbol table */
	uint8_t right_debug; /* the debug file belongs to it */
	uint8_t are_clones;
	uint8_t is_go, throws; /* as of struct functions */
	int32_t dwarf;	       /* the same */
	struct line_neighbours near;
	struct function_bad bad;
	struct function_group cold, weaker, turning, unreached; /* as of struct functions */
};

enum function_is {
	FUNCTION_PLAIN,	 /* `at` is its offset in the file */
	FUNCTION_CHOSEN, /* an IFUNC: `at` is the address of the slot of its resolver's choice */
	FUNCTION_UNRESOLVED, /* an IFUNC without a slot, or no function begins there */
};

/* A place to probe; the function's name follows, and with `details` its version and readable name.
 */
struct function_sent {
	uint64_t at;
	uint32_t is;
	uint8_t unprobeable, emulated, doubtful, uncalled;
	uint8_t more; /* one more place of the function before */
};

/*
 * `version` is the symbol's entry of .gnu.version, or 0 where it has none. The name may have its
 * version in it (elf/elf_versions.h). Returns 0 or a negative errno, which ends the pass.
 */
typedef int (*functions_symbol_fn)(void *context, const char *name, const Elf64_Sym *symbol,
				   uint16_t version);

/*
 * Passes over the symbols of all tables, or of those for other files; `consider` may be NULL.
 * Returns whether the file has a full symbol table, or a negative errno.
 */
int functions_each_symbol(const struct elf_file *elf, bool exported, functions_symbol_fn consider,
			  void *context);

/* The places where a function is to be probed, as offsets in the file. */
struct functions_entry {
	uint64_t offsets[FUNCTION_ENTRY_MAX];
	uint32_t n;
	bool unprobeable; /* the first instruction is */
	bool emulated;	  /* the same */
	bool turns;	  /* as of struct function_entry */
};

/*
 * The places of the function of `size` bytes (0: not known) at `address`. `code` is a buffer of
 * FUNCTION_ENTRY_CODE_MAX bytes; NULL: the first byte is wanted, whatever the code does. False: the
 * file has no code there.
 */
bool functions_entry_read(const struct elf_file *elf, int fd, uint64_t address, uint64_t size,
			  uint8_t *code, struct functions_entry *ret_entry);

/* Answers a struct functions_question with the head, the facts and the functions. */
confined_work functions_reader_work;

/*
 * Answers addresses with the head and, for each, a struct function_sent without a name: whether a
 * function begins there, by the file's symbols or its call frame information.
 */
confined_work functions_begin_work;

#endif
