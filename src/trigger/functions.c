// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/functions.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "base/own.h"
#include "base/pool.h"
#include "elf/code_file.h"
#include "elf/debug_data.h"
#include "symbolize/debug_file.h"
#include "symbolize/demangle.h"
#include "trigger/ifunc.h"
#include "trigger/matcher.h"
#include "trigger/unprobeable.h"

#define TABLE_MAX (512u << 20) /* bytes of one symbol or string table */

struct reader {
	int fd;
	const struct elf_file *elf; /* the file to be probed */
	const struct matcher *matcher;
	bool cplusplus;
	struct nearest *nearest;
	struct ifuncs *ifuncs; /* NULL: not tried yet, or no process maps the file */
	bool ifuncs_tried;
	struct functions found;
	uint32_t capacity;
	char demangled[DEMANGLE_SIZE];
};

/* The start of the parameters in a demangled name such as "ns::f<(a)1>(int, g()) const", or NULL.
 */
static char *parameters(char *demangled)
{
	char *at = strrchr(demangled, ')');
	uint32_t depth = 0;

	for (; at && at > demangled; at--) {
		if (*at == ')')
			depth++;
		else if (*at == '(' && --depth == 0)
			return at;
	}
	return NULL;
}

static bool matches(struct reader *reader, const char *name)
{
	char *at;

	if (matcher_matches(reader->matcher, name))
		return true;
	if (reader->cplusplus && demangle(name, reader->demangled, sizeof(reader->demangled))) {
		if (matcher_matches(reader->matcher, reader->demangled))
			return true;
		at = parameters(reader->demangled);
		if (at)
			*at = '\0';
		if (at && matcher_matches(reader->matcher, reader->demangled))
			return true;
		name = reader->demangled;
	}
	if (reader->nearest)
		nearest_add(reader->nearest, name);
	return false;
}

static bool is_unprobeable(const struct reader *reader, uint64_t offset)
{
	uint8_t code[UNPROBEABLE_BYTES];
	ssize_t n = pread(reader->fd, code, sizeof(code), (off_t)offset);

	return n > 0 && unprobeable(code, (size_t)n, reader->elf->is_64);
}

static int add(struct reader *reader, const char *name, uint64_t offset)
{
	struct functions *found = &reader->found;
	int r;

	r = grow(&found->items, &reader->capacity, found->n + 1);
	if (r < 0)
		return r;
	name = pool_string(found->names, name);
	if (!name)
		return -ENOMEM;
	found->items[found->n++] = (struct function){
		.name = name, .offset = offset, .unprobeable = is_unprobeable(reader, offset)
	};
	return 0;
}

/* Replaces the address of a resolver by that of its choice. */
static bool resolve(struct reader *reader, uint64_t *address)
{
	if (!reader->ifuncs_tried)
		ifuncs_new(reader->elf, reader->fd, &reader->ifuncs);
	reader->ifuncs_tried = true;
	return reader->ifuncs && ifuncs_choice(reader->ifuncs, *address, address);
}

static int consider(struct reader *reader, char *name, const Elf64_Sym *symbol)
{
	unsigned char type = ELF64_ST_TYPE(symbol->st_info);
	char *version = strchr(name, '@');
	uint64_t offset, address = symbol->st_value;

	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol->st_shndx == SHN_UNDEF ||
	    address == 0 || !name[0])
		return 0;
	if (version && version != name)
		*version = '\0'; /* memcpy@@GLIBC_2.14 */
	reader->found.n_symbols++;
	if (!matches(reader, name))
		return 0;
	if (type == STT_GNU_IFUNC && !resolve(reader, &address)) {
		reader->found.n_unresolved++;
		snprintf(reader->found.unresolved, sizeof(reader->found.unresolved), "%s", name);
		return 0;
	}
	return code_file_offset(reader->elf, address, true, &offset) ? add(reader, name, offset)
								     : 0;
}

static void widen(const Elf32_Sym *narrow, Elf64_Sym *ret_wide)
{
	*ret_wide = (Elf64_Sym){ .st_name = narrow->st_name,
				 .st_info = narrow->st_info,
				 .st_shndx = narrow->st_shndx,
				 .st_value = narrow->st_value,
				 .st_size = narrow->st_size };
}

