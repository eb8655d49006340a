/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "elf/go_symbols.h"

#include <errno.h>
#include <string.h>

#define MAX_NAME      4096
#define MAX_FUNCTIONS (16u << 20)

/* The first four bytes of the table tell its layout; only those read here are told apart. */
#define MAGIC_1_2  0xfffffffbu
#define MAGIC_1_16 0xfffffffau
#define MAGIC_1_18 0xfffffff0u
#define MAGIC_1_20 0xfffffff1u

/* Offsets are those in the section. */
struct go_table {
	const struct elf_file *elf;
	const struct elf_section *section;
	uint32_t magic, pointer_size;
	uint64_t n_functions;
	uint64_t text;	    /* what entries are relative to, since 1.18 */
	uint64_t names;	    /* function names, since 1.16 */
	uint64_t functions; /* the records, since 1.16: what record offsets are relative to */
	uint64_t index;	    /* pairs (entry, record offset), sorted by entry */
	uint32_t field_size;
};

static bool read_at(const struct go_table *table, uint64_t offset, void *bytes, size_t size)
{
	if (offset > table->section->size || size > table->section->size - offset)
		return false;
	return elf_file_read(table->elf, table->section->offset + offset, bytes, size) == 0;
}

static bool read_number(const struct go_table *table, uint64_t offset, uint32_t size,
			uint64_t *ret_number)
{
	uint8_t bytes[8];
	uint32_t small;

	if (!read_at(table, offset, bytes, size))
		return false;
	if (size == 8) {
		memcpy(ret_number, bytes, 8);
	} else {
		memcpy(&small, bytes, 4);
		*ret_number = small;
	}
	return true;
}

/* The n-th word after the eight bytes of magic and sizes. */
static bool read_word(const struct go_table *table, uint32_t n, uint64_t *ret_word)
{
	return read_number(table, 8 + (uint64_t)n * table->pointer_size, table->pointer_size,
			   ret_word);
}

/* Since Go 1.26 the linker leaves the start of the code out of the table: it is that of .text. */
static bool read_text_start(struct go_table *table, uint32_t word)
{
	const struct elf_section *text = elf_file_section(table->elf, ".text");

	if (!read_word(table, word, &table->text))
		return false;
	if (!table->text && text)
		table->text = text->address;
	return true;
}

static bool read_header(struct go_table *table)
{
	uint8_t header[8];
	bool ok;

	if (!read_at(table, 0, header, sizeof(header)))
		return false;
	memcpy(&table->magic, header, sizeof(table->magic));
	table->pointer_size = header[7];
	if (header[4] || header[5] || (table->pointer_size != 4 && table->pointer_size != 8))
		return false;
	ok = read_word(table, 0, &table->n_functions);
	switch (table->magic) {
	case MAGIC_1_2:
		table->index = 8 + table->pointer_size;
		table->field_size = table->pointer_size;
		break;
	case MAGIC_1_16:
		ok = ok && read_word(table, 2, &table->names) &&
		     read_word(table, 6, &table->functions);
		table->index = table->functions;
		table->field_size = table->pointer_size;
		break;
	case MAGIC_1_18:
	case MAGIC_1_20:
		ok = ok && read_text_start(table, 2) && read_word(table, 3, &table->names) &&
		     read_word(table, 7, &table->functions);
		table->index = table->functions;
		table->field_size = 4;
		break;
	default:
		return false;
	}
	return ok && table->n_functions > 0 && table->n_functions <= MAX_FUNCTIONS &&
	       table->index <= table->section->size && table->names <= table->section->size;
}

/* Entry `i` of the index; the one behind the last has no record: it is where the code ends. */
static bool read_entry(const struct go_table *table, uint64_t i, uint64_t *ret_entry)
{
	if (!read_number(table, table->index + i * 2 * table->field_size, table->field_size,
			 ret_entry))
		return false;
	*ret_entry += table->text;
	return true;
}

static int name_of(const struct go_table *table, uint64_t i, struct pool *pool,
		   const char **ret_name)
{
	/* In a record, the entry comes before the offset of the name. */
	uint32_t entry_size =
		table->magic == MAGIC_1_18 || table->magic == MAGIC_1_20 ? 4 : table->pointer_size;
	uint64_t record, name;
	char text[MAX_NAME];

	*ret_name = NULL;
	if (!read_number(table, table->index + (i * 2 + 1) * table->field_size, table->field_size,
			 &record) ||
	    record > table->section->size ||
	    !read_number(table, table->functions + record + entry_size, 4, &name))
		return 0;
	if (elf_file_string(table->elf, table->section, table->names + name, text, sizeof(text)) <=
	    0)
		return 0;
	*ret_name = pool_string(pool, text);
	return *ret_name ? 0 : -ENOMEM;
}

/* What was found last, where the next query begins to search: they are sorted. */
struct found {
	uint64_t index, entry, next; /* next: 0 when nothing was found */
	const char *name;
};

static int answer(const struct go_table *table, struct symbol_query *query, struct pool *pool,
		  struct found *found)
{
	uint64_t low = found->index, high = table->n_functions, entry, next;
	int r;

	if (query->address >= found->entry && query->address < found->next) {
		query->start = found->entry;
		query->name = found->name;
		return 0;
	}
	/* In steps that double, as the one wanted is mostly near. */
	for (uint64_t step = 1; low + step < high; step *= 2) {
		if (!read_entry(table, low + step, &entry))
			return 0;
		if (entry > query->address) {
			high = low + step;
			break;
		}
		low += step;
	}

	/* The first function above the address. */
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (!read_entry(table, middle, &entry))
			return 0;
		if (entry <= query->address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || !read_entry(table, low - 1, &entry) || !read_entry(table, low, &next) ||
	    query->address < entry || query->address >= next)
		return 0;
	r = name_of(table, low - 1, pool, &query->name);
	query->start = entry;
	*found = (struct found){ low - 1, entry, next, query->name };
	return r;
}

int go_symbols_find(const struct elf_file *elf, struct symbol_query *queries, size_t n,
		    struct pool *pool)
{
	struct found found = { 0 };
	struct go_table table = { .elf = elf, .section = elf_file_section(elf, ".gopclntab") };

	if (!table.section) /* position-independent programs */
		table.section = elf_file_section(elf, ".data.rel.ro.gopclntab");
	if (!table.section || !read_header(&table))
		return 0;
	for (size_t i = 0; i < n; i++) {
		int r = queries[i].name ? 0 : answer(&table, &queries[i], pool, &found);

		if (r)
			return r;
	}
	return 0;
}
