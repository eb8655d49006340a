/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolize/dwarf_units.h"

#include <dwarf.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/partition.h"

#define MAX_DEBUG_BYTES (1ull << 30)
#define MAX_RANGES	(16u << 20)
#define MAX_NESTING	16 /* of namespaces and types around functions */
#define MAX_BLOCKS	64 /* of blocks and inlined functions in one another */

/* An address range of a unit or function, and the offset of its DIE. */
struct range {
	uint64_t start, end;
	uint64_t die;
};

struct ranges {
	struct range *ranges;
	size_t n, capacity;
};

struct dwarf_units {
	Elf *elf;
	Dwarf *dwarf;
	struct ranges units, functions;
	uint64_t listed;  /* the DIE of the unit that `functions` are of; 0: none */
	Dwarf *listed_in; /* the file that these functions are in: a .dwo or .dwp, or `dwarf` */
	uint32_t n_missing;
	const char *missing;
};

void dwarf_units_close(struct dwarf_units *units)
{
	if (!units)
		return;
	free(units->units.ranges);
	free(units->functions.ranges);
	dwarf_end(units->dwarf);
	elf_end(units->elf);
	free(units);
}

Dwarf *dwarf_units_dwarf(const struct dwarf_units *units)
{
	return units->dwarf;
}

static int compare_ranges(const void *left, const void *right)
{
	const struct range *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->die < b->die ? -1 : a->die > b->die;
}

static void sort_ranges(struct ranges *ranges)
{
	if (ranges->n)
		qsort(ranges->ranges, ranges->n, sizeof(*ranges->ranges), compare_ranges);
}

/* The last range that starts at or below the address and contains it. */
static const struct range *find_range(const struct ranges *ranges, uint64_t address)
{
	size_t above = partition_point(i, ranges->n, ranges->ranges[i].start <= address);

	/* Ranges overlap in damaged DWARF only, for which a few steps back are enough. */
	for (size_t i = above, steps = 0; i-- > 0 && steps < 8; steps++) {
		if (address < ranges->ranges[i].end)
			return &ranges->ranges[i];
	}
	return NULL;
}

static int add_ranges(struct ranges *ranges, Dwarf_Die *die)
{
	uint64_t offset = dwarf_dieoffset(die);
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		if (start >= end)
			continue;
		if (ranges->n == MAX_RANGES)
			return -EFBIG;
		if (grow(&ranges->ranges, &ranges->capacity, ranges->n + 1) < 0)
			return -ENOMEM;
		ranges->ranges[ranges->n++] = (struct range){ start, end, offset };
	}
	return 0;
}

/* GNU's old form of compression begins with "ZLIB" and the decompressed size, big-endian. */
static uint64_t size_of_zdebug(Elf_Scn *section)
{
	const Elf_Data *data = elf_rawdata(section, NULL);
	const uint8_t *bytes = data ? data->d_buf : NULL;
	uint64_t size = 0;

	if (!bytes || data->d_size < 12 || memcmp(bytes, "ZLIB", 4) != 0)
		return UINT64_MAX;
	for (uint32_t i = 4; i < 12; i++)
		size = size << 8 | bytes[i];
	return size;
}

/* Whether the debug sections, which libdw keeps in memory, are small enough when decompressed. */
static bool fits_in_memory(Elf *elf)
{
	Elf_Scn *section = NULL;
	uint64_t total = 0;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		GElf_Chdr compressed;
		const char *name;

		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (!name)
			continue;
		if (strncmp(name, ".zdebug", 7) == 0)
			header.sh_size = size_of_zdebug(section);
		else if (strncmp(name, ".debug", 6) != 0)
			continue;
		if ((header.sh_flags & SHF_COMPRESSED) && gelf_getchdr(section, &compressed))
			header.sh_size = compressed.ch_size;
		if (header.sh_size > MAX_DEBUG_BYTES - total)
			return false;
		total += header.sh_size;
	}
	return true;
}

static int list_units(struct dwarf_units *units, uint64_t end_ns)
{
	Dwarf_Off offset = 0, next;
	size_t header_size;

	while (dwarf_nextcu(units->dwarf, offset, &next, &header_size, NULL, NULL, NULL) == 0) {
		Dwarf_Die unit;
		int r = 0;

		if (dwarf_offdie(units->dwarf, offset + header_size, &unit))
			r = add_ranges(&units->units, &unit);
		if (r < 0)
			return r;
		if (next <= offset || monotonic_ns() > end_ns)
			break;
		offset = next;
	}
	sort_ranges(&units->units);
	return 0;
}

