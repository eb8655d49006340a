// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/elf_symbols.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILES   4
#define PIECE_SIZE  (64u << 10)
#define MAX_SYMBOLS (1u << 26) /* of one table: some hundred times those of a browser */
/* Bounds on the time that a forged table takes: its other symbols are ignored then. */
#define MAX_COMPARISONS (1u << 26)
#define MAX_NAME_READS	(1u << 18)
#define NO_NAME		UINT64_MAX
#define NEAR		8 /* queries that are tried before a search */

/* A symbol of either ELF class. */
struct symbol {
	uint64_t value, size;
	uint32_t name;
	uint32_t section;
	uint8_t type, binding;
};

/* The best symbols so far for one query. A name is (string offset << 8) | table, or NO_NAME. */
struct candidate {
	uint64_t start; /* of the best function that contains the address */
	uint64_t name;
	uint64_t floor; /* the highest start of any symbol at or below the address */
	uint64_t label; /* the same of symbols without size */
	uint64_t label_name;
	uint8_t binding, label_binding;
	bool floor_known;
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
	struct string_table tables[MAX_FILES * 2];
	uint32_t n_tables, n_files;
	uint64_t comparisons, name_reads;
	char name[ELF_SYMBOL_NAME_SIZE], other[ELF_SYMBOL_NAME_SIZE];
};

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
	for (size_t i = 0; i < n; i++)
		search->candidates[i].name = search->candidates[i].label_name = NO_NAME;
	*ret_search = take_ptr(search);
	return 0;
}

void elf_symbols_free(struct elf_symbols *search)
{
	if (!search)
		return;
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

/* Reads a name into `buffer`, without its version. */
static const char *read_name(struct elf_symbols *search, uint64_t name, char *buffer)
{
	const struct string_table *table;
	char *version;

	if (name == NO_NAME || search->name_reads++ > MAX_NAME_READS + search->n * 4)
		return "";
	table = &search->tables[name & 0xff];
	if (elf_file_string(table->elf, table->strings, name >> 8, buffer, ELF_SYMBOL_NAME_SIZE) <=
	    0)
		return "";
	version = strchr(buffer, '@');
	if (version && version != buffer)
		*version = '\0';
	return buffer;
}

/* ARM's mapping symbols ($x, $d) and an assembler's local labels name no code. */
static bool is_marker(const char *name)
{
	return !name[0] || name[0] == '$' || strncmp(name, ".L", 2) == 0;
}

static size_t leading_underscores(const char *name)
{
	/* glibc's prefixes of internal aliases. */
	if (strncmp(name, "__GI_", 5) == 0 || strncmp(name, "__libc_", 7) == 0)
		return 100;
	/* _Z and _R begin the mangled names of C++ and Rust. */
	if (name[0] == '_' && (name[1] == 'Z' || name[1] == 'R'))
		return 0;
	return strspn(name, "_");
}

/* Whether the symbol is better than the known one that starts at the same address. */
static bool is_better_alias(struct elf_symbols *search, uint8_t binding, uint64_t name,
			    uint8_t known_binding, uint64_t known_name)
{
	const char *a, *b;
	size_t a_length, b_length;

	if (known_name == NO_NAME)
		return true;
	if ((binding == STB_LOCAL) != (known_binding == STB_LOCAL))
		return binding != STB_LOCAL;
	if (name == known_name)
		return false;
	a = read_name(search, name, search->name);
	b = read_name(search, known_name, search->other);
	if (!*a || !*b)
		return *a && !*b;
	if (leading_underscores(a) != leading_underscores(b))
		return leading_underscores(a) < leading_underscores(b);
	if (binding != known_binding)
		return known_binding == STB_WEAK;
	a_length = strlen(a);
	b_length = strlen(b);
	if (a_length != b_length)
		return a_length > b_length;
	return strcmp(a, b) < 0;
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
			    !is_better_alias(search, symbol->binding, name, candidate->binding,
					     candidate->name))
				continue;
		}
		candidate->start = symbol->value;
		candidate->name = name;
		candidate->binding = symbol->binding;
	}
}

static void consider_label(struct elf_symbols *search, const struct symbol *symbol, uint64_t name,
			   size_t first)
{
	struct candidate *candidate = &search->candidates[first];

	/* Later queries get it in spread_labels(). */
	if (candidate->label_name != NO_NAME) {
		if (symbol->value < candidate->label)
			return;
		if (symbol->value == candidate->label &&
		    !is_better_alias(search, symbol->binding, name, candidate->label_binding,
				     candidate->label_name))
			return;
	}
	if (is_marker(read_name(search, name, search->name)))
		return;
	candidate->label = symbol->value;
	candidate->label_name = name;
	candidate->label_binding = symbol->binding;
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
		     const struct symbol *symbol, uint32_t table)
{
	uint64_t name = ((uint64_t)symbol->name << 8) | table;
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
	first = first_query(search, symbol->value);
	if (first == search->n)
		return function;
	candidate = &search->candidates[first];
	if (!candidate->floor_known || symbol->value > candidate->floor) {
		candidate->floor = symbol->value;
		candidate->floor_known = true;
	}
	if (symbol->size && function)
		consider_sized(search, symbol, name, first);
	else if (!symbol->size && symbol->section < elf->n_sections)
		consider_label(search, symbol, name, first);
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
	own(own_free) uint8_t *piece = NULL;
	size_t entry = symbol_size(elf);
	uint64_t left, at = section->offset;
	int64_t n_functions = 0;
	uint32_t table = search->n_tables;

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
		for (size_t i = 0; i < n; i++) {
			struct symbol symbol;

			copy_symbol(elf, piece + i * entry, &symbol);
			n_functions += consider(search, elf, &symbol, table);
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

	if (search->n_files == MAX_FILES)
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

/* A label, and the symbol that ends it, count for all queries above them as well. */
static void spread_labels(struct elf_symbols *search)
{
	for (size_t i = 1; i < search->n; i++) {
		const struct candidate *below = &search->candidates[i - 1];
		struct candidate *candidate = &search->candidates[i];

		if (below->floor_known &&
		    (!candidate->floor_known || below->floor > candidate->floor)) {
			candidate->floor = below->floor;
			candidate->floor_known = true;
		}
		if (candidate->label_name == NO_NAME && below->label_name != NO_NAME) {
			candidate->label = below->label;
			candidate->label_name = below->label_name;
			candidate->label_binding = below->label_binding;
		}
	}
}

static bool in_section(const struct elf_section *section, uint64_t address)
{
	return section && address >= section->address && address - section->address < section->size;
}

int elf_symbols_finish(struct elf_symbols *search, struct pool *pool)
{
	const struct elf_section *section = NULL;
	const char *last = NULL;
	uint64_t last_name = NO_NAME;

	spread_labels(search);
	search->name_reads = 0;
	for (size_t i = 0; i < search->n; i++) {
		const struct candidate *candidate = &search->candidates[i];
		struct symbol_query *query = &search->queries[i];
		uint64_t name = candidate->name, start = candidate->start;

		if (name == NO_NAME) {
			const struct elf_file *elf;

			name = candidate->label_name;
			start = candidate->label;
			if (name == NO_NAME || candidate->floor != start)
				continue;
			elf = search->tables[name & 0xff].elf;
			if (!in_section(section, query->address))
				section = elf_file_code_section(elf, query->address);
			if (!in_section(section, query->address) || !in_section(section, start))
				continue;
		}
		if (name != last_name) {
			const char *text = read_name(search, name, search->name);

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
