// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/export_lookup.h"

#include <elf.h>
#include <string.h>

#define MAX_CHAIN 256u /* symbols of one bucket: of real files it has a few */
#define MAX_NAME  256u /* bytes, with the final NUL */

#define FILTER_BITS 64u /* of a word of DT_GNU_HASH's Bloom filter */

static uint32_t gnu_hash(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (uint8_t)*name;
	return hash;
}

/* The hash of DT_HASH, by the ELF specification. */
static uint32_t old_hash(const char *name)
{
	uint32_t hash = 0;

	for (; *name; name++) {
		hash = (hash << 4) + (uint8_t)*name;
		hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
	}
	return hash;
}

void export_lookup_open(struct export_lookup *lookup, const struct elf_file *elf)
{
	uint32_t head[4];

	*lookup = (struct export_lookup){ .elf = elf };
	if (!elf->is_64)
		return;
	elf_dynamic_find(elf, &lookup->dynamic);
	if (!lookup->dynamic.symbols || !lookup->dynamic.strings)
		return;
	if (lookup->dynamic.gnu_hash &&
	    elf_dynamic_read(elf, lookup->dynamic.gnu_hash, head, sizeof(head)) && head[2]) {
		lookup->n_buckets = head[0];
		lookup->first = head[1];
		lookup->n_filter = head[2];
		lookup->shift = head[3];
	} else if (lookup->dynamic.hash &&
		   elf_dynamic_read(elf, lookup->dynamic.hash, head, sizeof(uint32_t))) {
		lookup->n_old_buckets = head[0];
	}
}

/* Whether the symbol with this number is defined and has the name. */
static bool is_symbol(const struct export_lookup *lookup, uint32_t number, const char *name,
		      Elf64_Sym *ret_symbol)
{
	const struct elf_dynamic *dynamic = &lookup->dynamic;
	size_t size = strlen(name) + 1;
	char found[MAX_NAME];
	Elf64_Sym symbol;

	if (size > sizeof(found) ||
	    !elf_dynamic_read(lookup->elf, dynamic->symbols + number * sizeof(symbol), &symbol,
			      sizeof(symbol)) ||
	    symbol.st_shndx == SHN_UNDEF ||
	    !elf_dynamic_read(lookup->elf, dynamic->strings + symbol.st_name, found, size) ||
	    memcmp(found, name, size) != 0)
		return false;
	*ret_symbol = symbol;
	return true;
}

/* Whether the filter lets a hash pass: it keeps most symbols away that the file does not have. */
static bool passes_filter(const struct export_lookup *lookup, uint32_t hash)
{
	uint64_t at = lookup->dynamic.gnu_hash + 4 * sizeof(uint32_t), word;

	at += hash / FILTER_BITS % lookup->n_filter * sizeof(word);
	return elf_dynamic_read(lookup->elf, at, &word, sizeof(word)) &&
	       word >> hash % FILTER_BITS & word >> (hash >> (lookup->shift & 31)) % FILTER_BITS &
		       1;
}

static bool find_by_gnu_hash(const struct export_lookup *lookup, const char *name,
			     Elf64_Sym *ret_symbol)
{
	uint64_t buckets = lookup->dynamic.gnu_hash + 4 * sizeof(uint32_t) +
			   lookup->n_filter * sizeof(uint64_t);
	uint64_t chains = buckets + lookup->n_buckets * sizeof(uint32_t);
	uint32_t hash = gnu_hash(name), number, chain;

	if (!passes_filter(lookup, hash) ||
	    !elf_dynamic_read(lookup->elf, buckets + hash % lookup->n_buckets * sizeof(number),
			      &number, sizeof(number)) ||
	    number < lookup->first)
		return false;
	for (uint32_t i = 0; i < MAX_CHAIN; i++, number++) {
		if (!elf_dynamic_read(lookup->elf,
				      chains + (uint64_t)(number - lookup->first) * sizeof(chain),
				      &chain, sizeof(chain)))
			return false;
		if ((chain | 1) == (hash | 1) && is_symbol(lookup, number, name, ret_symbol))
			return true;
		if (chain & 1)
			return false;
	}
	return false;
}

static bool find_by_old_hash(const struct export_lookup *lookup, const char *name,
			     Elf64_Sym *ret_symbol)
{
	uint64_t buckets = lookup->dynamic.hash + 2 * sizeof(uint32_t);
	uint64_t chains = buckets + lookup->n_old_buckets * sizeof(uint32_t);
	uint64_t at = buckets + old_hash(name) % lookup->n_old_buckets * sizeof(uint32_t);

	for (uint32_t i = 0; i < MAX_CHAIN; i++) {
		uint32_t number;

		if (!elf_dynamic_read(lookup->elf, at, &number, sizeof(number)) ||
		    number == STN_UNDEF)
			return false;
		if (is_symbol(lookup, number, name, ret_symbol))
			return true;
		at = chains + (uint64_t)number * sizeof(number);
	}
	return false;
}

bool export_lookup_is_there(const struct export_lookup *lookup)
{
	return lookup->n_buckets || lookup->n_old_buckets;
}

bool export_lookup_find(const struct export_lookup *lookup, const char *name, Elf64_Sym *ret_symbol)
{
	if (lookup->n_buckets)
		return find_by_gnu_hash(lookup, name, ret_symbol);
	return lookup->n_old_buckets && find_by_old_hash(lookup, name, ret_symbol);
}

bool export_lookup_has(const struct export_lookup *lookup, const char *name)
{
	Elf64_Sym symbol;

	return export_lookup_find(lookup, name, &symbol);
}
