/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A place in a file's code that its DWARF names. It may be wrong: whoever puts a probe there checks
 * that an instruction begins there.
 */
#ifndef STACKTALLY_SYMBOLIZE_CODE_PLACE_H
#define STACKTALLY_SYMBOLIZE_CODE_PLACE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#define CODE_PLACE_RANGES 16

struct code_range {
	uint64_t begin, end; /* addresses */
};

struct code_place {
	const char *name;   /* of the function or inlined function, as the linker would know it */
	const char *within; /* the function that it was inlined in; NULL: it is no inlined one */
	uint64_t address;
	struct code_range function; /* the part of the function's code that has the address */
	/* Of an inlined function: its code; more ranges are left out. */
	struct code_range ranges[CODE_PLACE_RANGES];
	uint32_t n_ranges;
};

/* Returns 0 or a negative errno, which ends the search. The place's strings are libdw's. */
typedef int (*code_place_fn)(void *context, const struct code_place *place);

/* The name of a function or inlined instance, mangled in C++; or NULL. */
const char *code_place_name(Dwarf_Die *die);

/* The range of the DIE's code that has the address; false: none has. */
bool code_place_range(Dwarf_Die *die, uint64_t address, struct code_range *ret_range);

#endif
