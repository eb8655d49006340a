// SPDX-License-Identifier: GPL-2.0-or-later
#include "cfi/instruction.h"

#include <stdbool.h>
#include <string.h>

#define BIT(n) ((uint16_t)(1u << (n)))

#define AX BIT(REGISTER_AX)
#define CX BIT(REGISTER_CX)
#define DX BIT(REGISTER_DX)
#define BX BIT(REGISTER_BX)
#define SI BIT(REGISTER_SI)
#define DI BIT(REGISTER_DI)

/* Opcode maps. */
enum map {
	MAP_ONE_BYTE,
	MAP_0F,
	MAP_0F38,
	MAP_0F3A,
	MAP_EVEX5 = 5,
	MAP_EVEX6,
	MAP_XOP8 = 8,
	MAP_XOP9,
	MAP_XOPA
};

struct decoder {
	const uint8_t *at, *end;
	bool is_short;	/* the bytes ended within the instruction */
	bool is_vector; /* VEX or EVEX */
	bool operand16, repeat, address32, rex;
	uint8_t w, r, x, b; /* of REX, VEX or EVEX; r, x and b in the place of a register's bit 3 */
	uint8_t second;	    /* the register vvvv of VEX and EVEX */
	enum map map;
	uint8_t opcode;
	/* ModRM and what follows. */
	uint8_t mod, reg, rm;
	uint8_t base; /* of an address base + offset; else REGISTER_NONE */
	int32_t offset;
};

static uint8_t byte(struct decoder *d)
{
	if (d->at < d->end)
		return *d->at++;
	d->is_short = true;
	return 0;
}

/* A signed number of 1, 2, 4 or 8 bytes; the lower half of the latter. */
static int32_t number(struct decoder *d, size_t size)
{
	uint32_t value = 0;

	for (size_t i = 0; i < size; i++) {
		uint32_t next = byte(d);

		if (i < 4)
			value |= next << (8 * i);
	}
	if (size == 1)
		return (int8_t)value;
	return size == 2 ? (int16_t)value : (int32_t)value;
}

static void read_modrm(struct decoder *d)
{
	uint8_t modrm = byte(d), sib;

	d->mod = modrm >> 6;
	d->reg = (modrm >> 3 & 7) | d->r;
	d->rm = (modrm & 7) | d->b;
	d->base = d->rm;
	if (d->mod == 3)
		return;
	if ((modrm & 7) == 4) {
		sib = byte(d);
		d->base = (sib & 7) | d->b;
		/* An index of 4 means none. */
		if (((sib >> 3 & 7) | d->x) != 4)
			d->base = REGISTER_NONE;
		if (d->mod == 0 && (sib & 7) == 5) {
			d->base = REGISTER_NONE;
			d->offset = number(d, 4);
		}
	} else if (d->mod == 0 && (modrm & 7) == 5) {
		d->base = REGISTER_NONE;
		d->offset = number(d, 4);
	}
	if (d->mod == 1)
		d->offset = number(d, 1);
	if (d->mod == 2)
		d->offset = number(d, 4);
}

/* Reads VEX, EVEX or XOP, and the opcode. False: not a known map. */
static bool read_vector(struct decoder *d, uint8_t first)
{
	size_t n = first == 0xc5 ? 1 : first == 0x62 ? 3 : 2;
	uint8_t payload[3] = { 0 };

	for (size_t i = 0; i < n; i++)
		payload[i] = byte(d);
	d->is_vector = true;
	d->r = (~payload[0] & 0x80) >> 4;
	d->map = MAP_0F;
	if (n > 1) {
		d->x = (~payload[0] & 0x40) >> 3;
		d->b = (~payload[0] & 0x20) >> 2;
		d->map = payload[0] & (n == 2 ? 0x1f : 7);
		d->w = payload[1] >> 7;
	}
	d->second = ~payload[n == 1 ? 0 : 1] >> 3 & 15;
	d->opcode = byte(d);
	if (first == 0x8f)
		return d->map >= MAP_XOP8 && d->map <= MAP_XOPA;
	return (d->map >= MAP_0F && d->map <= MAP_0F3A) ||
	       (first == 0x62 && (d->map == MAP_EVEX5 || d->map == MAP_EVEX6));
}

