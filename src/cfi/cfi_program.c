/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cfi/cfi_program.h"

#include <errno.h>

#define FP_REGISTER    6
#define SP_REGISTER    7
#define KEPT_REGISTER  3
#define MAX_REMEMBERED 32 /* states; compilers go no deeper than 2 */
#define MAX_EXPRESSION (64u << 10)

/* DWARF 5, 7.24; where the high two bits are set, the rest is an operand. */
enum {
	CFA_ADVANCE_LOC = 0x40,
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
	CFA_NOP = 0x00,
	CFA_SET_LOC,
	CFA_ADVANCE_LOC1,
	CFA_ADVANCE_LOC2,
	CFA_ADVANCE_LOC4,
	CFA_OFFSET_EXTENDED,
	CFA_RESTORE_EXTENDED,
	CFA_UNDEFINED,
	CFA_SAME_VALUE,
	CFA_REGISTER,
	CFA_REMEMBER_STATE,
	CFA_RESTORE_STATE,
	CFA_DEF_CFA,
	CFA_DEF_CFA_REGISTER,
	CFA_DEF_CFA_OFFSET,
	CFA_DEF_CFA_EXPRESSION,
	CFA_EXPRESSION,
	CFA_OFFSET_EXTENDED_SF,
	CFA_DEF_CFA_SF,
	CFA_DEF_CFA_OFFSET_SF,
	CFA_VAL_OFFSET,
	CFA_VAL_OFFSET_SF,
	CFA_VAL_EXPRESSION,
	CFA_ADVANCE_LOC8 = 0x1d,
	CFA_GNU_WINDOW_SAVE = 0x2d,
	CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
};

/* DW_EH_PE_*: the low four bits say how it is written, the next three what it is relative to. */
enum {
	PE_ABSPTR = 0x00,
	PE_ULEB128,
	PE_UDATA2,
	PE_UDATA4,
	PE_UDATA8,
	PE_SLEB128 = 0x09,
	PE_SDATA2,
	PE_SDATA4,
	PE_SDATA8,
	PE_PCREL = 0x10,
};

struct run {
	const struct cfi_frame *frame;
	struct byte_reader bytes;
	const uint8_t *first; /* of the bytes */
	uint64_t first_address;
	uint64_t location;
	struct cfi_state state;
	bool changed; /* since the last row */
	uint32_t n_remembered;
	struct cfi_state remembered[MAX_REMEMBERED];
};

bool cfi_read_address(struct byte_reader *reader, uint8_t encoding, uint64_t address,
		      uint64_t *ret_value)
{
	uint64_t value;

	switch (encoding & 0x0f) {
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SDATA8:
		value = read_u64(reader);
		break;
	case PE_ULEB128:
		value = read_uleb(reader);
		break;
	case PE_UDATA2:
		value = read_u16(reader);
		break;
	case PE_UDATA4:
		value = read_u32(reader);
		break;
	case PE_SLEB128:
		value = (uint64_t)read_sleb(reader);
		break;
	case PE_SDATA2:
		value = (uint64_t)(int16_t)read_u16(reader);
		break;
	case PE_SDATA4:
		value = (uint64_t)(int32_t)read_u32(reader);
		break;
	default:
		return false;
	}
	switch (encoding & 0xf0) {
	case 0:
		break;
	case PE_PCREL:
		value += address;
		break;
	default:
		return false;
	}
	*ret_value = value;
	return !reader->failed;
}

/* The register that the number means, or NULL for those nobody asks for. */
static struct cfi_register *tracked(struct run *run, uint64_t number)
{
	if (number == run->frame->ra_register)
		return &run->state.ra;
	switch (number) {
	case FP_REGISTER:
		return &run->state.fp;
	case SP_REGISTER:
		return &run->state.sp;
	case KEPT_REGISTER:
		return &run->state.kept;
	}
	return NULL;
}

static void set_register(struct run *run, uint64_t number, enum cfi_how how, int64_t value)
{
	struct cfi_register *reg = tracked(run, number);

	if (!reg)
		return;
	*reg = (struct cfi_register){ .how = how, .value = value };
	run->changed = true;
}

static int64_t scaled(const struct run *run, int64_t value)
{
	return (int64_t)((uint64_t)value * (uint64_t)run->frame->data_align);
}

static void set_offset(struct run *run, uint64_t number, enum cfi_how how, int64_t factored)
{
	set_register(run, number, how, scaled(run, factored));
}

