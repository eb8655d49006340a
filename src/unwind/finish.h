/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of walks that the kernel side had to break off for want of a mapping or a table: it sent
 * where the walk was and a copy of the stack from there on; here the same steps
 * (bpf/unwind_step.h) go on over the copy, by what was mapped in the process's image then.
 *
 * Must not know: where records come from, what becomes of frames.
 */
#ifndef STACKTALLY_UNWIND_FINISH_H
#define STACKTALLY_UNWIND_FINISH_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/wire.h"
#include "unwind/unwind.h"

/* What was mapped in a image: as long as it is held, the tables of its files are wanted. */
struct layout;

/* 0, -ESRCH when nothing is known of the image, -ENOSPC when there is no room, -ENOMEM. */
int unwind_hold(struct unwind *unwind, uint32_t image, struct layout **ret_layout);
void unwind_release(struct unwind *unwind, struct layout *layout); /* NULL is allowed */

struct finished {
	enum wire_end end;
	bool assumed;
	uint32_t n; /* frames that were found beyond those of the record */
};

/*
 * Walks on from `rest`, with `rest->size` bytes of the stack at `stack`, and puts what it finds,
 * up to `room` frames, to `frames`, marked as those of struct wire_stack.
 */
struct finished unwind_walk_on(const struct unwind *unwind, const struct layout *layout,
			       const struct wire_rest *rest, const void *stack, uint64_t *frames,
			       uint32_t room);

#endif