/* Reads up to the opcode, included. False: not a known encoding. */
static bool read_prefixes(struct decoder *d)
{
	uint8_t first;

	for (;;) {
		first = byte(d);
		if (d->is_short)
			return false;
		if (first == 0x66)
			d->operand16 = true;
		else if (first == 0x67)
			d->address32 = true;
		else if (first == 0xf2 || first == 0xf3)
			d->repeat = true;
		else if (!memchr("\x2e\x36\x3e\x26\x64\x65\xf0", first, 7))
			break;
	}
	if ((first & 0xf0) == 0x40) {
		d->rex = true;
		d->w = first >> 3 & 1;
		d->r = (first & 4) << 1;
		d->x = (first & 2) << 2;
		d->b = (first & 1) << 3;
		first = byte(d);
	}
	/* 8f is XOP's, or that of pop, whose ModRM has no such map. */
	if (first == 0xc4 || first == 0xc5 || first == 0x62 ||
	    (first == 0x8f && d->at < d->end && (*d->at & 0x1f) >= MAP_XOP8))
		return !d->rex && read_vector(d, first);
	d->opcode = first;
	if (first != 0x0f)
		return true;
	d->map = MAP_0F;
	d->opcode = byte(d);
	if (d->opcode == 0x38 || d->opcode == 0x3a) {
		d->map = d->opcode == 0x38 ? MAP_0F38 : MAP_0F3A;
		d->opcode = byte(d);
	}
	return true;
}

/* A register of 8 bits: without REX, 4 to 7 are the upper halves of 0 to 3. */
static uint16_t byte_register(const struct decoder *d, uint8_t reg)
{
	return BIT(d->rex || reg < 4 ? reg : reg & 3);
}

static uint16_t operand(const struct decoder *d, bool wide, uint8_t reg)
{
	return wide ? BIT(reg) : byte_register(d, reg);
}

/* The r/m operand, if it is a register. */
static uint16_t written_rm(const struct decoder *d, bool wide)
{
	return d->mod == 3 ? operand(d, wide, d->rm) : 0;
}

/* ---- the map of one byte ---- */

static bool has_modrm(uint8_t opcode)
{
	if (opcode < 0x40)
		return (opcode & 7) < 4;
	return opcode == 0x63 || opcode == 0x69 || opcode == 0x6b ||
	       (opcode >= 0x80 && opcode <= 0x8f) || opcode == 0xc0 || opcode == 0xc1 ||
	       opcode == 0xc6 || opcode == 0xc7 || (opcode >= 0xd0 && opcode <= 0xd3) ||
	       (opcode >= 0xd8 && opcode <= 0xdf) || opcode == 0xf6 || opcode == 0xf7 ||
	       opcode >= 0xfe;
}

static bool is_invalid(uint8_t opcode)
{
	if (opcode < 0x40)
		return (opcode & 7) > 5;
	return memchr("\x60\x61\x62\x82\x9a\xc4\xc5\xce\xd4\xd5\xd6\xea", opcode, 12) != NULL;
}

static size_t immediate_size(const struct decoder *d)
{
	size_t z = d->operand16 && !d->w ? 2 : 4;
	uint8_t o = d->opcode;

	if (o < 0x40)
		return (o & 7) == 4 ? 1 : (o & 7) == 5 ? z : 0;
	if (o >= 0xb8 && o <= 0xbf)
		return d->w ? 8 : z;
	if (o >= 0xa0 && o <= 0xa3)
		return d->address32 ? 4 : 8;
	if ((o >= 0x70 && o <= 0x7f) || (o >= 0xb0 && o <= 0xb7) || (o >= 0xe0 && o <= 0xe7) ||
	    memchr("\x6a\x6b\x80\x83\xa8\xc0\xc1\xc6\xcd\xeb", o, 10))
		return 1;
	if (o == 0x68 || o == 0x69 || o == 0x81 || o == 0xa9 || o == 0xc7)
		return z;
	if (o == 0xe8 || o == 0xe9)
		return 4;
	if (o == 0xc2 || o == 0xca)
		return 2;
	if (o == 0xc8)
		return 3;
	if ((o == 0xf6 || o == 0xf7) && (d->reg & 7) < 2)
		return o == 0xf6 ? 1 : z;
	return 0;
}

