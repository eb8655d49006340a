// SPDX-License-Identifier: GPL-2.0-or-later
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "elf/elf_symbols_internal.h"

/* A bound on the time that a forged table takes: the names of its other symbols are ignored. */
#define MAX_NAME_READS (1u << 18)

static const struct elf_versions *versions_of(struct elf_symbols *search)
{
	/* Without memory for them, names keep what they have. */
	if (!search->versions_read && search->n_tables)
		elf_versions_read(search->tables[0].elf, &search->versions);
	search->versions_read = true;
	return &search->versions;
}

/* Cuts the default version off, or adds another one that the table of versions has. */
static void set_version(struct elf_symbols *search, uint16_t entry, char *buffer)
{
	const char *version;
	size_t length;

	if (strchr(buffer, '@')) {
		if (elf_versions_split(versions_of(search), buffer, &length) == ELF_VERSION_DEFAULT)
			buffer[length] = '\0';
		return;
	}
	version = entry ? elf_versions_other(versions_of(search), entry) : NULL;
	length = strlen(buffer);
	if (version && strlen(version) + 2 <= ELF_SYMBOL_NAME_SIZE - length)
		snprintf(buffer + length, ELF_SYMBOL_NAME_SIZE - length, "@%s", version);
}

const char *elf_symbol_name(struct elf_symbols *search, uint64_t name, char *buffer)
{
	const struct string_table *table;

	if (name == NO_NAME || search->name_reads++ > MAX_NAME_READS + search->n * 4)
		return "";
	table = &search->tables[name & 0xff];
	if (elf_file_string(table->elf, table->strings, (uint32_t)(name >> 8), buffer,
			    ELF_SYMBOL_NAME_SIZE) <= 0)
		return "";
	set_version(search, (uint16_t)(name >> 40), buffer);
	return buffer;
}

/* Whether the name has a version that is not the default one. */
static bool has_other_version(struct elf_symbols *search, const char *name)
{
	size_t length;

	return strchr(name, '@') &&
	       elf_versions_split(versions_of(search), name, &length) == ELF_VERSION_OTHER;
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
	bool a_is_other;

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
	a_is_other = has_other_version(search, a);
	if (a_is_other != has_other_version(search, b))
		return !a_is_other;
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