static void restore(struct run *run, uint64_t number)
{
	struct cfi_register *reg = tracked(run, number);

	if (!reg)
		return;
	if (reg == &run->state.ra)
		*reg = run->frame->initial.ra;
	else if (reg == &run->state.fp)
		*reg = run->frame->initial.fp;
	else
		*reg = reg == &run->state.sp ? run->frame->initial.sp : run->frame->initial.kept;
	run->changed = true;
}

static void set_cfa_offset(struct run *run, int64_t offset)
{
	run->state.cfa_offset = offset;
	run->changed = true;
}

static void set_cfa_register(struct run *run, uint64_t number)
{
	run->state.cfa_register = number;
	run->state.cfa_bytes = NULL;
	run->changed = true;
}

static const uint8_t *read_block(struct run *run, uint32_t *ret_size)
{
	uint64_t size = read_uleb(&run->bytes);
	const uint8_t *bytes;

	if (size > MAX_EXPRESSION)
		bytes_fail(&run->bytes);
	bytes = bytes_skip(&run->bytes, size);
	*ret_size = (uint32_t)size;
	return bytes;
}

static void set_cfa_expression(struct run *run)
{
	run->state.cfa_bytes = read_block(run, &run->state.cfa_size);
	run->changed = true;
}

static void set_expression(struct run *run, enum cfi_how how)
{
	uint64_t number = read_uleb(&run->bytes);
	struct cfi_register *reg = tracked(run, number);
	struct cfi_register is = { .how = how };

	is.bytes = read_block(run, &is.size);
	if (!reg)
		return;
	*reg = is;
	run->changed = true;
}

static void remember(struct run *run)
{
	if (run->n_remembered == MAX_REMEMBERED)
		bytes_fail(&run->bytes);
	else
		run->remembered[run->n_remembered++] = run->state;
}

static void restore_state(struct run *run)
{
	if (!run->n_remembered) {
		bytes_fail(&run->bytes);
		return;
	}
	run->state = run->remembered[--run->n_remembered];
	run->changed = true;
}

/* Instructions that name the CFA. False: it is none of these. */
static bool step_cfa(struct run *run, uint8_t op)
{
	struct byte_reader *bytes = &run->bytes;

	switch (op) {
	case CFA_DEF_CFA:
		set_cfa_register(run, read_uleb(bytes));
		set_cfa_offset(run, (int64_t)read_uleb(bytes));
		return true;
	case CFA_DEF_CFA_SF:
		set_cfa_register(run, read_uleb(bytes));
		set_cfa_offset(run, scaled(run, read_sleb(bytes)));
		return true;
	case CFA_DEF_CFA_REGISTER:
		set_cfa_register(run, read_uleb(bytes));
		return true;
	case CFA_DEF_CFA_OFFSET:
		set_cfa_offset(run, (int64_t)read_uleb(bytes));
		return true;
	case CFA_DEF_CFA_OFFSET_SF:
		set_cfa_offset(run, scaled(run, read_sleb(bytes)));
		return true;
	case CFA_DEF_CFA_EXPRESSION:
		set_cfa_expression(run);
		return true;
	default:
		return false;
	}
}

/* All that does not move the location. */
static void step(struct run *run, uint8_t op)
{
	struct byte_reader *bytes = &run->bytes;
	uint64_t number;

	if (step_cfa(run, op))
		return;
	switch (op) {
	case CFA_NOP:
	case CFA_GNU_WINDOW_SAVE: /* elsewhere another one, without operands too */
		break;
	case CFA_OFFSET_EXTENDED:
		number = read_uleb(bytes);
		set_offset(run, number, CFI_OFFSET, (int64_t)read_uleb(bytes));
		break;
	case CFA_OFFSET_EXTENDED_SF:
		number = read_uleb(bytes);
		set_offset(run, number, CFI_OFFSET, read_sleb(bytes));
		break;
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		number = read_uleb(bytes);
		set_offset(run, number, CFI_OFFSET, (int64_t)(0 - read_uleb(bytes)));
		break;
	case CFA_VAL_OFFSET:
		number = read_uleb(bytes);
		set_offset(run, number, CFI_VALUE, (int64_t)read_uleb(bytes));
		break;
	case CFA_VAL_OFFSET_SF:
		number = read_uleb(bytes);
		set_offset(run, number, CFI_VALUE, read_sleb(bytes));
		break;
	case CFA_RESTORE_EXTENDED:
		restore(run, read_uleb(bytes));
		break;
	case CFA_UNDEFINED:
		set_register(run, read_uleb(bytes), CFI_UNDEFINED, 0);
		break;
	case CFA_SAME_VALUE:
		set_register(run, read_uleb(bytes), CFI_SAME, 0);
		break;
	case CFA_REGISTER:
		number = read_uleb(bytes);
		set_register(run, number, CFI_REGISTER, (int64_t)read_uleb(bytes));
		break;
	case CFA_REMEMBER_STATE:
		remember(run);
		break;
	case CFA_RESTORE_STATE:
		restore_state(run);
		break;
	case CFA_EXPRESSION:
		set_expression(run, CFI_EXPRESSION);
		break;
	case CFA_VAL_EXPRESSION:
		set_expression(run, CFI_VALUE);
		break;
	case CFA_GNU_ARGS_SIZE:
		read_uleb(bytes);
		break;
	default:
		bytes_fail(bytes);
	}
}