/* The registers that it writes. classify() corrects kinds that tell it otherwise. */
static uint16_t written_by(const struct decoder *d)
{
	uint8_t o = d->opcode, which = d->reg & 7;
	bool wide = o & 1;

	if (o < 0x40) {
		if (o >= 0x38)
			return 0;
		return (o & 7) < 2   ? written_rm(d, wide)
		       : (o & 7) < 4 ? operand(d, wide, d->reg)
				     : AX;
	}
	if (o == 0x63 || o == 0x69 || o == 0x6b || o == 0x8d)
		return BIT(d->reg);
	if (o == 0x80 || o == 0x81 || o == 0x83)
		return which == 7 ? 0 : written_rm(d, wide);
	if (o == 0x86 || o == 0x87)
		return operand(d, wide, d->reg) | written_rm(d, wide);
	if (o == 0x88 || o == 0x89 || o == 0xc6 || o == 0xc7 || o == 0xc0 || o == 0xc1 ||
	    (o >= 0xd0 && o <= 0xd3))
		return written_rm(d, wide);
	if (o == 0x8a || o == 0x8b)
		return operand(d, wide, d->reg);
	if (o == 0x8c || o == 0x8f)
		return written_rm(d, true);
	if (o > 0x90 && o <= 0x97)
		return AX | BIT((o & 7) | d->b);
	if (o == 0x90 && d->b)
		return AX | BIT(8);
	if (o >= 0xb0 && o <= 0xbf)
		return operand(d, o >= 0xb8, (o & 7) | d->b);
	if (o == 0xf6 || o == 0xf7)
		return which < 2 ? 0 : which < 4 ? written_rm(d, wide) : AX | DX;
	if (o >= 0xfe)
		return which < 2 ? written_rm(d, wide) : 0;
	if (o == 0x6c || o == 0x6d || (o >= 0xa4 && o <= 0xaf))
		return AX | CX | SI | DI;
	if (o >= 0xe0 && o <= 0xe3)
		return CX;
	return o >= 0x98 ? AX | DX : 0;
}

/* ---- the other maps ---- */

static bool is_invalid_0f(uint8_t o)
{
	return memchr("\x04\x0a\x0c\x24\x25\x26\x27\x36\x39\x3b\x3c\x3d\x3e\x3f\xa6\xa7", o, 16) !=
	       NULL;
}

static bool has_modrm_0f(const struct decoder *d)
{
	uint8_t o = d->opcode;

	if (d->is_vector)
		return o != 0x77;
	return !((o >= 0x80 && o <= 0x8f) || (o >= 0xc8 && o <= 0xcf) || (o >= 0x30 && o <= 0x37) ||
		 (o >= 0x05 && o <= 0x0b && o != 0x07) || o == 0x07 || o == 0x0e || o == 0x77 ||
		 (o >= 0xa0 && o <= 0xa2) || (o >= 0xa8 && o <= 0xaa));
}

static bool has_immediate_0f(const struct decoder *d)
{
	uint8_t o = d->opcode;

	if ((o >= 0x70 && o <= 0x73) || o == 0xc2 || (o >= 0xc4 && o <= 0xc6))
		return true;
	return !d->is_vector && (o == 0xa4 || o == 0xac || o == 0xba || o == 0x0f);
}

static uint16_t written_by_0f(const struct decoder *d)
{
	uint8_t o = d->opcode;

	if (o == 0x2c || o == 0x2d || o == 0x50 || o == 0xc5 || o == 0xd7)
		return BIT(d->reg);
	if (o == 0x7e)
		return written_rm(d, true);
	if (d->is_vector) /* kmov, and conversions to unsigned */
		return o == 0x93 || o == 0x78 || o == 0x79 ? BIT(d->reg) : 0;
	if ((o >= 0x40 && o <= 0x4f) || o == 0x02 || o == 0x03 || o == 0xaf || o == 0xb2 ||
	    (o >= 0xb4 && o <= 0xb8) || (o >= 0xbc && o <= 0xbf))
		return BIT(d->reg);
	if (o >= 0xc8 && o <= 0xcf)
		return BIT((o & 7) | d->b);
	if (o >= 0x90 && o <= 0x9f)
		return written_rm(d, false);
	if (o == 0xb0 || o == 0xb1 || o == 0xc0 || o == 0xc1)
		return AX | operand(d, o & 1, d->reg) | written_rm(d, o & 1);
	if ((o >= 0x20 && o <= 0x23) || (o >= 0xa3 && o <= 0xad) || o == 0xae || o == 0xb3 ||
	    o == 0xba || o == 0xbb || o == 0x00 || o == 0x18 || o == 0x1a || o == 0x1b ||
	    o == 0x1e || o == 0x78)
		return written_rm(d, true);
	if (o == 0x01 || o == 0x05 || (o >= 0x30 && o <= 0x35) || o == 0xc7)
		return AX | CX | DX | BIT(11) | written_rm(d, true);
	return o == 0xa2 ? AX | BX | CX | DX : 0;
}

