// SPDX-License-Identifier: GPL-2.0-or-later
#include <elf.h>
#include <string.h>

#include "elf/elf_symbols_internal.h"

/* A bound on the time that a forged table takes: the names of its other symbols are ignored. */
#define MAX_NAME_READS (1u << 18)

/* Reads a name into `buffer`, without its version. */
const char *elf_symbol_name(struct elf_symbols *search, uint64_t name, char *buffer)
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

bool elf_symbol_is_better_alias(struct elf_symbols *search, uint8_t binding, uint64_t name,
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
	a = elf_symbol_name(search, name, search->name);
	b = elf_symbol_name(search, known_name, search->other);
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
