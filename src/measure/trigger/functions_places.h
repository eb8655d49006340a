/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Places inside of functions, found by DWARF or as an offset, each of which is checked to be the
 * beginning of an instruction. For the confined child that reads a file's functions.
 */
#ifndef STACKTALLY_TRIGGER_FUNCTIONS_PLACES_H
#define STACKTALLY_TRIGGER_FUNCTIONS_PLACES_H

#include "base/pool.h"
#include "symbolize/inlined_places.h"
#include "symbolize/line_places.h"
#include "trigger/functions_internal.h"
#include "trigger/instruction_start.h"

struct placed {
	const char *name;   /* of the function, or inlined function, that it is in */
	const char *within; /* the function that it was inlined in; or NULL */
	uint64_t address;
	bool turns;    /* of an inlined function: a loop in it comes back there */
	bool doubtful; /* it is not known that an instruction begins there */
};

struct functions_places {
	/* Borrowed. */
	const struct elf_file *elf; /* the file to be probed */
	uint8_t *code;		    /* a buffer of FUNCTION_ENTRY_CODE_MAX bytes */
	struct pool *names;
	/* Found, by address and each address once. */
	struct placed *items;
	uint32_t n, capacity;
};

void functions_places_clear(struct functions_places *places);

/* These add what they find: 0, or as inlined_places_each() and line_places_each(). */
int functions_places_inlined(struct functions_places *places, int fd, inlined_wants_fn wants,
			     void *context);
int functions_places_line(struct functions_places *places, int fd, const struct code_point *point,
			  struct line_neighbours *ret_near);

/*
 * Marks places that the file's symbols, or its debug file's (or NULL), show to be in the middle of
 * an instruction. 0 or -ENOMEM.
 */
int functions_places_check(struct functions_places *places, const struct elf_file *debug);

/*
 * Whether an instruction begins `at` bytes into the function of `size` bytes at `address`; where
 * not, *ret_bad says which are around it.
 */
bool functions_places_offset(const struct functions_places *places, uint64_t address, uint64_t size,
			     uint64_t at, struct function_bad *ret_bad);

#endif
