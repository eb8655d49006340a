/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The compilation units of one file's DWARF and the functions in them, by address. Units are
 * found by their own ranges, since not all compilers write .debug_aranges; a unit's functions
 * are listed when it is met, once.
 *
 * libelf reads the file rather than mapping it: it may be cut while we look at it. What would take
 * more than a set amount of memory, compressed or not, is refused.
 */
#ifndef STACKTALLY_SYMBOLIZE_DWARF_UNITS_H
#define STACKTALLY_SYMBOLIZE_DWARF_UNITS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/own.h"

struct dwarf_units;

/*
 * Lists the units, until the time `end_ns` (CLOCK_MONOTONIC) at most. `fd` is borrowed. 0,
 * -ENOMEM, -EFBIG, or -ENODATA when there is no DWARF that can be read.
 */
int dwarf_units_open(int fd, uint64_t end_ns, struct dwarf_units **ret_units);
void dwarf_units_close(struct dwarf_units *units);
DEFINE_OWN(struct dwarf_units, dwarf_units_close)

bool dwarf_units_find(struct dwarf_units *units, uint64_t address, Dwarf_Die *ret_unit);
/* The function that contains the address; cheapest when addresses come in order. */
bool dwarf_units_function(struct dwarf_units *units, uint64_t address, Dwarf_Die *ret_function);

#endif