int dwarf_units_open(int fd, uint64_t end_ns, struct dwarf_units **ret_units)
{
	own(own_dwarf_units_close) struct dwarf_units *units = calloc(1, sizeof(*units));
	int r;

	if (!units)
		return -ENOMEM;
	elf_version(EV_CURRENT);
	units->elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!units->elf || elf_kind(units->elf) != ELF_K_ELF)
		return -ENODATA;
	if (!fits_in_memory(units->elf))
		return -EFBIG;
	units->dwarf = dwarf_begin_elf(units->elf, DWARF_C_READ, NULL);
	if (!units->dwarf)
		return -ENODATA;
	r = list_units(units, end_ns);
	if (r < 0)
		return r;
	*ret_units = take_ptr(units);
	return 0;
}

bool dwarf_units_find(struct dwarf_units *units, uint64_t address, Dwarf_Die *ret_unit)
{
	const struct range *range = find_range(&units->units, address);

	return range && dwarf_offdie(units->dwarf, range->die, ret_unit);
}

static int list_functions(struct dwarf_units *units, Dwarf_Die *parent, uint32_t depth)
{
	Dwarf_Die child;
	int r = 0;

	if (depth == MAX_NESTING || dwarf_child(parent, &child) != 0)
		return 0;
	do {
		switch (dwarf_tag(&child)) {
		case DW_TAG_subprogram:
			r = add_ranges(&units->functions, &child);
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
		case DW_TAG_enumeration_type:
			r = list_functions(units, &child, depth + 1);
			break;
		default:
			break;
		}
	} while (r == 0 && dwarf_siblingof(&child, &child) == 0);
	return r;
}

/*
 * The part of a unit that has its functions: with -gsplit-dwarf a unit of a .dwo or .dwp file,
 * which libdw opens. Counts those that are not there.
 */
static Dwarf_Die with_functions(struct dwarf_units *units, Dwarf_Die *unit)
{
	static const unsigned int names[] = { DW_AT_dwo_name, DW_AT_GNU_dwo_name };
	uint8_t type = 0;
	Dwarf_Die split;

	if (dwarf_cu_info(unit->cu, NULL, &type, NULL, &split, NULL, NULL, NULL) != 0 ||
	    type != DW_UT_skeleton)
		return *unit;
	if (dwarf_tag(&split) == DW_TAG_compile_unit)
		return split;
	units->n_missing++;
	for (size_t i = 0; i < 2 && !units->missing; i++) {
		Dwarf_Attribute attribute;

		units->missing = dwarf_formstring(dwarf_attr(unit, names[i], &attribute));
	}
	return *unit;
}

uint32_t dwarf_units_missing(const struct dwarf_units *units, const char **ret_name)
{
	*ret_name = units->missing;
	return units->n_missing;
}

bool dwarf_units_function(struct dwarf_units *units, uint64_t address, Dwarf_Die *ret_function)
{
	const struct range *range = find_range(&units->units, address);
	Dwarf_Die unit;

	if (!range)
		return false;
	if (units->listed != range->die) {
		units->functions.n = 0;
		units->listed = range->die;
		if (!dwarf_offdie(units->dwarf, range->die, &unit))
			return false;
		unit = with_functions(units, &unit);
		units->listed_in = dwarf_cu_getdwarf(unit.cu);
		if (list_functions(units, &unit, 0) < 0)
			return false;
		sort_ranges(&units->functions);
	}
	range = find_range(&units->functions, address);
	return range && units->listed_in &&
	       dwarf_offdie(units->listed_in, range->die, ret_function);
}

uint32_t dwarf_function_inlined(const Dwarf_Die *function, uint64_t address, Dwarf_Die *ret_inlined,
				uint32_t capacity)
{
	Dwarf_Die at = *function, child;
	uint32_t n = 0;

	for (uint32_t depth = 0; n < capacity && depth < MAX_BLOCKS; depth++) {
		bool inner = false;

		if (dwarf_child(&at, &child) != 0)
			break;
		do {
			int tag = dwarf_tag(&child);

			inner = (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block) &&
				dwarf_haspc(&child, address) == 1;
		} while (!inner && dwarf_siblingof(&child, &child) == 0);
		if (!inner)
			break;
		at = child;
		if (dwarf_tag(&child) == DW_TAG_inlined_subroutine)
			ret_inlined[n++] = child;
	}
	return n;
}
