// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbolize/code_place.h"

#include <dwarf.h>

const char *code_place_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		name = dwarf_formstring(&attribute);
	return name ? name : dwarf_diename(die);
}

bool code_place_range(Dwarf_Die *die, uint64_t address, struct code_range *ret_range)
{
	Dwarf_Addr base, begin, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &begin, &end)) > 0) {
		if (begin > address || address >= end)
			continue;
		*ret_range = (struct code_range){ begin, end };
		return true;
	}
	return false;
}
