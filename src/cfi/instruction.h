/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an instruction of x86-64 does to the stack and to where control goes: no disassembler, but
 * the sizes of all instructions, and which registers they may write. (Intel's manual, volume 2,
 * chapter 2 and appendix A; AMD's XOP is not known.) Must not know: whose code it is.
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
	REGISTER_NONE = REGISTER_N, /* an immediate, or not a plain base */
};

enum instruction_kind {
	INSTRUCTION_UNKNOWN, /* or no instruction */
	INSTRUCTION_OTHER,
	INSTRUCTION_PUSH,    /* `reg` */
	INSTRUCTION_POP,     /* to `reg` */
	INSTRUCTION_ADD_SP,  /* sp += offset */
	INSTRUCTION_MOVE,    /* reg = base */
	INSTRUCTION_ADDRESS, /* reg = base + offset */
	INSTRUCTION_LOAD,    /* reg = *(base + offset), all of it */
	INSTRUCTION_STORE,   /* *(base + offset) = reg, all of it */
	INSTRUCTION_LEAVE,   /* sp = bp, pop bp */
	INSTRUCTION_RETURN,  /* `offset` bytes more are popped */
	INSTRUCTION_JUMP,    /* by `offset`, from behind it */
	INSTRUCTION_BRANCH,  /* the same, or not */
	INSTRUCTION_CALL,    /* the same */
	INSTRUCTION_JUMP_SOMEWHERE,
	INSTRUCTION_CALL_SOMEWHERE,
	INSTRUCTION_STOP, /* control does not go on behind it */
};

struct instruction {
	uint8_t kind, size; /* bytes */
	uint8_t reg, base;  /* enum instruction_register */
	int32_t offset;
	/* Bits of registers that it may write, but for `reg` of a POP, MOVE, ADDRESS or LOAD. */
	uint16_t written;
};

/* The instruction at the first of `size` bytes. */
struct instruction instruction_decode(const uint8_t *bytes, size_t size);

/* The size of what stands between functions, int3 or a nop; 0: it is neither. */
uint32_t instruction_padding(const uint8_t *bytes, size_t size);

#endif