/* Reads on to where the location moves, and says where to: false at the end, or on failure. */
static inline bool next_location(struct run *run, uint64_t *ret_location)
{
	struct byte_reader *bytes = &run->bytes;
	uint64_t delta;

	while (bytes->at < bytes->end) {
		uint8_t op = *bytes->at++;

		switch (op & 0xc0) {
		case CFA_ADVANCE_LOC:
			*ret_location = run->location + (op & 0x3f) * run->frame->code_align;
			return true;
		case CFA_OFFSET:
			set_offset(run, op & 0x3f, CFI_OFFSET, (int64_t)read_uleb(bytes));
			continue;
		case CFA_RESTORE:
			restore(run, op & 0x3f);
			continue;
		}
		switch (op) {
		case CFA_ADVANCE_LOC1:
			delta = read_u8(bytes);
			break;
		case CFA_ADVANCE_LOC2:
			delta = read_u16(bytes);
			break;
		case CFA_ADVANCE_LOC4:
			delta = read_u32(bytes);
			break;
		case CFA_ADVANCE_LOC8:
			delta = read_u64(bytes);
			if (delta > UINT32_MAX)
				bytes_fail(bytes);
			break;
		case CFA_SET_LOC:
			if (!cfi_read_address(bytes, run->frame->address_encoding,
					      run->first_address +
						      (uint64_t)(bytes->at - run->first),
					      ret_location) ||
			    *ret_location < run->location)
				bytes_fail(bytes);
			return !bytes->failed;
		default:
			step(run, op);
			continue;
		}
		*ret_location = run->location + delta * run->frame->code_align;
		return !bytes->failed;
	}
	return false;
}

bool cfi_program_begin(struct cfi_frame *frame, const struct cfi_program *program)
{
	struct run run = { .frame = frame,
			   .bytes = program->bytes,
			   .first = program->bytes.at,
			   .first_address = program->address };
	uint64_t location;

	/* A CIE has no code, so nothing to advance over; who tries is ignored, as elsewhere. */
	frame->initial = (struct cfi_state){ .cfa_register = UINT64_MAX };
	run.state = frame->initial;
	while (next_location(&run, &location))
		;
	frame->initial = run.state;
	return !run.bytes.failed;
}

static void put(struct run *run, struct row_writer *writer)
{
	struct wire_rule rule;

	run->changed = false;
	cfi_rule(run->frame, &run->state, &rule);
	row_writer_put_rule(writer, (uint32_t)run->location, &rule);
}

int cfi_program_rows(const struct cfi_frame *frame, const struct cfi_program *program,
		     uint32_t begin, uint32_t end, struct row_writer *writer)
{
	const struct wire_rule malformed = { .cfa = WIRE_CFA_UNSUPPORTED,
					     .extra = RULE_UNSUPPORTED_MALFORMED };
	struct run run;
	uint64_t location;
	size_t size = bytes_left(&program->bytes);
	/* No more rows than instructions, nor than addresses. */
	int r = row_writer_reserve(writer, (size < end - begin ? size : end - begin) + 2);

	if (r)
		return r;
	run.frame = frame;
	run.bytes = program->bytes;
	run.first = program->bytes.at;
	run.first_address = program->address;
	run.location = begin;
	run.state = frame->initial;
	run.changed = true;
	run.n_remembered = 0;
	while (next_location(&run, &location)) {
		if (location == run.location)
			continue;
		if (run.changed)
			put(&run, writer);
		run.location = location;
		if (location >= end)
			return 0;
	}
	if (run.bytes.failed) {
		row_writer_put_rule(writer, (uint32_t)run.location, &malformed);
		return -EBADMSG;
	}
	if (run.changed)
		put(&run, writer);
	return 0;
}
