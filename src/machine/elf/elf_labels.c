// SPDX-License-Identifier: GPL-2.0-or-later
#include <elf.h>
#include <string.h>

#include "elf/elf_symbols_internal.h"

/*
 * Symbols that name no code: ARM's marks ($x, $d.12), and local labels of gas (.L) and NASM (..@).
 */
static bool is_marker(const char *name)
{
	if (name[0] == '$' && name[1] && strchr("adtx", name[1]))
		return !name[2] || name[2] == '.';
	return strncmp(name, ".L", 2) == 0 || strncmp(name, "..@", 3) == 0;
}

/*
 * Labels at the end of a piece of code, where another function may begin: _Py_trampoline_func_end,
 * OCaml's camlFoo__code_end.
 */
static bool is_end(const struct symbol *symbol, const char *name)
{
	size_t size = strlen(name);

	return symbol->type == STT_NOTYPE && size > 4 && strcmp(name + size - 4, "_end") == 0;
}

enum label_rank elf_label_rank(const struct symbol *symbol)
{
	if (symbol->type != STT_NOTYPE)
		return LABEL_FUNCTION;
	return symbol->binding == STB_LOCAL ? LABEL_LOCAL : LABEL_GLOBAL;
}

void elf_labels_floor(struct candidate *candidate, const struct symbol *symbol,
		      enum label_rank rank)
{
	for (uint32_t i = 0; i <= rank; i++) {
		struct label *label = &candidate->labels[i];

		if (label->floor_known && symbol->value <= label->floor)
			continue;
		label->floor = symbol->value;
		label->floor_known = true;
	}
}

static bool is_better(struct elf_symbols *search, const struct label *label,
		      const struct symbol *symbol, uint64_t name)
{
	if (label->name == NO_NAME || symbol->value != label->start)
		return label->name == NO_NAME || symbol->value > label->start;
	return elf_symbol_is_better_alias(search, symbol->binding, name, label->binding,
					  label->name);
}

void elf_labels_consider(struct elf_symbols *search, struct candidate *candidate,
			 const struct symbol *symbol, uint64_t name)
{
	enum label_rank rank = elf_label_rank(symbol);
	struct label *label = &candidate->labels[rank];
	const char *text;

	/* Another one that counts as much begins behind it. Later queries get that, too. */
	if (label->floor_known && symbol->value < label->floor)
		return;
	text = elf_symbol_name(search, name, search->name);
	if (is_marker(text))
		return;
	if (rank == LABEL_LOCAL && text[0] && strchr(text + 1, '.'))
		rank = LABEL_DOTTED;
	elf_labels_floor(candidate, symbol, rank);
	label = &candidate->labels[rank];
	if (!text[0] || is_end(symbol, text) || !is_better(search, label, symbol, name))
		return;
	label->start = symbol->value;
	label->name = name;
	label->binding = symbol->binding;
}

static void spread(const struct label *below, struct label *label)
{
	if (below->floor_known && (!label->floor_known || below->floor > label->floor)) {
		label->floor = below->floor;
		label->floor_known = true;
	}
	if (label->name == NO_NAME) {
		label->start = below->start;
		label->name = below->name;
		label->binding = below->binding;
	}
}

void elf_labels_spread(struct elf_symbols *search)
{
	for (size_t i = 1; i < search->n; i++) {
		for (uint32_t rank = 0; rank < LABEL_RANKS; rank++)
			spread(&search->candidates[i - 1].labels[rank],
			       &search->candidates[i].labels[rank]);
	}
}

static bool contains(const struct elf_section *section, uint64_t address)
{
	return section && address >= section->address && address - section->address < section->size;
}

const struct label *elf_labels_choose(struct elf_symbols *search, size_t i,
				      const struct elf_code_extent *extent)
{
	uint64_t address = search->queries[i].address;
	const struct elf_section *section = NULL;
	const struct label *nearest = NULL;
	enum elf_extent end = ELF_EXTENT_UNKNOWN;

	for (uint32_t rank = LABEL_RANKS; rank-- > 0;) {
		const struct label *label = &search->candidates[i].labels[rank];

		if (label->name == NO_NAME || label->floor != label->start)
			continue;
		if (!section)
			section = elf_file_code_section(search->tables[label->name & 0xff].elf,
							address);
		if (!contains(section, address) || !contains(section, label->start))
			return NULL;
		end = extent->find(extent->context, label->start, address);
		if (end == ELF_EXTENT_INSIDE)
			return label;
		nearest = label;
	}
	return nearest && search->complete && end != ELF_EXTENT_BEYOND ? nearest : NULL;
}
