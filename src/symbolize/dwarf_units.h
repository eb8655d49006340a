/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The compilation units of a file's DWARF and their functions, by address. Units are found by their
 * own ranges (DW_AT_ranges), as not all compilers write .debug_aranges; a unit's functions are
 * listed when the unit is first needed.
 *
 * libelf reads the file instead of mapping it, as its owner may truncate it meanwhile. Files whose
 * DWARF would take more than 1 GB of memory when decompressed are refused.
 */
#ifndef STACKTALLY_SYMBOLIZE_DWARF_UNITS_H
#define STACKTALLY_SYMBOLIZE_DWARF_UNITS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/own.h"

struct dwarf_units;

/*
 * Lists the units, until `end_ns` (CLOCK_MONOTONIC) at most. `fd` is borrowed. 0, -ENOMEM, -EFBIG,
 * or -ENODATA: there is no DWARF that can be read.
 */
int dwarf_units_open(int fd, uint64_t end_ns, struct dwarf_units **ret_units);
void dwarf_units_close(struct dwarf_units *units);
DEFINE_OWN(struct dwarf_units, dwarf_units_close)

/* libdw's handle of the open file, borrowed. */
Dwarf *dwarf_units_dwarf(const struct dwarf_units *units);

/* The unit that contains the address; false: none. */
bool dwarf_units_find(struct dwarf_units *units, uint64_t address, Dwarf_Die *ret_unit);

/* The function that contains the address; fastest if addresses ascend. */
bool dwarf_units_function(struct dwarf_units *units, uint64_t address, Dwarf_Die *ret_function);

/*
 * The functions inlined at the address of a function, outermost first, `capacity` of them at most.
 * Returns their number.
 */
uint32_t dwarf_function_inlined(const Dwarf_Die *function, uint64_t address, Dwarf_Die *ret_inlined,
				uint32_t capacity);

/*
 * How many units whose functions were asked for have them in a .dwo or .dwp file that could not be
 * opened; the name of such a .dwo file, or NULL.
 */
uint32_t dwarf_units_missing(const struct dwarf_units *units, const char **ret_name);

#endif
