// SPDX-License-Identifier: GPL-2.0-or-later
#include "cfi/call_targets.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"

/* Bytes. */
#define MAX_CODE (64u << 20)
#define PIECE	 (1u << 20)
#define LONGEST	 7u /* of the instructions that are searched */

#define FUNCTION_ALIGN 16u
#define FEW	       8u /* called functions, which tell nothing of the others */

void call_targets_free(struct call_targets *targets)
{
	free(targets->bits);
	*targets = (struct call_targets){ 0 };
}

static void add(struct call_targets *targets, uint64_t address)
{
	uint64_t at = address - targets->begin;

	if (at < targets->end - targets->begin)
		targets->bits[at / 8] |= (uint8_t)(1u << at % 8);
}

static uint64_t relative(uint64_t behind, const uint8_t *bytes)
{
	int32_t distance;

	memcpy(&distance, bytes, sizeof(distance));
	return behind + (uint64_t)(int64_t)distance;
}

/* call; lea of an address; and, where addresses are constants, mov of one. */
static void take(struct call_targets *targets, uint64_t address, const uint8_t *code,
		 bool constants)
{
	uint32_t value;

	if (code[0] == 0xe8)
		add(targets, relative(address + 5, code + 1));
	else if ((code[0] & 0xfb) == 0x48 && code[1] == 0x8d && (code[2] & 0xc7) == 0x05)
		add(targets, relative(address + 7, code + 3));
	if (constants && ((code[0] & 0xf8) == 0xb8 ||
			  (code[0] == 0x48 && code[1] == 0xc7 && (code[2] & 0xf8) == 0xc0))) {
		memcpy(&value, code + (code[0] == 0x48 ? 3 : 1), sizeof(value));
		add(targets, value);
	}
}

int call_targets_find(const struct code_view *code, const struct code_segment *segment,
		      struct call_targets *ret_targets)
{
	struct call_targets targets = { .begin = segment->begin, .end = segment->end };
	uint64_t size = segment->end - segment->begin;
	bool constants = code->elf->type == ET_EXEC && segment->end <= UINT32_MAX;
	own(own_free) uint8_t *bits = NULL;
	own(own_free) uint8_t *piece = NULL;

	*ret_targets = (struct call_targets){ 0 };
	if (size > MAX_CODE)
		return 0;
	bits = targets.bits = calloc(1, size / 8 + 1);
	piece = calloc(1, PIECE + LONGEST);
	if (!bits || !piece)
		return -ENOMEM;
	for (uint64_t at = 0; at < size; at += PIECE) {
		size_t n = code_view_read(code, segment->begin + at, piece, PIECE + LONGEST);

		for (size_t i = 0; i + LONGEST <= n && i < PIECE; i++)
			take(&targets, segment->begin + at + i, piece + i, constants);
		if (n < PIECE)
			break;
	}
	take_ptr(bits);
	*ret_targets = targets;
	return 0;
}

bool call_targets_has(const struct call_targets *targets, uint64_t address)
{
	uint64_t at = address - targets->begin;

	return at < targets->end - targets->begin && targets->bits[at / 8] >> at % 8 & 1;
}

bool call_targets_are_packed(const struct call_targets *targets, uint64_t begin, uint64_t end)
{
	uint64_t n = 0, aligned = 0;

	for (uint64_t at = begin; at < end; at++) {
		if (!call_targets_has(targets, at))
			continue;
		n++;
		aligned += at % FUNCTION_ALIGN == 0;
	}
	return n >= FEW && aligned < n - n / 4;
}
