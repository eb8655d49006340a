/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A decoder of x86-64 instructions that tells only what a stack walk needs: their sizes, what they
 * do to the stack pointer and to the flow of control, and which registers they may write. (Intel's
 * manual, volume 2, chapter 2 and appendix A; AMD's manual, volume 6, for XOP.) Must not know:
 * functions, frames.
 */
#ifndef STACKTALLY_CFI_INSTRUCTION_H
#define STACKTALLY_CFI_INSTRUCTION_H

#include <stddef.h>
#include <stdint.h>

#define INSTRUCTION_MAX_SIZE 15

/* General registers by the processor's numbers. */
enum instruction_register {
	REGISTER_AX,
	REGISTER_CX,
	REGISTER_DX,
	REGISTER_BX,
	REGISTER_SP,
	REGISTER_BP,
	REGISTER_SI,
	REGISTER_DI,
	REGISTER_N = 16,
	REGISTER_NONE = REGISTER_N, /* no register, or one with an index */
};

enum instruction_kind {
	INSTRUCTION_UNKNOWN, /* or no instruction */
	INSTRUCTION_OTHER,
	INSTRUCTION_PUSH,	    /* `reg` */
	INSTRUCTION_POP,	    /* to `reg` */
	INSTRUCTION_ADD_SP,	    /* sp += offset */
	INSTRUCTION_MOVE,	    /* reg = base */
	INSTRUCTION_ADDRESS,	    /* reg = base + offset */
	INSTRUCTION_LOAD,	    /* reg = *(base + offset), all of it */
	INSTRUCTION_STORE,	    /* *(base + offset) = reg, all of it */
	INSTRUCTION_LEAVE,	    /* sp = bp, pop bp */
	INSTRUCTION_RETURN,	    /* `offset` bytes more are popped */
	INSTRUCTION_JUMP,	    /* to `offset` bytes behind its end */
	INSTRUCTION_BRANCH,	    /* a conditional jump */
	INSTRUCTION_CALL,	    /* to `offset` bytes behind its end */
	INSTRUCTION_JUMP_SOMEWHERE, /* indirect */
	INSTRUCTION_CALL_SOMEWHERE,
	INSTRUCTION_STOP, /* control does not reach the next instruction */
};

struct instruction {
	uint8_t kind, size; /* bytes */
	uint8_t reg, base;  /* enum instruction_register */
	int32_t offset;
	/* Bits of registers that it may write, except `reg` of a POP, MOVE, ADDRESS or LOAD. */
	uint16_t written;
};

/* Decodes the instruction at `bytes`, of which `size` may be read. */
struct instruction instruction_decode(const uint8_t *bytes, size_t size);

/* The size of an instruction that pads the space between functions, int3 or a nop; else 0. */
uint32_t instruction_padding(const uint8_t *bytes, size_t size);

#endif
