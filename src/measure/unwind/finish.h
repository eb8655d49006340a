/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The finisher: ends walks that the BPF program could not end for want of a mapping or a table. The
 * program sent the registers and a copy of the stack (struct wire_rest); here, the same steps
 * (bpf/unwind_step.h) go on over the copy, by the layout of the process at that time.
 *
 * Must not know: where records come from, what becomes of frames.
 */
#ifndef STACKTALLY_UNWIND_FINISH_H
#define STACKTALLY_UNWIND_FINISH_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/wire.h"
#include "unwind/unwind.h"

struct finished_walk {
	enum wire_end end;
	bool assumed; /* as WIRE_STACK_ASSUMED, from here on */
	uint32_t n;   /* frames found */
};

/*
 * Goes on from `rest`, with a copy of `rest->size` bytes of the stack at `stack`. Writes up to
 * `room` more frames to `frames`, in the form of struct wire_stack. `runs` has the `rest->runs`
 * words of functions of interpreted programs, which stand in place of native frames; frames[-1] is
 * the one that the walk is at.
 */
struct finished_walk finish_walk(const struct unwind *unwind, const struct layout *layout,
				 const struct wire_rest *rest, const uint64_t *runs,
				 const void *stack, uint64_t *frames, uint32_t capacity);

#endif
