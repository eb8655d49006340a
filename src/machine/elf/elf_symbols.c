// SPDX-License-Identifier: GPL-2.0-or-later
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elf/elf_symbols_internal.h"

#define PIECE_SIZE  (64u << 10)
#define MAX_SYMBOLS (1u << 26) /* of one table: some hundred times those of a browser */
/* A bound on the time that a forged table takes: its other symbols are ignored then. */
#define MAX_COMPARISONS (1u << 26)
#define VERSION_HIDDEN	0x8000 /* in .gnu.version: not the default version */
#define NEAR		8      /* queries that are tried before a search */

int elf_symbols_new(struct symbol_query *queries, size_t n, struct elf_symbols **ret_search)
{
	own(own_elf_symbols_free) struct elf_symbols *search = calloc(1, sizeof(*search));

	if (!search)
		return -ENOMEM;
	search->queries = queries;
	search->n = n;
	search->candidates = calloc(n ? n : 1, sizeof(*search->candidates));
	if (!search->candidates)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		search->candidates[i].name = NO_NAME;
		for (uint32_t rank = 0; rank < LABEL_RANKS; rank++)
			search->candidates[i].labels[rank].name = NO_NAME;
	}
	*ret_search = take_ptr(search);
	return 0;
}

void elf_symbols_free(struct elf_symbols *search)
{
	if (!search)
		return;
	elf_versions_free(&search->versions);
	free(search->candidates);
	free(search);
}

static size_t symbol_size(const struct elf_file *elf)
{
	return elf->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
}

#define COPY_SYMBOL(to, from)                                                                      \
	(*(to) = (struct symbol){ .value = (from).st_value,                                        \
				  .size = (from).st_size,                                          \
				  .name = (from).st_name,                                          \
				  .section = (from).st_shndx,                                      \
				  .type = ELF64_ST_TYPE((from).st_info),                           \
				  .binding = ELF64_ST_BIND((from).st_info) })

static void copy_symbol(const struct elf_file *elf, const uint8_t *raw, struct symbol *to)
{
	if (elf->is_64) {
		Elf64_Sym symbol;

		memcpy(&symbol, raw, sizeof(symbol));
		COPY_SYMBOL(to, symbol);
	} else {
		Elf32_Sym symbol;

		memcpy(&symbol, raw, sizeof(symbol));
		COPY_SYMBOL(to, symbol);
	}
	/* The lowest bit of an ARM function's address tells its instruction set. */
	if (elf->machine == EM_ARM && to->type == STT_FUNC)
		to->value &= ~1ull;
}

static void consider_sized(struct elf_symbols *search, const struct symbol *symbol, uint64_t name,
			   size_t first)
{
	for (size_t i = first; i < search->n; i++) {
		struct candidate *candidate = &search->candidates[i];

		if (search->queries[i].address - symbol->value >= symbol->size)
			return;
		if (search->comparisons++ > MAX_COMPARISONS)
			return;
		if (candidate->name != NO_NAME) {
			if (symbol->value < candidate->start)
				continue;
			if (symbol->value == candidate->start &&
			    !elf_symbol_is_better_alias(search, symbol->binding, name,
							candidate->binding, candidate->name))
				continue;
		}
		candidate->start = symbol->value;
		candidate->name = name;
		candidate->binding = symbol->binding;
	}
}

/*
 * The first query at or above a symbol. Tables are in order over long stretches, where it is near
 * that of the symbol before.
 */
static size_t first_query(struct elf_symbols *search, uint64_t address)
{
	const struct symbol_query *queries = search->queries;
	size_t at = search->near, n_near = search->n - at < NEAR ? search->n - at : NEAR;

	if (at > 0 && queries[at - 1].address >= address) {
		at = symbol_query_lower_bound(queries, at, address);
	} else {
		size_t end = at + n_near;

		while (at < end && queries[at].address < address)
			at++;
		if (at == end)
			at += symbol_query_lower_bound(queries + at, search->n - at, address);
	}
	search->near = at;
	return at;
}

