// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/finish.h"

#include <string.h>

#include "arch/address_bits.h"

#include "unwind/layouts.h"

/* What the walk reads. */
struct copy {
	const struct unwind *unwind;
	const struct layout *layout;
	const unsigned char *stack;
	uint64_t from; /* the address of its first byte */
	uint32_t size;
	uint64_t luajit_frame; /* as in struct wire_rest */
};

static int read_copy(const struct copy *copy, void *to, uint32_t size, uint64_t address)
{
	uint64_t at = address - copy->from;

	if (at >= copy->size || size > copy->size - at)
		return -1;
	memcpy(to, copy->stack + at, size);
	return 0;
}

/* The Lua state was read when the copy was made. */
static uint64_t luajit_frame(const struct copy *copy, uint64_t sp)
{
	return sp <= copy->luajit_frame ? copy->luajit_frame : 0;
}

#define UNWIND_CONTEXT		       , const struct copy *copy __attribute__((unused))
#define UNWIND_PASS		       , copy
#define UNWIND_READ(to, size, address) read_copy(copy, to, size, address)
/* The copy has no code. */
#define UNWIND_CODE(to, size, address) ((void)copy, (void)(to), (void)(address), -1)
#define UNWIND_BLOCK(number)	       unwind_block(copy->unwind, number)
#define UNWIND_RULE(number)	       unwind_rule(copy->unwind, number)
#define UNWIND_PROCESS(tgid)	       ((void)(tgid), &copy->layout->wire)
#define UNWIND_ADDRESS_BITS	       arch_address_bits()
#define UNWIND_LUAJIT_FRAME(sp)	       luajit_frame(copy, sp)
#define UNWIND_INLINE		       static inline
#include "bpf/unwind_step.h"

/* The runs of one interpreter that the walk has not come to; they may hold anything. */
struct runs {
	const uint64_t *at;
	uint32_t words;
	uint32_t which; /* the interpreter: WIRE_RUN_OF() */
};

/* Goes to the first run from here on that is the interpreter's. */
static void find_run(struct runs *runs)
{
	while (runs->words >= 2 && WIRE_RUN_OF(runs->at[1]) != runs->which) {
		uint64_t size = 2 + WIRE_RUN_FRAMES(runs->at[1]);

		if (size > runs->words)
			size = runs->words;
		runs->at += size;
		runs->words -= (uint32_t)size;
	}
}

/*
 * If the part [sp, cfa) of the stack, of the native frame `frame`, has the anchor of the next run,
 * puts that in its place. Returns how many frames there are more, up to `room`.
 */
static uint32_t place_run(struct runs *runs, uint64_t sp, uint64_t cfa, uint64_t *frame,
			  uint32_t capacity)
{
	uint64_t native, n, keep;

	find_run(runs);
	if (runs->words < 2 || runs->at[0] < sp || runs->at[0] >= cfa)
		return 0;
	n = WIRE_RUN_FRAMES(runs->at[1]);
	keep = runs->at[1] & WIRE_RUN_KEEP ? 1 : 0;
	if (n == 0 || n > runs->words - 2)
		return 0;
	native = *frame;
	for (uint64_t i = 0; i < n + keep && i <= capacity; i++)
		frame[i] = i < n ? runs->at[2 + i] : native;
	runs->at += 2 + n;
	runs->words -= (uint32_t)(2 + n);
	return n + keep - 1 < capacity ? (uint32_t)(n + keep - 1) : capacity;
}

struct finished_walk finish_walk(const struct unwind *unwind, const struct layout *layout,
				 const struct wire_rest *rest, const uint64_t *rest_runs,
				 const void *stack, uint64_t *frames, uint32_t capacity)
{
	const struct copy copy = {
		.unwind = unwind,
		.layout = layout,
		.stack = stack,
		.from = rest->walk.registers[UNWIND_SP],
		.size = rest->size,
		.luajit_frame = rest->luajit_frame,
	};
	struct runs runs[WIRE_PROCESS_INTERPRETERS];
	struct unwind_walk walk = rest->walk;
	struct finished_walk finished = { 0 };

	for (uint32_t i = 0; i < WIRE_PROCESS_INTERPRETERS; i++)
		runs[i] = (struct runs){ rest_runs, rest->runs, i };
	/*
	 * Look its mapping up anew. The table of the callee's frame may have another number by now:
	 * the one below UNWIND_GENERATED is no table's, so no register is assumed to be preserved
	 * by the callee.
	 */
	walk.start = walk.end = 0;
	walk.layout = 0;
	if (walk.callee_owner && walk.callee_owner != UNWIND_GENERATED)
		walk.callee_owner = UNWIND_GENERATED - 1;
	for (;;) {
		uint64_t sp = walk.registers[UNWIND_SP];

		finished.end = unwind_step(&walk, &copy);
		if (finished.end != WIRE_END_NONE)
			break;
		for (uint32_t i = 0; i < WIRE_PROCESS_INTERPRETERS; i++)
			finished.n += place_run(&runs[i], sp, walk.registers[UNWIND_SP],
						frames + finished.n - 1, capacity - finished.n);
		if (finished.n == capacity) {
			finished.end = WIRE_END_DEPTH;
			break;
		}
		frames[finished.n++] = walk.pc | (walk.exact ? WIRE_FRAME_EXACT : 0) |
				       (walk.by_chain ? WIRE_FRAME_POINTER : 0);
	}
	finished.assumed = walk.assumed;
	return finished;
}
