// SPDX-License-Identifier: GPL-2.0-or-later
#include "cfi/aarch64_step.h"

#define SP 31
#define FP 29
#define LR 30

#define NOP	 0xd503201fu
#define MAX_SIZE (64 << 20) /* of a frame, bytes */

static uint32_t bits(uint32_t word, int from, int n)
{
	return word >> from & ((1u << n) - 1);
}

static int64_t signed_bits(uint32_t word, int from, int n)
{
	return (int32_t)(word << (32 - from - n)) >> (32 - n);
}

bool aarch64_is_padding(uint32_t word)
{
	return word == NOP || word == 0;
}

/* A register is stored `at` bytes above the stack pointer. */
static void save(struct aarch64_frame *frame, uint32_t reg, int32_t at)
{
	if (reg == FP && !frame->fp)
		frame->fp = frame->depth - at;
	if (reg == LR && !frame->lr)
		frame->lr = frame->depth - at;
}

/* A register is loaded from there; false: x29 or x30 gets a value that is not the caller's. */
static bool restore(struct aarch64_frame *frame, uint32_t reg, int32_t at)
{
	if (reg == FP) {
		if (frame->fp != frame->depth - at)
			return false;
		frame->fp = 0;
	}
	if (reg == LR) {
		if (frame->lr != frame->depth - at)
			return false;
		frame->lr = 0;
	}
	return true;
}

enum access { OFFSET, BEFORE, AFTER }; /* when the stack pointer is changed */

struct access_form {
	uint32_t mask, word;
	uint8_t from, size, scale; /* of the offset: its bits, and what it is a multiple of */
	enum access when;
	bool is_load, is_pair;
};

/* Loads and stores of 64-bit general registers by the stack pointer. */
static const struct access_form forms[] = {
	{ 0xffc003e0, 0xa90003e0, 15, 7, 8, OFFSET, false, true }, /* stp x, y, [sp, n] */
	{ 0xffc003e0, 0xa98003e0, 15, 7, 8, BEFORE, false, true }, /* stp x, y, [sp, n]! */
	{ 0xffc003e0, 0xa94003e0, 15, 7, 8, OFFSET, true, true },
	{ 0xffc003e0, 0xa8c003e0, 15, 7, 8, AFTER, true, true }, /* ldp x, y, [sp], n */
	{ 0xffe00fe0, 0xf8000fe0, 12, 9, 1, BEFORE, false, false },
	{ 0xffe00fe0, 0xf84007e0, 12, 9, 1, AFTER, true, false },
	{ 0xffc003e0, 0xf90003e0, 10, 12, 8, OFFSET, false, false },
	{ 0xffc003e0, 0xf94003e0, 10, 12, 8, OFFSET, true, false },
};

static bool access_stack(const struct access_form *form, uint32_t word, struct aarch64_frame *frame)
{
	bool is_unsigned = form->size == 12;
	int32_t offset = (int32_t)(is_unsigned ? bits(word, form->from, form->size)
					       : signed_bits(word, form->from, form->size)) *
			 form->scale;
	uint32_t first = bits(word, 0, 5), second = bits(word, 10, 5);
	int32_t at = form->when == OFFSET ? offset : 0;
	bool good = true;

	if (form->when == BEFORE)
		frame->depth -= offset;
	if (form->is_load) {
		good = restore(frame, first, at) &&
		       (!form->is_pair || restore(frame, second, at + 8));
	} else {
		save(frame, first, at);
		if (form->is_pair)
			save(frame, second, at + 8);
	}
	if (form->when == AFTER)
		frame->depth -= offset;
	return good && frame->depth >= 0 && frame->depth <= MAX_SIZE;
}

/* add or sub of a constant to the stack pointer, and mov x29, sp. */
static bool is_sum(uint32_t word)
{
	return bits(word, 23, 8) == 0x22 || bits(word, 23, 8) == 0xa2;
}

static bool add(uint32_t word, struct aarch64_frame *frame)
{
	uint32_t to = bits(word, 0, 5), from = bits(word, 5, 5);
	int32_t n = (int32_t)(bits(word, 10, 12) << (bits(word, 22, 1) ? 12 : 0));

	if (to != SP)
		return to != LR && (to != FP || frame->fp);
	if (from != SP)
		return false;
	frame->depth += bits(word, 30, 1) ? n : -n;
	return frame->depth >= 0 && frame->depth <= MAX_SIZE;
}