/* Offers a symbol to the queries. Returns whether it is a function. */
static bool consider(struct elf_symbols *search, const struct elf_file *elf,
		     const struct symbol *symbol, uint32_t table, uint16_t version)
{
	uint64_t name = ((uint64_t)version << 40) | ((uint64_t)symbol->name << 8) | table;
	bool function = symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC;
	struct candidate *candidate;
	size_t first;

	if (symbol->section == SHN_UNDEF || symbol->section == SHN_ABS || !symbol->name)
		return false;
	if (!function && symbol->type != STT_NOTYPE)
		return false;
	if (!function && symbol->section < elf->n_sections &&
	    !(elf->sections[symbol->section].flags & SHF_EXECINSTR))
		return false;
	if (symbol->size > UINT64_MAX - symbol->value)
		return false;
	search->complete = search->complete || symbol->binding == STB_LOCAL;
	first = first_query(search, symbol->value);
	if (first == search->n)
		return function;
	candidate = &search->candidates[first];
	if (symbol->size)
		elf_labels_floor(candidate, symbol, elf_label_rank(symbol));
	if (symbol->size && function)
		consider_sized(search, symbol, name, first);
	else if (!symbol->size && symbol->section < elf->n_sections)
		elf_labels_consider(search, candidate, symbol, name);
	return function;
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
	return size > 0 && !bytes[0] && memcmp(bytes, bytes + 1, size - 1) == 0;
}

/* How many of the next `left` entries, the first of which is at `at`, are in a hole of the file. */
static uint64_t entries_in_hole(const struct elf_file *elf, uint64_t at, uint64_t left,
				size_t entry)
{
	uint64_t n = (elf_file_next_data(elf, at) - at) / entry;

	return n < left ? n : left;
}

static int64_t search_table(struct elf_symbols *search, const struct elf_file *elf,
			    const struct elf_section *section)
{
	uint16_t versions[PIECE_SIZE / sizeof(Elf32_Sym)];
	own(own_free) uint8_t *piece = NULL;
	size_t entry = symbol_size(elf);
	uint64_t left, at = section->offset;
	int64_t n_functions = 0;
	uint32_t table = search->n_tables;
	bool has_versions;

	if (section->link >= elf->n_sections || elf->sections[section->link].type != SHT_STRTAB)
		return 0;
	if (section->type == SHT_NOBITS || at > elf->size)
		return 0;
	left = section->size;
	if (left > elf->size - at)
		left = elf->size - at;
	left /= entry;
	left = left < MAX_SYMBOLS ? left : MAX_SYMBOLS;

	search->tables[table] = (struct string_table){ elf, &elf->sections[section->link] };
	search->n_tables++;
	piece = malloc(PIECE_SIZE);
	if (!piece)
		return -ENOMEM;
	while (left > 0 && search->comparisons <= MAX_COMPARISONS) {
		size_t n = PIECE_SIZE / entry;

		if (n > left)
			n = left;
		if (elf_file_read(elf, at, piece, n * entry))
			break;
		has_versions = section->type == SHT_DYNSYM &&
			       elf_versions_entries(elf, section, (at - section->offset) / entry,
						    versions, n);
		for (size_t i = 0; i < n; i++) {
			struct symbol symbol;

			copy_symbol(elf, piece + i * entry, &symbol);
			n_functions +=
				consider(search, elf, &symbol, table,
					 has_versions && versions[i] & VERSION_HIDDEN ? versions[i]
										      : 0);
		}
		if (is_zero(piece, n * entry))
			n += entries_in_hole(elf, at + n * entry, left - n, entry);
		at += n * entry;
		left -= n;
	}
	return n_functions;
}

int64_t elf_symbols_file(struct elf_symbols *search, const struct elf_file *elf)
{
	const struct elf_section *symbols, *dynamic;
	int64_t n_functions = 0, r;

	if (search->n_files == ELF_SYMBOLS_MAX_FILES)
		return -E2BIG;
	search->n_files++;
	symbols = elf_file_section_of_type(elf, SHT_SYMTAB);
	dynamic = elf_file_section_of_type(elf, SHT_DYNSYM);
	if (symbols) {
		n_functions = search_table(search, elf, symbols);
		if (n_functions < 0)
			return n_functions;
	}
	if (dynamic) {
		r = search_table(search, elf, dynamic);
		if (r < 0)
			return r;
	}
	return n_functions;
}

int elf_symbols_finish(struct elf_symbols *search, const struct elf_code_extent *extent,
		       struct pool *pool)
{
	const char *last = NULL;
	uint64_t last_name = NO_NAME;

	elf_labels_spread(search);
	search->name_reads = 0;
	for (size_t i = 0; i < search->n; i++) {
		const struct candidate *candidate = &search->candidates[i];
		struct symbol_query *query = &search->queries[i];
		uint64_t name = candidate->name, start = candidate->start;

		if (name == NO_NAME) {
			const struct label *label = elf_labels_choose(search, i, extent);

			if (!label)
				continue;
			name = label->name;
			start = label->start;
		}
		if (name != last_name) {
			const char *text = elf_symbol_name(search, name, search->name);

			if (!*text)
				continue;
			last = pool_string(pool, text);
			if (!last)
				return -ENOMEM;
			last_name = name;
		}
		query->name = last;
		query->start = start;
	}
	return 0;
}
