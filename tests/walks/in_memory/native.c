// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/walks/in_memory/native.h"

#include <stddef.h>
#include <string.h>

#include "arch/address_bits.h"

#define UNWIND_CONTEXT		       , const struct native_walk *what __attribute__((unused))
#define UNWIND_PASS		       , what
#define UNWIND_READ(to, size, address) what->read(what->data, to, size, address)
#define UNWIND_CODE(to, size, address) what->read(what->data, to, size, address)
#define UNWIND_BLOCK(number)	       what->tables->block(what->tables->data, number)
#define UNWIND_RULE(number)	       what->tables->rule(what->tables->data, number)
#define UNWIND_PROCESS(id)	       what->tables->process(what->tables->data, id)
#define UNWIND_ADDRESS_BITS	       arch_address_bits()
#define UNWIND_INLINE		       static
#include "bpf/unwind_step.h"

void native_walk(const struct native_walk *what, const struct native_registers *from,
		 struct native_stack *ret_stack)
{
	struct unwind_walk walk = {
		.pc = from->pc,
		.known = UNWIND_ALL_KNOWN,
		.exact = from->exact,
		.tgid = what->tgid,
		.may_chain = what->may_chain,
	};
	enum wire_end end = WIRE_END_NONE;
	uint32_t n = 0;

	memcpy(walk.registers, from->general, sizeof(walk.registers));
	while (end == WIRE_END_NONE) {
		if (n >= what->max_frames || n >= NATIVE_MAX_FRAMES) {
			end = WIRE_END_DEPTH;
			break;
		}
		ret_stack->frames[n] = walk.pc | (n && walk.exact ? WIRE_FRAME_EXACT : 0) |
				       (walk.by_chain ? WIRE_FRAME_POINTER : 0);
		n++;
		end = unwind_step(&walk, what);
	}
	ret_stack->n = n;
	ret_stack->end = end;
	ret_stack->last_rule = (uint16_t)walk.last_rule;
	ret_stack->assumed = walk.assumed != 0;
}