/* A table that cannot be read (truncated, compressed) counts as empty. */
static int read_table(struct reader *reader, const struct elf_file *elf,
		      const struct elf_section *section)
{
	const size_t entry = elf->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	own(own_free) void *symbols = NULL;
	own(own_free) void *bytes = NULL;
	size_t size;
	char *strings;
	int r;

	if (section->link >= elf->n_sections)
		return 0;
	size = elf->sections[section->link].size;
	r = elf_file_load(elf, section, TABLE_MAX, &symbols);
	if (r == 0)
		r = elf_file_load(elf, &elf->sections[section->link], TABLE_MAX, &bytes);
	if (r < 0 || size == 0)
		return r == -ENOMEM ? r : 0;
	strings = bytes;
	strings[size - 1] = '\0'; /* so that every name ends */
	for (size_t i = 1; r == 0 && i < section->size / entry; i++) {
		const char *raw = (const char *)symbols + i * entry;
		Elf64_Sym symbol;
		Elf32_Sym narrow;

		if (elf->is_64) {
			memcpy(&symbol, raw, sizeof(symbol));
		} else {
			memcpy(&narrow, raw, sizeof(narrow));
			widen(&narrow, &symbol);
		}
		if (symbol.st_name < size)
			r = consider(reader, strings + symbol.st_name, &symbol);
	}
	return r;
}

/* Returns whether the file has a full symbol table, or a negative errno. */
static int read_tables(struct reader *reader, const struct elf_file *elf)
{
	bool full = false;
	int r = 0;

	for (uint32_t i = 1; r == 0 && i < elf->n_sections; i++) {
		const struct elf_section *section = &elf->sections[i];

		if (section->type != SHT_SYMTAB && section->type != SHT_DYNSYM)
			continue;
		full = full || section->type == SHT_SYMTAB;
		r = read_table(reader, elf, section);
	}
	return r < 0 ? r : full;
}

/* For a stripped file: its debug file or .gnu_debugdata may have the symbols. */
static int read_elsewhere(struct reader *reader)
{
	const struct debug_places places = { .root = getenv("BCC_DEBUGINFO_ROOT") };
	own(own_elf_file_close) struct elf_file *debug = NULL;
	struct debug_wanted wanted;
	enum debug_proof proof;
	own(own_free) void *bytes = NULL;
	own(own_fd) int fd = -1;
	uint32_t place = 0;
	size_t size;

	debug_wanted_read(reader->elf, &wanted);
	fd = debug_file_open_next(&wanted, NULL, &places, &place, &proof);
	if (fd >= 0 && debug_file_open_checked(reader->elf, fd, proof, &debug) == 0)
		return read_tables(reader, debug);
	if (debug_data_load(reader->elf, &bytes, &size) == 0 &&
	    elf_file_open_memory(bytes, size, &debug) == 0)
		return read_tables(reader, debug);
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct function *a = left, *b = right;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Of several names for one offset only one is kept: two probes would count each call twice. */
static void drop_aliases(struct functions *functions)
{
	uint32_t n = 0;

	if (functions->n == 0)
		return;
	qsort(functions->items, functions->n, sizeof(*functions->items), compare);
	for (uint32_t i = 0; i < functions->n; i++) {
		if (n == 0 || functions->items[i].offset != functions->items[n - 1].offset)
			functions->items[n++] = functions->items[i];
	}
	functions->n = n;
}

int functions_read(int fd, const char *path, const struct matcher *matcher, bool cplusplus,
		   struct nearest *nearest, struct functions *ret_functions, struct error *err)
{
	own(own_elf_file_close) struct elf_file *elf = NULL;
	own(own_free) struct reader *reader = calloc(1, sizeof(*reader));
	int r;

	if (!reader)
		return error_set(err, -ENOMEM, "out of memory");
	r = code_file_open(fd, path, &elf, err);
	if (r < 0)
		return r;
	reader->fd = fd;
	reader->elf = elf;
	reader->matcher = matcher;
	reader->cplusplus = cplusplus;
	reader->nearest = nearest;
	r = pool_new(&reader->found.names);
	if (r == 0)
		r = read_tables(reader, elf);
	if (r == 0)
		r = read_elsewhere(reader);
	ifuncs_free(reader->ifuncs);
	if (r < 0) {
		functions_clear(&reader->found);
		return error_set(err, r, "out of memory for the functions of %.500s", path);
	}
	drop_aliases(&reader->found);
	*ret_functions = reader->found;
	return 0;
}

void functions_clear(struct functions *functions)
{
	if (!functions)
		return;
	free(functions->items);
	pool_free(functions->names);
	*functions = (struct functions){ 0 };
}