/* A function that has not saved its return address does not call: this is not its beginning. */
static enum aarch64_leads call(const struct aarch64_frame *frame)
{
	return frame->lr ? AARCH64_ON : AARCH64_UNKNOWN;
}

/* Branches, calls, returns and exceptions. */
static enum aarch64_leads leave(uint32_t word, uint64_t address, const struct aarch64_frame *frame,
				uint64_t *ret_target)
{
	uint32_t reg = bits(word, 5, 5);

	if ((word & 0x7c000000) == 0x14000000) { /* b, bl */
		*ret_target = address + (uint64_t)(signed_bits(word, 0, 26) * 4);
		return word >> 31 ? call(frame) : AARCH64_JUMP;
	}
	if ((word & 0xff000010) == 0x54000000 || (word & 0x7e000000) == 0x34000000) {
		*ret_target = address + (uint64_t)(signed_bits(word, 5, 19) * 4);
		return AARCH64_BRANCH; /* b.cond; cbz, cbnz */
	}
	if ((word & 0x7e000000) == 0x36000000) { /* tbz, tbnz */
		*ret_target = address + (uint64_t)(signed_bits(word, 5, 14) * 4);
		return AARCH64_BRANCH;
	}
	if ((word & 0xfffffc1f) == 0xd63f0000)
		return call(frame); /* blr */
	if (word == 0xd65f03c0 || word == 0xd65f0bff || word == 0xd65f0fff)
		return AARCH64_RETURN; /* ret, retaa, retab */
	/* By these two registers, functions are called for which there are stubs; others are
	 * jumps by a table. */
	if ((word & 0xfffffc1f) == 0xd61f0000 && (reg == 16 || reg == 17))
		return AARCH64_RETURN;
	if ((word & 0xffe0001f) == 0xd4200000)
		return AARCH64_STOP;						 /* brk */
	return (word & 0xffe0001f) == 0xd4000001 ? AARCH64_ON : AARCH64_UNKNOWN; /* svc */
}

/* Whether an instruction that is not known otherwise may change sp, x29 or x30. */
static bool may_change(uint32_t word, const struct aarch64_frame *frame)
{
	uint32_t group = bits(word, 25, 4), to = bits(word, 0, 5);
	bool is_access = (group & 5) == 4, is_vector = bits(word, 26, 1);

	if (word >> 22 == 0x354) /* system: hints, barriers, mrs */
		return bits(word, 19, 3) == 7 && (to == FP || to == LR);
	if (is_access) {
		/* Those that change their base register, as far as that may be sp. */
		bool writes_base =
			(word & 0x3b200400) == 0x38000400 || (word & 0x3a800000) == 0x28800000;

		bool is_pair = bits(word, 27, 3) == 5 || (word & 0x3f000000) == 0x08000000;

		if (writes_base && bits(word, 5, 5) >= FP)
			return true;
		return !is_vector && (bits(word, 22, 2) || bits(word, 27, 3) == 3) &&
		       (to == FP || to == LR ||
			(is_pair && (bits(word, 10, 5) == FP || bits(word, 10, 5) == LR)));
	}
	if ((group & 7) == 7) /* vectors: some write a general register */
		return to == FP || to == LR;
	if (to == SP) /* and, orr, eor of constants; sums of an extended register, without flags */
		return ((word & 0x1f800000) == 0x12000000 && bits(word, 29, 2) != 3) ||
		       (word & 0x3fe00000) == 0x0b200000;
	return to == LR || (to == FP && !frame->fp);
}

enum aarch64_leads aarch64_step(uint32_t word, uint64_t address, struct aarch64_frame *frame,
				uint64_t *ret_target)
{
	for (uint32_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if ((word & forms[i].mask) == forms[i].word)
			return access_stack(&forms[i], word, frame) ? AARCH64_ON : AARCH64_UNKNOWN;
	}
	if (is_sum(word) && word >> 31)
		return add(word, frame) ? AARCH64_ON : AARCH64_UNKNOWN;
	if (word >> 22 != 0x354 && bits(word, 26, 3) == 5)
		return leave(word, address, frame, ret_target);
	return may_change(word, frame) ? AARCH64_UNKNOWN : AARCH64_ON;
}
