/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The frames of text that has names only: an address of the tally for each, and its name. Equal
 * frames have one address. The stacks of such text, root or leaf first, become stacks of the tally.
 */
#ifndef STACKTALLY_IMPORT_FRAME_SET_H
#define STACKTALLY_IMPORT_FRAME_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index.h"
#include "base/pool.h"
#include "import/folded_line.h"
#include "tally/names.h"
#include "tally/tally.h"

struct frame_set {
	struct tally *tally; /* borrowed, as names are */
	struct names *names;
	struct pool *strings;
	struct index index;
};

/* Frames of one side of a stack. */
struct frame_side {
	uint32_t *list;
	uint32_t n, capacity;
	bool missed, cut;
};

/* Both are empty. 0 or -ENOMEM; frame_set_clear() is due in both cases. */
int frame_set_start(struct frame_set *set, struct tally *tally, struct names *names);
void frame_set_clear(struct frame_set *set);

/*
 * The address of a frame, by its name, module (or none) and NAMES_FRAME_* flags. 0, -ENOMEM, or
 * -EFBIG beyond 2^32 - 2 of them.
 */
int frame_set_address(struct frame_set *set, const struct folded_piece *name,
		      const struct folded_piece *module, uint32_t flags, uint32_t *ret_id);

void frame_side_start(struct frame_side *side);
void frame_side_clear(struct frame_side *side);
int frame_side_add(struct frame_side *side, uint32_t address);
/* Turns the order round. */
void frame_side_reverse(struct frame_side *side);
/* The stack of a side, whose frames are leaf first. What is too deep loses its root. */
int frame_side_stack(const struct frame_side *side, struct tally *tally, uint32_t *ret_id);

#endif
