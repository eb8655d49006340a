/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Expressions about an event (--if, --sum) as the kernel side evaluates them: a few steps on a few
 * registers, in constants that are set before the programs are loaded. There are no jumps back, so
 * that a program ends after as many steps as it has. User space makes them (expression/).
 */
#ifndef STACKTALLY_BPF_EXPRESSION_WIRE_H
#define STACKTALLY_BPF_EXPRESSION_WIRE_H

#include <linux/types.h>

#define WIRE_STEPS	  128 /* of an expression */
#define WIRE_REGISTERS	  8   /* a power of two */
#define WIRE_PATTERNS	  4   /* of all expressions; a power of two */
#define WIRE_PATTERN_SIZE 63  /* characters, without its stars */
#define WIRE_TEXT	  256 /* bytes of a string that are compared, with its NUL */

enum wire_step_op {
	/* Of one value, which goes to register `to`. */
	WIRE_STEP_NUMBER, /* `number` */
	WIRE_STEP_EVENT,  /* `size` bytes of the program's context, from `number` on */
	WIRE_STEP_USER,	  /* `size` bytes of user memory, `number` behind the address in `to` */
	WIRE_STEP_CPU,	  /* the number of the CPU */
	WIRE_STEP_THREAD, /* the id of the thread */
	WIRE_STEP_NOT,	  /* 1 if `to` is 0, else 0 */
	WIRE_STEP_CAST,	  /* the lower `size` bytes of `to` */
	/* Of `to` and `from` or, with WIRE_STEP_IMMEDIATE, `number`; to `to`. */
	WIRE_STEP_AND,
	WIRE_STEP_OR,
	WIRE_STEP_XOR,
	WIRE_STEP_SHL,
	WIRE_STEP_SHR,
	WIRE_STEP_ADD,
	WIRE_STEP_SUB,
	WIRE_STEP_MUL,
	WIRE_STEP_DIV,
	WIRE_STEP_MOD,
	WIRE_STEP_EQ,
	WIRE_STEP_NE,
	WIRE_STEP_LT,
	WIRE_STEP_LE,
	WIRE_STEP_GT,
	WIRE_STEP_GE,
	/* Strings: copied first, then compared with pattern `from`; 1 or 0 goes to `to`. */
	WIRE_STEP_TEXT_EVENT,	 /* `size` bytes of the context, from `number` on */
	WIRE_STEP_TEXT_LOCATION, /* at the place that the 4 bytes there tell: __data_loc */
	WIRE_STEP_TEXT_USER,	 /* in user memory, at the address in `to` */
	WIRE_STEP_TEXT_KERNEL,	 /* in the kernel's memory */
	WIRE_STEP_TEXT_COMM,	 /* the name of the thread */
	/* The steps before `size` are left out if `to` is 0, or is not 0. */
	WIRE_STEP_UNLESS,
	WIRE_STEP_IF,
	WIRE_N_STEPS,
};

enum wire_step_flags {
	WIRE_STEP_SIGNED = 1 << 0, /* the value read, or both values of an operation */
	WIRE_STEP_IMMEDIATE = 1 << 1,
};

struct wire_step {
	__u8 op; /* enum wire_step_op */
	__u8 flags;
	__u8 to, from;
	__u32 size;
	__s64 number;
};

/* The result is in register 0. */
struct wire_program {
	__u32 n; /* steps; 0: there is no such expression */
	__u32 is_signed;
	struct wire_step steps[WIRE_STEPS];
};

/*
 * A pattern as an automaton whose state is a set of positions, a bit for each: bit i of `accepts`
 * says that the character may follow position i, bit i of `stays` that there is a star.
 */
struct wire_pattern {
	__u64 stays;
	__u64 end; /* the bit of the last position */
	__u64 accepts[256];
};

struct wire_expressions {
	struct wire_program condition, value;
	struct wire_pattern patterns[WIRE_PATTERNS];
};

/* What an evaluation uses beside. */
struct wire_event {
	__u64 context; /* address of the program's context */
	__u64 loaded;
	__u64 value; /* that is added up */
	__s64 registers[WIRE_REGISTERS];
	__u8 text[WIRE_TEXT];
};

_Static_assert(sizeof(struct wire_step) == 16, "both sides agree on struct wire_step");

#endif
