// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/finish.h"

#include <string.h>

#include "unwind/layouts.h"

/* What the walk reads. */
struct copy {
	const struct unwind *unwind;
	const struct layout *layout;
	const unsigned char *stack;
	uint64_t from; /* the address of its first byte */
	uint32_t size;
};

static int read_copy(const struct copy *copy, void *to, uint32_t size, uint64_t address)
{
	uint64_t at = address - copy->from;

	if (at >= copy->size || size > copy->size - at)
		return -1;
	memcpy(to, copy->stack + at, size);
	return 0;
}

#define UNWIND_CONTEXT		       , const struct copy *copy
#define UNWIND_PASS		       , copy
#define UNWIND_READ(to, size, address) read_copy(copy, to, size, address)
/* The copy has no code. */
#define UNWIND_CODE(to, size, address) ((void)copy, (void)(to), (void)(address), -1)
#define UNWIND_BLOCK(number)	       unwind_block(copy->unwind, number)
#define UNWIND_RULE(number)	       unwind_rule(copy->unwind, number)
#define UNWIND_PROCESS(tgid)	       ((void)(tgid), &copy->layout->wire)
#define UNWIND_INLINE		       static
#include "bpf/unwind_step.h"

struct finished_walk finish_walk(const struct unwind *unwind, const struct layout *layout,
				 const struct wire_rest *rest, const void *stack, uint64_t *frames,
				 uint32_t room)
{
	const struct copy copy = {
		.unwind = unwind,
		.layout = layout,
		.stack = stack,
		.from = rest->walk.registers[UNWIND_SP],
		.size = rest->size,
	};
	struct unwind_walk walk = rest->walk;
	struct finished_walk finished = { 0 };

	/*
	 * Look its mapping up anew. The table of the callee's frame may have another number by now:
	 * UINT32_MAX is no table's, so no register is assumed to be preserved by the callee.
	 */
	walk.start = walk.end = 0;
	walk.layout = 0;
	if (walk.callee_owner)
		walk.callee_owner = UINT32_MAX;
	for (;;) {
		finished.end = unwind_step(&walk, &copy);
		if (finished.end != WIRE_END_NONE)
			break;
		if (finished.n == room) {
			finished.end = WIRE_END_DEPTH;
			break;
		}
		frames[finished.n++] = walk.pc | (walk.exact ? WIRE_FRAME_EXACT : 0) |
				       (walk.by_chain ? WIRE_FRAME_POINTER : 0);
	}
	finished.assumed = walk.assumed;
	return finished;
}
