/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an instruction of aarch64 does to the stack pointer, the frame pointer and the return
 * address, and where it leads. Must not know: files, rules.
 */
#ifndef STACKTALLY_CFI_AARCH64_STEP_H
#define STACKTALLY_CFI_AARCH64_STEP_H

#include <stdbool.h>
#include <stdint.h>

/* Offsets are bytes below the CFA, which is the stack pointer at the function's first instruction.
 */
struct aarch64_frame {
	int32_t depth;	/* of the stack pointer */
	int32_t fp, lr; /* where x29 and x30 are saved; 0: they have the caller's values */
};

enum aarch64_leads {
	AARCH64_ON,	/* to the next instruction */
	AARCH64_BRANCH, /* there, or to `target` */
	AARCH64_JUMP,	/* to `target` */
	AARCH64_RETURN, /* out of the function, whose frame is gone */
	AARCH64_STOP,	/* nowhere: it traps */
	AARCH64_SIGNAL, /* to what a signal interrupted */
	AARCH64_UNKNOWN,
};

/* Takes the frame over the instruction at `address`. */
enum aarch64_leads aarch64_step(uint32_t word, uint64_t address, struct aarch64_frame *frame,
				uint64_t *ret_target);

/* nop, or nothing at all: what fills the space between functions. */
bool aarch64_is_padding(uint32_t word);

#endif
