/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static bool is_prefix(uint8_t byte)
{
	switch (byte) {
	case 0x26: /* segments */
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64:
	case 0x65:
	case 0x66: /* sizes */
	case 0x67:
	case 0xf0: /* lock */
	case 0xf2: /* repetition */
	case 0xf3:
		return true;
	default:
		return false;
	}
}

/*
 * The kernel refuses probes at an instruction with one of these. For a program that starts later it
 * does so in silence: a nop for alignment, cs nopw, would count nothing.
 */
static bool is_refused_prefix(uint8_t byte)
{
	return byte == 0x26 || byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0xf0;
}

/* Jumps, calls and nops by their one-byte opcodes. */
static bool is_emulated(uint8_t opcode)
{
	return (opcode >= 0x70 && opcode <= 0x7f) || opcode == 0x90 || opcode == 0xe8 ||
	       opcode == 0xe9 || opcode == 0xeb;
}

/* One-byte opcodes that are invalid, privileged or an access to a device. */
static bool is_refused(uint8_t opcode)
{
	static const uint8_t refused[] = {
		0x06, 0x07, 0x0e, 0x16, 0x17, 0x1e, 0x1f, 0x27, 0x2f, 0x37, 0x3f, 0x60,
		0x61, 0x62, 0x6c, 0x6d, 0x6e, 0x6f, 0x82, 0x9a, 0xd4, 0xd5, 0xd6, 0xe4,
		0xe5, 0xe6, 0xe7, 0xea, 0xec, 0xed, 0xee, 0xef, 0xf1, 0xf4, 0xfa, 0xfb,
	};

	return memchr(refused, opcode, sizeof(refused)) != NULL;
}

static inline bool arch_unprobeable(const uint8_t *bytes, size_t size, bool is_64)
{
	size_t at = 0, opcode;

	while (at < size && is_prefix(bytes[at]))
		if (is_refused_prefix(bytes[at++]))
			return true;
	if (at + 1 >= size)
		return false;
	switch (bytes[at]) {
	case 0xc5:
		opcode = at + 2;
		break;
	case 0xc4:
		opcode = at + 3;
		break;
	case 0x62:
		opcode = at + 4;
		break;
	default:
		return false;
	}
	/* In 32-bit code these are LDS, LES and BOUND, which take no register there. */
	if (!is_64 && bytes[at + 1] < 0xc0)
		return false;
	return opcode < size && (is_emulated(bytes[opcode]) || is_refused(bytes[opcode]));
}
