/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The walk of bpf/unwind_step.h in user space: the same code, over tables in plain memory and a
 * stack that the caller reads, for tests that compare walks with true stacks. Must not know: where
 * registers, memory or tables come from.
 */
#ifndef STACKTALLY_TESTS_WALKS_NATIVE_H
#define STACKTALLY_TESTS_WALKS_NATIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/unwind_wire.h"

#define NATIVE_MAX_FRAMES 1024

/* A frame's registers. */
struct native_registers {
	uint64_t pc;
	uint64_t general[WIRE_N_REGISTERS]; /* by DWARF number */
	bool exact; /* interrupted at pc; false: pc is a return address, or follows a system call */
};

/* Finds the tables; each function returns NULL if there is none. */
struct native_tables {
	const void *(*block)(const void *data, uint32_t block);
	const struct wire_rule *(*rule)(const void *data, uint32_t number);
	const struct wire_process *(*process)(const void *data, uint32_t tgid);
	const void *data;
};

/* The stack to walk, borrowed during the walk. */
struct native_walk {
	const struct native_tables *tables;
	uint32_t tgid;	     /* the process to look up in `tables` */
	bool may_chain;	     /* follow frame pointers in code that is known to keep them */
	uint32_t max_frames; /* 1 .. NATIVE_MAX_FRAMES */
	/* Reads memory of the process: 0, or another value on failure. */
	int (*read)(void *data, void *to, uint32_t size, uint64_t address);
	void *data;
};

struct native_stack {
	uint32_t n; /* 1 at least: the first frame is the start of the walk */
	enum wire_end end;
	uint16_t last_rule;		    /* the number of the rule used last */
	bool assumed;			    /* a callee was assumed to keep a register */
	uint64_t frames[NATIVE_MAX_FRAMES]; /* leaf first, with marks: WIRE_FRAME_* */
};

void native_walk(const struct native_walk *what, const struct native_registers *from,
		 struct native_stack *ret_stack);

#endif
