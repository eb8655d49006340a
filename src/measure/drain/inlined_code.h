/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Optimized code of V8 as it comes through the ring buffer, and the functions that were compiled
 * into it at an instruction.
 */
#ifndef STACKTALLY_DRAIN_INLINED_CODE_H
#define STACKTALLY_DRAIN_INLINED_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/interpreter_wire.h"
#include "tally/scripts.h"

struct inlined_code;

/* 0 or -ENOMEM. */
int inlined_code_new(struct inlined_code **ret_inlined);
void inlined_code_free(struct inlined_code *inlined);

/*
 * Takes a struct wire_inlined_code with its table, which may hold anything. 0, -EPROTO for wrong
 * sizes, or -ENOMEM.
 */
int inlined_code_take(struct inlined_code *inlined, const void *record, size_t size);

/*
 * Enters the id of a place in code that was taken in `scripts`: under the name of the innermost
 * function there, which leads to those that it was compiled into; if one of these is not known, of
 * a reason that leads to the code's own function. Not if the code is not known. 0 or -ENOMEM.
 */
int inlined_code_add_place(const struct inlined_code *inlined, struct scripts *scripts,
			   const struct wire_script_place *place);

/*
 * The place (an index of V8's inlining positions; -1: none, the function itself) that a table of
 * source positions of `size` bytes has for the instruction at `offset`. The table has pairs of
 * numbers for the instructions at which the position changes: steps of the offset and of the
 * position, in groups of seven bits, the lowest first, with the sign in the lowest bit. In
 * optimized code the step of the offset is inverted or, from V8 14 on, doubled.
 */
int64_t inlined_place_at(const uint8_t *table, size_t size, uint32_t offset);

#endif