static uint16_t written_by_more(const struct decoder *d)
{
	uint8_t o = d->opcode;

	if (d->map == MAP_0F38) {
		if (d->is_vector)
			return o >= 0xe0 ? BIT(d->reg) | BIT(d->second) : 0;
		return o >= 0xf0 ? BIT(d->reg) | written_rm(d, true) : 0;
	}
	if (d->map == MAP_0F3A) {
		if (o >= 0x14 && o <= 0x17)
			return written_rm(d, true);
		return o == 0xf0 ? BIT(d->reg) : o == 0x61 || o == 0x63 ? CX : 0;
	}
	if (d->map == MAP_EVEX5) { /* of half precision */
		if (o == 0x7e)
			return written_rm(d, true);
		return o == 0x2c || o == 0x2d || o == 0x78 || o == 0x79 ? BIT(d->reg) : 0;
	}
	if (d->map == MAP_XOP9)
		return o < 0x20 ? BIT(d->reg) | BIT(d->second) | written_rm(d, true) : 0;
	return d->map == MAP_XOPA ? BIT(d->reg) : 0;
}

/* ---- what they do ---- */

static void be(struct instruction *of, enum instruction_kind kind, uint8_t reg, uint8_t base,
	       int32_t offset)
{
	of->kind = (uint8_t)kind;
	of->reg = reg;
	of->base = base;
	of->offset = offset;
	of->written = 0;
}

static void classify_move(const struct decoder *d, struct instruction *of)
{
	bool load = d->opcode == 0x8b;

	if (!d->w || (d->opcode != 0x89 && !load))
		return;
	if (d->mod == 3)
		be(of, INSTRUCTION_MOVE, load ? d->reg : d->rm, load ? d->rm : d->reg, 0);
	else
		be(of, load ? INSTRUCTION_LOAD : INSTRUCTION_STORE, d->reg, d->base, d->offset);
}

static void classify(const struct decoder *d, struct instruction *of, int32_t immediate)
{
	uint8_t o = d->opcode, which = d->reg & 7;
	bool of_sp = d->mod == 3 && d->rm == REGISTER_SP && d->w;

	if (o >= 0x50 && o <= 0x5f) {
		be(of, o < 0x58 ? INSTRUCTION_PUSH : INSTRUCTION_POP, (o & 7) | d->b, 0, 0);
		/* A push or pop of two bytes. */
		if (d->operand16)
			of->kind = INSTRUCTION_UNKNOWN;
	} else if (o == 0x68 || o == 0x6a || (o == 0xff && which == 6)) {
		be(of, INSTRUCTION_PUSH, REGISTER_NONE, 0, 0);
	} else if (o == 0x8f) {
		be(of, INSTRUCTION_POP, d->mod == 3 ? d->rm : REGISTER_NONE, 0, 0);
	} else if (o == 0x9c || o == 0x9d) { /* pushf, popf */
		be(of, o == 0x9c ? INSTRUCTION_PUSH : INSTRUCTION_POP, REGISTER_NONE, 0, 0);
	} else if ((o == 0x81 || o == 0x83) && of_sp && (which == 0 || which == 5)) {
		be(of, INSTRUCTION_ADD_SP, 0, 0, which == 0 ? immediate : -immediate);
	} else if (o == 0x8d && d->w && d->mod != 3) {
		be(of, INSTRUCTION_ADDRESS, d->reg, d->base, d->offset);
	} else if (o == 0x89 || o == 0x8b) {
		classify_move(d, of);
	} else if (o == 0xc9) {
		be(of, INSTRUCTION_LEAVE, 0, 0, 0);
	} else if (o == 0xc3 || o == 0xc2) {
		be(of, INSTRUCTION_RETURN, 0, 0, o == 0xc2 ? immediate : 0);
	} else if (o == 0xe9 || o == 0xeb) {
		be(of, INSTRUCTION_JUMP, 0, 0, immediate);
	} else if ((o >= 0x70 && o <= 0x7f) || (o >= 0xe0 && o <= 0xe3)) {
		uint16_t written = of->written;

		be(of, INSTRUCTION_BRANCH, 0, 0, immediate);
		of->written = written;
	} else if (o == 0xe8) {
		be(of, INSTRUCTION_CALL, 0, 0, immediate);
	} else if (o == 0xff && (which == 2 || which == 4)) {
		be(of, which == 2 ? INSTRUCTION_CALL_SOMEWHERE : INSTRUCTION_JUMP_SOMEWHERE, 0, 0,
		   0);
	} else if (o == 0xcc || o == 0xf1 || o == 0xf4) {
		be(of, INSTRUCTION_STOP, 0, 0, 0);
	} else if (o == 0xc8 || o == 0xca || o == 0xcb || o == 0xcf || o == 0xff) {
		/* enter, far returns and jumps; ff is also that of inc and dec */
		if (o != 0xff || which > 1)
			of->kind = INSTRUCTION_UNKNOWN;
	}
}

