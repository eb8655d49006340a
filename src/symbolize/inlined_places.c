// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbolize/inlined_places.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

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
	code_place_fn each; /* NULL: they are only counted */
	void *context;
	uint32_t n;
	int result; /* of the last call of `each` */
	uint64_t end_ns;
	uint32_t n_visited;
	bool late;
	struct known known[N_KNOWN];
};

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
	name = code_place_name(&function);
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

/* Where an instance begins: DW_AT_entry_pc, or else its first byte. */
static bool find_entry(Dwarf_Die *die, uint64_t first, uint64_t *ret_entry)
{
	Dwarf_Attribute attribute;
	Dwarf_Addr address;
	Dwarf_Word offset;

	if (!dwarf_attr(die, DW_AT_entry_pc, &attribute)) {
		*ret_entry = first;
		return true;
	}
	if (dwarf_formaddr(&attribute, &address) == 0) {
		*ret_entry = address;
		return true;
	}
	/* DWARF 5: from the entry's base address on. */
	if (dwarf_formudata(&attribute, &offset) != 0)
		return false;
	*ret_entry = (dwarf_lowpc(die, &address) == 0 ? address : first) + offset;
	return true;
}

static void tell(struct counting *counting, Dwarf_Die *function, Dwarf_Die *die)
{
	struct code_place place = { .name = code_place_name(die),
				    .within = code_place_name(function) };
	Dwarf_Addr base, begin, end;
	ptrdiff_t at = 0;

	while (place.n_ranges < CODE_PLACE_RANGES &&
	       (at = dwarf_ranges(die, at, &base, &begin, &end)) > 0)
		if (begin < end)
			place.ranges[place.n_ranges++] = (struct code_range){ begin, end };
	if (!place.name || !place.n_ranges ||
	    !find_entry(die, place.ranges[0].begin, &place.address) ||
	    !code_place_range(function, place.address, &place.function))
		return;
	counting->n++;
	counting->result = counting->each(counting->context, &place);
}

static void take(struct counting *counting, Dwarf_Die *function, Dwarf_Die *die)
{
	if (!has_code(die) || !is_wanted(counting, die))
		return;
	if (!counting->each)
		counting->n++;
	else if (function)
		tell(counting, function, die);
}

/* `function` has `parent` in it; NULL: none has. */
static void visit(struct counting *counting, Dwarf_Die *parent, Dwarf_Die *function, uint32_t depth)
{
	Dwarf_Die die;

	if (depth == MAX_NESTING || dwarf_child(parent, &die) != 0)
		return;
	do {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_inlined_subroutine)
			take(counting, function, &die);
		if (may_contain(tag))
			visit(counting, &die, tag == DW_TAG_subprogram ? &die : function,
			      depth + 1);
	} while (counting->result == 0 && !is_late(counting) && dwarf_siblingof(&die, &die) == 0);
}

static void visit_units(struct counting *counting, Dwarf *dwarf)
{
	Dwarf_Off offset = 0, next;
	size_t header_size;

	while (dwarf_nextcu(dwarf, offset, &next, &header_size, NULL, NULL, NULL) == 0) {
		Dwarf_Die unit;

		if (monotonic_ns() > counting->end_ns)
			counting->late = true;
		if (next <= offset || counting->late || counting->result)
			return;
		if (dwarf_offdie(dwarf, offset + header_size, &unit))
			visit(counting, &unit, NULL, 0);
		offset = next;
	}
}

static int search(int fd, uint64_t end_ns, inlined_wants_fn wants, code_place_fn each,
		  void *context, uint32_t *ret_n)
{
	own(own_dwarf_units_close) struct dwarf_units *units = NULL;
	own(own_free) struct counting *counting = calloc(1, sizeof(*counting));
	int r = counting ? dwarf_units_open(fd, end_ns, &units) : -ENOMEM;

	if (r < 0)
		return r;
	counting->wants = wants;
	counting->each = each;
	counting->context = context;
	counting->end_ns = end_ns;
	visit_units(counting, dwarf_units_dwarf(units));
	*ret_n = counting->n;
	return counting->result ? counting->result : counting->late ? -ETIMEDOUT : 0;
}

uint32_t inlined_places_count(int fd, uint64_t end_ns, inlined_wants_fn wants, void *context)
{
	uint32_t n = 0;

	search(fd, end_ns, wants, NULL, context, &n);
	return n;
}

int inlined_places_each(int fd, uint64_t end_ns, inlined_wants_fn wants, code_place_fn each,
			void *context)
{
	uint32_t n;

	return search(fd, end_ns, wants, each, context, &n);
}
