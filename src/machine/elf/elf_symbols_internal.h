/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of a symbol search share: elf_symbols.c passes over the tables, elf_labels.c has
 * the symbols without a size, and elf_symbol_names.c reads names and chooses among aliases.
 */
#ifndef STACKTALLY_ELF_ELF_SYMBOLS_INTERNAL_H
#define STACKTALLY_ELF_ELF_SYMBOLS_INTERNAL_H

#include "elf/elf_symbols.h"
#include "elf/elf_versions.h"

#define ELF_SYMBOLS_MAX_FILES 4
#define NO_NAME		      UINT64_MAX

/* A symbol of either ELF class. */
struct symbol {
	uint64_t value, size;
	uint32_t name;
	uint32_t section;
	uint8_t type, binding;
};

/*
 * Symbols without a size by how much speaks for a function. A symbol of a lower rank may be a label
 * inside the code of one of a higher rank.
 */
enum label_rank {
	LABEL_DOTTED, /* local, of the form FUNCTION.label, as NASM names labels of a function */
	LABEL_LOCAL,
	LABEL_GLOBAL,
	LABEL_FUNCTION, /* its type says that it is a function */
	LABEL_RANKS,
};

/*
 * The best symbols so far for one query. A name is NO_NAME or (version << 40) | (string offset <<
 * 8) | table, where the version is an entry of .gnu.version, or 0 for the default one.
 */
struct candidate {
	uint64_t start; /* of the best function that contains the address */
	uint64_t name;
	uint8_t binding;
	struct label {
		uint64_t start, name;
		/* The highest start of a symbol of this or a higher rank, up to the address. */
		uint64_t floor;
		bool floor_known;
		uint8_t binding;
	} labels[LABEL_RANKS];
};

struct string_table {
	const struct elf_file *elf;
	const struct elf_section *strings;
};

struct elf_symbols {
	struct symbol_query *queries;
	size_t n;
	struct candidate *candidates;
	size_t near; /* the first query at or above the symbol before */
	struct string_table tables[ELF_SYMBOLS_MAX_FILES * 2];
	uint32_t n_tables, n_files;
	struct elf_versions versions; /* of the first file, read when a name needs them */
	bool versions_read;
	bool complete; /* a table has local symbols: no function was left out of it */
	uint64_t comparisons, name_reads;
	char name[ELF_SYMBOL_NAME_SIZE], other[ELF_SYMBOL_NAME_SIZE];
};

/* Reads a name into `buffer`, of ELF_SYMBOL_NAME_SIZE; "" if it cannot be read. */
const char *elf_symbol_name(struct elf_symbols *search, uint64_t name, char *buffer);

/* Whether the symbol is better than the known one that starts at the same address. */
bool elf_symbol_is_better_alias(struct elf_symbols *search, uint8_t binding, uint64_t name,
				uint8_t known_binding, uint64_t known_name);

/* The rank of a symbol of code, sized or not, by all but its name. */
enum label_rank elf_label_rank(const struct symbol *symbol);

/* Tells the first query at or above it of a symbol, which ends the labels below it. */
void elf_labels_floor(struct candidate *candidate, const struct symbol *symbol,
		      enum label_rank rank);

/* Offers a symbol without a size to the first query at or above it. */
void elf_labels_consider(struct elf_symbols *search, struct candidate *candidate,
			 const struct symbol *symbol, uint64_t name);

/* A label, and the symbol that ends it, count for all queries above them as well. */
void elf_labels_spread(struct elf_symbols *search);

/* The label whose code contains the address of query `i`, or NULL. */
const struct label *elf_labels_choose(struct elf_symbols *search, size_t i,
				      const struct elf_code_extent *extent);

#endif