static void decode_one_byte(struct decoder *d, struct instruction *of)
{
	size_t size;
	int32_t immediate = 0;

	if (is_invalid(d->opcode))
		return;
	if (has_modrm(d->opcode))
		read_modrm(d);
	size = immediate_size(d);
	if (size == 3) { /* enter */
		number(d, 2);
		size = 1;
	}
	if (size)
		immediate = number(d, size);
	of->kind = INSTRUCTION_OTHER;
	of->written = written_by(d);
	classify(d, of, immediate);
}

static void decode_0f(struct decoder *d, struct instruction *of)
{
	uint8_t o = d->opcode;
	int32_t immediate = 0;

	if (!d->is_vector && is_invalid_0f(o))
		return;
	if (has_modrm_0f(d))
		read_modrm(d);
	if (!d->is_vector && o >= 0x80 && o <= 0x8f) {
		immediate = number(d, 4);
		be(of, INSTRUCTION_BRANCH, 0, 0, immediate);
		return;
	}
	if (has_immediate_0f(d))
		number(d, 1);
	of->kind = INSTRUCTION_OTHER;
	of->written = written_by_0f(d);
	if (!d->is_vector && (o == 0x0b || o == 0xb9 || o == 0xff || o == 0x07 || o == 0x35))
		be(of, INSTRUCTION_STOP, 0, 0, 0);
	if (!d->is_vector && (o == 0xa0 || o == 0xa8)) /* push fs, gs */
		be(of, INSTRUCTION_PUSH, REGISTER_NONE, 0, 0);
	if (!d->is_vector && (o == 0xa1 || o == 0xa9))
		be(of, INSTRUCTION_POP, REGISTER_NONE, 0, 0);
}

struct instruction instruction_decode(const uint8_t *bytes, size_t size)
{
	struct decoder d = {
		.at = bytes,
		.end = bytes + (size < INSTRUCTION_MAX_SIZE ? size : INSTRUCTION_MAX_SIZE),
	};
	struct instruction of = { .kind = INSTRUCTION_UNKNOWN };

	if (!read_prefixes(&d))
		return of;
	if (d.map == MAP_ONE_BYTE) {
		decode_one_byte(&d, &of);
	} else if (d.map == MAP_0F) {
		decode_0f(&d, &of);
	} else {
		read_modrm(&d);
		if (d.map == MAP_0F3A || d.map == MAP_XOP8)
			number(&d, 1);
		if (d.map == MAP_XOPA)
			number(&d, 4);
		of.kind = INSTRUCTION_OTHER;
		of.written = written_by_more(&d);
	}
	if (d.is_short)
		of.kind = INSTRUCTION_UNKNOWN;
	of.size = (uint8_t)(d.at - bytes);
	return of;
}

uint32_t instruction_padding(const uint8_t *bytes, size_t size)
{
	struct instruction of;
	size_t at = 0;

	if (size && *bytes == 0xcc)
		return 1;
	while (at < size && (bytes[at] == 0x66 || bytes[at] == 0x2e))
		at++;
	if (at >= size ||
	    (bytes[at] != 0x90 && (bytes[at] != 0x0f || at + 1 >= size || bytes[at + 1] != 0x1f)))
		return 0;
	of = instruction_decode(bytes, size);
	return of.kind == INSTRUCTION_UNKNOWN ? 0 : of.size;
}
