// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbolize/inlined_places.h"

#include <dwarf.h>

#include "base/clock.h"
#include "symbolize/dwarf_units.h"

#define MAX_NESTING  64
#define LOOK_AT_TIME 4096u /* after so many DIEs: one unit may be all of a large program */
#define N_KNOWN	     4096  /* functions whose answers are kept; a power of two */

/* What is known of a function, by the offset of its abstract instance. */
struct known {
	Dwarf_Off function;
	bool set, wanted;
};

struct counting {
	inlined_wants_fn wants;
	void *context;
	uint32_t n;
	uint64_t end_ns;
	uint32_t n_visited;
	bool late;
	struct known known[N_KNOWN];
};

static const char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		name = dwarf_formstring(&attribute);
	return name ? name : dwarf_diename(die);
}

static bool has_code(Dwarf_Die *die)
{
	return dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges);
}

static bool is_wanted(struct counting *counting, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Die function;
	struct known *known;
	const char *name;
	Dwarf_Off offset;

	if (!dwarf_attr(die, DW_AT_abstract_origin, &attribute) ||
	    !dwarf_formref_die(&attribute, &function))
		return false;
	offset = dwarf_dieoffset(&function);
	known = &counting->known[(offset ^ (offset >> 12)) % N_KNOWN];
	if (known->set && known->function == offset)
		return known->wanted;
	name = name_of(&function);
	*known = (struct known){ offset, true, name && counting->wants(counting->context, name) };
	return known->wanted;
}

static bool may_contain(int tag)
{
	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
		return true;
	default:
		return false;
	}
}

static bool is_late(struct counting *counting)
{
	if (++counting->n_visited % LOOK_AT_TIME == 0 && monotonic_ns() > counting->end_ns)
		counting->late = true;
	return counting->late;
}

static void visit(struct counting *counting, Dwarf_Die *parent, uint32_t depth)
{
	Dwarf_Die die;

	if (depth == MAX_NESTING || dwarf_child(parent, &die) != 0)
		return;
	do {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_inlined_subroutine && has_code(&die) && is_wanted(counting, &die))
			counting->n++;
		if (may_contain(tag))
			visit(counting, &die, depth + 1);
	} while (!is_late(counting) && dwarf_siblingof(&die, &die) == 0);
}

static void visit_units(struct counting *counting, Dwarf *dwarf)
{
	Dwarf_Off offset = 0, next;
	size_t header_size;

	while (dwarf_nextcu(dwarf, offset, &next, &header_size, NULL, NULL, NULL) == 0) {
		Dwarf_Die unit;

		if (next <= offset || counting->late || monotonic_ns() > counting->end_ns)
			return;
		if (dwarf_offdie(dwarf, offset + header_size, &unit))
			visit(counting, &unit, 0);
		offset = next;
	}
}

uint32_t inlined_places_count(int fd, uint64_t end_ns, inlined_wants_fn wants, void *context)
{
	own(own_dwarf_units_close) struct dwarf_units *units = NULL;
	own(own_free) struct counting *counting = calloc(1, sizeof(*counting));

	if (!counting || dwarf_units_open(fd, end_ns, &units) < 0)
		return 0;
	counting->wants = wants;
	counting->context = context;
	counting->end_ns = end_ns;
	visit_units(counting, dwarf_units_dwarf(units));
	return counting->n;
}
