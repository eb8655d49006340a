// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/go_table.h"

#include <errno.h>
#include <string.h>

/* The first four bytes tell the layout. */
#define MAGIC_1_2  0xfffffffbu
#define MAGIC_1_16 0xfffffffau
#define MAGIC_1_18 0xfffffff0u
#define MAGIC_1_20 0xfffffff1u

/* Magic, two bytes of 0, quantum, size of pointers. */
#define PREFIX_SIZE 8

/* A little-endian number of up to 8 bytes; 0, and *ok false, beyond the table's end. */
static uint64_t read_number(const struct go_table *table, uint64_t offset, uint32_t size, bool *ok)
{
	uint64_t value = 0;

	if (offset > table->size || size > table->size - offset) {
		*ok = false;
		return 0;
	}
	if (table->bytes)
		memcpy(&value, table->bytes + offset, size);
	else if (elf_file_read(table->elf, table->section->offset + offset, &value, size) < 0)
		*ok = false;
	return value;
}

/* Word `n` of the header. */
static uint64_t read_word(const struct go_table *table, uint32_t n, bool *ok)
{
	return read_number(table, PREFIX_SIZE + (uint64_t)n * table->pointer_size,
			   table->pointer_size, ok);
}

/* Since Go 1.26 the header has 0 for the start of the code: it is that of .text. */
static uint64_t read_text(const struct go_table *table, uint32_t n, bool *ok)
{
	const struct elf_section *section = elf_file_section(table->elf, ".text");
	uint64_t text = read_word(table, n, ok);

	return text || !section ? text : section->address;
}

static bool read_header(struct go_table *table)
{
	bool ok = true;
	uint32_t magic = (uint32_t)read_number(table, 0, 4, &ok);
	bool reserved = read_number(table, 4, 2, &ok);
	uint64_t n;

	table->quantum = (uint8_t)read_number(table, 6, 1, &ok);
	table->pointer_size = (uint8_t)read_number(table, 7, 1, &ok);
	if (!ok || reserved || !table->quantum ||
	    (table->pointer_size != 4 && table->pointer_size != 8))
		return false;
	n = read_word(table, 0, &ok);
	if (!ok || !n || n > GO_TABLE_MAX_FUNCTIONS)
		return false;
	table->n_functions = (uint32_t)n;
	table->entry_size = table->pointer_size;
	switch (magic) {
	case MAGIC_1_2:
		table->index = PREFIX_SIZE + table->pointer_size;
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
		table->text = read_text(table, 2, &ok);
		table->names = read_word(table, 3, &ok);
		table->values = read_word(table, 6, &ok);
		table->functions = read_word(table, 7, &ok);
		table->index = table->functions;
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
	struct go_table table = { .elf = elf, .section = elf_file_section(elf, ".gopclntab") };

	if (!table.section) /* position-independent programs */
		table.section = elf_file_section(elf, ".data.rel.ro.gopclntab");
	if (!table.section)
		return -ENODATA;
	table.size = table.section->size;
	if (!read_header(&table))
		return -EBADMSG;
	*ret_table = table;
	return 0;
}

int go_table_load(struct go_table *table)
{
	void *bytes;
	int r = elf_file_load(table->elf, table->section, GO_TABLE_MAX_SIZE, &bytes);

	if (r < 0)
		return r == -EIO ? -EBADMSG : r;
	table->bytes = bytes;
	return 0;
}

void go_table_close(struct go_table *table)
{
	free(table->bytes);
	*table = (struct go_table){ 0 };
}

/* The offset of pair `i` of the index. */
static uint64_t pair_of(const struct go_table *table, uint32_t i)
{
	return table->index + (uint64_t)i * 2 * table->entry_size;
}

bool go_table_address(const struct go_table *table, uint32_t i, uint64_t *ret_address)
{
	bool ok = true;

	*ret_address = table->text + read_number(table, pair_of(table, i), table->entry_size, &ok);
	return ok;
}

/* A record: the address, then four bytes each: name, size of arguments, two more, depths. */
bool go_table_function(const struct go_table *table, uint32_t i, struct go_function *ret_function)
{
	struct go_function function = { 0 };
	uint64_t record, depths;
	bool ok = true;

	if (!go_table_address(table, i, &function.begin) ||
	    !go_table_address(table, i + 1, &function.end))
		return false;
	record = read_number(table, pair_of(table, i) + table->entry_size, table->entry_size, &ok);
	if (!ok || record > table->size)
		return false;
	record += table->functions + table->entry_size;
	function.name = table->names + read_number(table, record, 4, &ok);
	depths = read_number(table, record + 12, 4, &ok);
	function.depths = depths ? table->values + depths : 0;
	*ret_function = function;
	return ok;
}

size_t go_table_name(const struct go_table *table, const struct go_function *function,
		     char *ret_name, size_t size)
{
	size_t left, length;
	int r;

	if (!table->bytes) {
		r = elf_file_string(table->elf, table->section, function->name, ret_name, size);
		return r < 0 ? 0 : (size_t)r;
	}
	if (function->name >= table->size)
		return 0;
	left = table->size - function->name;
	length =
		strnlen((const char *)table->bytes + function->name, left < size ? left : size - 1);
	memcpy(ret_name, table->bytes + function->name, length);
	ret_name[length] = '\0';
	return length;
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
		.quantum = table->quantum,
	};
}

/* Pairs: the change of the depth (zigzag), for how many quanta it holds. A change of 0 ends them.
 */
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
	depth->end += length * depth->quantum;
	return true;
}
