/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The places where functions were inlined, from DWARF. For confined children: libdw crashes on
 * files made for that. Must not know: patterns, probes.
 */
#ifndef STACKTALLY_SYMBOLIZE_INLINED_PLACES_H
#define STACKTALLY_SYMBOLIZE_INLINED_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolize/code_place.h"

/* `name`: as the linker would know the function, mangled in C++. */
typedef bool (*inlined_wants_fn)(void *context, const char *name);

/*
 * The number of places with code of the functions that are wanted, as far as they are found by
 * `end_ns` (CLOCK_MONOTONIC). A file without DWARF has none.
 */
uint32_t inlined_places_count(int fd, uint64_t end_ns, inlined_wants_fn wants, void *context);

/*
 * Calls `each`, with the same context, for each place of the functions that are wanted: where the
 * inlined code is entered. 0; -ENODATA: the file has no DWARF; -ETIMEDOUT: not all were found by
 * `end_ns`; or another negative errno.
 */
int inlined_places_each(int fd, uint64_t end_ns, inlined_wants_fn wants, code_place_fn each,
			void *context);

#endif
