/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "elf/go_table.h"

#include <errno.h>
#include <string.h>

#include "base/own.h"

#define MAX_TABLE     (256u << 20)
#define MAX_FUNCTIONS (4u << 20)

/* The first four bytes tell the layout. */
#define MAGIC_1_2  0xfffffffbu
#define MAGIC_1_16 0xfffffffau
#define MAGIC_1_18 0xfffffff0u
#define MAGIC_1_20 0xfffffff1u

static uint64_t read_sized(const struct go_table *table, uint64_t offset, uint32_t size, bool *ok)
{
	uint64_t value = 0;

	if (offset > table->size || size > table->size - offset) {
		*ok = false;
		return 0;
	}
	memcpy(&value, table->bytes + offset, size); /* little endian */
	return value;
}

/* The n-th word after magic and sizes. */
static uint64_t read_word(const struct go_table *table, uint32_t n, bool *ok)
{
	return read_sized(table, 8 + 8 * (uint64_t)n, 8, ok);
}

static bool read_header(struct go_table *table, const struct elf_file *elf)
{
	const struct elf_section *text;
	bool ok = table->size >= 8;
	uint32_t magic = (uint32_t)read_sized(table, 0, 4, &ok);
	uint64_t n = read_word(table, 0, &ok);

	/* An instruction may begin at any byte, pointers have 8. */
	if (!ok || table->bytes[4] || table->bytes[5] || table->bytes[6] != 1 ||
	    table->bytes[7] != 8 || !n || n > MAX_FUNCTIONS)
		return false;
	table->n_functions = (uint32_t)n;
	table->entry_size = 8;
	switch (magic) {
	case MAGIC_1_2:
		table->index = 16;
		break;
	case MAGIC_1_16:
		table->names = read_word(table, 2, &ok);
		table->values = read_word(table, 5, &ok);
		table->functions = read_word(table, 6, &ok);
		table->index = table->functions;
		break;
	case MAGIC_1_18:
	case MAGIC_1_20:
		table->entry_size = 4;
		table->text = read_word(table, 2, &ok);
		table->names = read_word(table, 3, &ok);
		table->values = read_word(table, 6, &ok);
		table->functions = read_word(table, 7, &ok);
		table->index = table->functions;
		/* Since Go 1.26 the linker leaves the start of the code out: it is that of .text.
		 */
		text = elf_file_section(elf, ".text");
		if (!table->text && text)
			table->text = text->address;
		break;
	default:
		return false;
	}
	/* Sums of these with 32-bit offsets do not wrap. */
	return ok && table->index < table->size && table->names < table->size &&
	       table->functions < table->size && table->values < table->size;
}

int go_table_open(const struct elf_file *elf, struct go_table *ret_table)
{
	const struct elf_section *section = elf_file_section(elf, ".gopclntab");
	struct go_table table = { 0 };
	void *bytes;
	int r;

	if (!section) /* position-independent programs */
		section = elf_file_section(elf, ".data.rel.ro.gopclntab");
	if (!section)
		return -ENODATA;
	r = elf_file_load(elf, section, MAX_TABLE, &bytes);
	if (r)
		return r == -EIO ? -EBADMSG : r;
	table.bytes = bytes;
	table.size = section->size;
	if (!read_header(&table, elf)) {
		go_table_close(&table);
		return -EBADMSG;
	}
	*ret_table = table;
	return 0;
}

void go_table_close(struct go_table *table)
{
	free(table->bytes);
	*table = (struct go_table){ 0 };
}

static const char *name_at(const struct go_table *table, uint64_t offset)
{
	const uint8_t *name = table->bytes + offset;

	if (offset >= table->size || !memchr(name, '\0', table->size - offset))
		return "";
	return (const char *)name;
}

/* A record: the entry, then four bytes each: name, size of arguments, two more, depths. */
bool go_table_function(const struct go_table *table, uint32_t i, struct go_function *ret_function)
{
	uint64_t pair = table->index + (uint64_t)i * 2 * table->entry_size, record, name, depths;
	struct go_function function = { 0 };
	bool ok = true;

	function.begin = table->text + read_sized(table, pair, table->entry_size, &ok);
	record = read_sized(table, pair + table->entry_size, table->entry_size, &ok);
	function.end = table->text +
		       read_sized(table, pair + 2 * table->entry_size, table->entry_size, &ok);
	if (!ok || record > table->size)
		return false;
	record += table->functions + table->entry_size;
	name = read_sized(table, record, 4, &ok);
	depths = read_sized(table, record + 12, 4, &ok);
	if (!ok)
		return false;
	function.name = name_at(table, table->names + name);
	function.depths = depths ? table->values + depths : 0;
	*ret_function = function;
	return true;
}

void go_depth_begin(const struct go_table *table, const struct go_function *function,
		    struct go_depth *ret_depth)
{
	const uint8_t *end = table->bytes + table->size;
	bool has = function->depths && function->depths < table->size;

	*ret_depth = (struct go_depth){
		.bytes = { .at = has ? table->bytes + function->depths : end, .end = end },
		.end = function->begin,
		.depth = -1,
	};
}

/* Pairs of how much the depth changes (zigzag) and for how many bytes; 0 ends the table. */
bool go_depth_next(struct go_depth *depth)
{
	uint64_t change = read_uleb(&depth->bytes), length;

	if (!change && depth->started)
		return false;
	length = read_uleb(&depth->bytes);
	if (depth->bytes.failed || length > UINT32_MAX || change > UINT32_MAX)
		return false;
	depth->started = true;
	depth->depth += (int64_t)(change >> 1) ^ -(int64_t)(change & 1);
	depth->begin = depth->end;
	depth->end += length;
	return true;
}
