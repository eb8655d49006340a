/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of interpreted programs, and places in optimized code. They come through the ring buffer;
 * of CPython, instructions do, with each function's table of lines beside the first of them.
 */
#ifndef STACKTALLY_DRAIN_SCRIPT_PLACES_H
#define STACKTALLY_DRAIN_SCRIPT_PLACES_H

#include <stddef.h>
#include <stdint.h>

#include "base/own.h"
#include "bpf/interpreter_wire.h"
#include "tally/scripts.h"

struct script_places;

/* 0 or -ENOMEM. */
int script_places_new(struct script_places **ret_places);
void script_places_free(struct script_places *places);

/*
 * Takes a struct wire_script_place with its table, which may hold anything, and enters its id in
 * `scripts`: under the name of its function, at its line. 0, -EPROTO for wrong sizes, or -ENOMEM.
 */
int script_places_take(struct script_places *places, struct scripts *scripts, const void *record,
		       size_t size);

/* Takes a struct wire_inlined_code, for places in it. As inlined_code_take(). */
int code_places_take_inlined(struct script_places *places, const void *record, size_t size);

/*
 * The line of the instruction at `offset`, by a table of `size` bytes, of a function that begins at
 * the line `first`; 0: it has none. The forms are those of CPython's Objects/lnotab_notes.txt (to
 * 3.10) and Objects/locations.md.
 */
uint32_t code_line_at(enum wire_line_form form, const uint8_t *table, size_t size, uint32_t first,
		      uint32_t offset);

#endif
