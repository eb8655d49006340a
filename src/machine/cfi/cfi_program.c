// SPDX-License-Identifier: GPL-2.0-or-later
#include "cfi/cfi_program.h"

#include <errno.h>

#include "cfi/eh_pointer.h"

#define MAX_REMEMBERED 32	   /* states; compilers go no deeper than 2 */
#define MAX_EXPRESSION (64u << 10) /* bytes */

/* DW_CFA_*: DWARF 5, 7.24. If one of the two high bits is set, the other six are an operand. */
enum {
	DW_CFA_ADVANCE_LOC = 0x40,
	DW_CFA_OFFSET = 0x80,
	DW_CFA_RESTORE = 0xc0,
	DW_CFA_NOP = 0x00,
	DW_CFA_SET_LOC,
	DW_CFA_ADVANCE_LOC1,
	DW_CFA_ADVANCE_LOC2,
	DW_CFA_ADVANCE_LOC4,
	DW_CFA_OFFSET_EXTENDED,
	DW_CFA_RESTORE_EXTENDED,
	DW_CFA_UNDEFINED,
	DW_CFA_SAME_VALUE,
	DW_CFA_REGISTER,
	DW_CFA_REMEMBER_STATE,
	DW_CFA_RESTORE_STATE,
	DW_CFA_DEF_CFA,
	DW_CFA_DEF_CFA_REGISTER,
	DW_CFA_DEF_CFA_OFFSET,
	DW_CFA_DEF_CFA_EXPRESSION,
	DW_CFA_EXPRESSION,
	DW_CFA_OFFSET_EXTENDED_SF,
	DW_CFA_DEF_CFA_SF,
	DW_CFA_DEF_CFA_OFFSET_SF,
	DW_CFA_VAL_OFFSET,
	DW_CFA_VAL_OFFSET_SF,
	DW_CFA_VAL_EXPRESSION,
	DW_CFA_ADVANCE_LOC8 = 0x1d,
	DW_CFA_GNU_WINDOW_SAVE = 0x2d, /* on aarch64: the return address is signed from here on */
	DW_CFA_GNU_ARGS_SIZE = 0x2e,
	DW_CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
};

struct run {
	const struct cfi_frame *frame;
	struct byte_reader bytes;
	const uint8_t *first; /* of the bytes; at this address: */
	uint64_t first_address;
	uint64_t location; /* address of code */
	struct cfi_state state;
	bool changed;	  /* since the last row */
	bool interrupted; /* see struct cfi_program */
	uint32_t n_remembered;
	struct cfi_state remembered[MAX_REMEMBERED];
};

/* The state of a register, or NULL for one that no walk needs. */
static struct cfi_register *tracked(struct run *run, uint64_t number)
{
	const struct cfi_machine *machine = run->frame->machine;

	if (number == run->frame->ra_register)
		return &run->state.ra;
	if (number == machine->fp)
		return &run->state.fp;
	if (number == machine->sp)
		return &run->state.sp;
	return number == machine->followed ? &run->state.rbx : NULL;
}

static void set_register(struct run *run, uint64_t number, enum cfi_register_rule rule,
			 int64_t value)
{
	struct cfi_register *reg = tracked(run, number);

	if (!reg)
		return;
	*reg = (struct cfi_register){ .rule = rule, .value = value };
	run->changed = true;
}

static int64_t scaled(const struct run *run, int64_t value)
{
	return (int64_t)((uint64_t)value * (uint64_t)run->frame->data_align);
}

static void set_offset(struct run *run, uint64_t number, enum cfi_register_rule rule,
		       int64_t factored)
{
	set_register(run, number, rule, scaled(run, factored));
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
		*reg = reg == &run->state.sp ? run->frame->initial.sp : run->frame->initial.rbx;
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

static void set_expression(struct run *run, enum cfi_register_rule rule)
{
	uint64_t number = read_uleb(&run->bytes);
	struct cfi_register *reg = tracked(run, number);
	struct cfi_register is = { .rule = rule };

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

/* Instructions that define the CFA. False: it is another one. */
static bool step_cfa(struct run *run, uint8_t op)
{
	struct byte_reader *bytes = &run->bytes;

	switch (op) {
	case DW_CFA_DEF_CFA:
		set_cfa_register(run, read_uleb(bytes));
		set_cfa_offset(run, (int64_t)read_uleb(bytes));
		return true;
	case DW_CFA_DEF_CFA_SF:
		set_cfa_register(run, read_uleb(bytes));
		set_cfa_offset(run, scaled(run, read_sleb(bytes)));
		return true;
	case DW_CFA_DEF_CFA_REGISTER:
		set_cfa_register(run, read_uleb(bytes));
		return true;
	case DW_CFA_DEF_CFA_OFFSET:
		set_cfa_offset(run, (int64_t)read_uleb(bytes));
		return true;
	case DW_CFA_DEF_CFA_OFFSET_SF:
		set_cfa_offset(run, scaled(run, read_sleb(bytes)));
		return true;
	case DW_CFA_DEF_CFA_EXPRESSION:
		set_cfa_expression(run);
		return true;
	default:
		return false;
	}
}

/* An instruction that does not advance the location. */
static void step(struct run *run, uint8_t op)
{
	struct byte_reader *bytes = &run->bytes;
	uint64_t number;

	if (step_cfa(run, op))
		return;
	switch (op) {
	case DW_CFA_NOP:
	case DW_CFA_GNU_WINDOW_SAVE: /* without operands in each of its meanings */
		break;
	case DW_CFA_OFFSET_EXTENDED:
		number = read_uleb(bytes);
		set_offset(run, number, CFI_OFFSET, (int64_t)read_uleb(bytes));
		break;
	case DW_CFA_OFFSET_EXTENDED_SF:
		number = read_uleb(bytes);
		set_offset(run, number, CFI_OFFSET, read_sleb(bytes));
		break;
	case DW_CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		number = read_uleb(bytes);
		set_offset(run, number, CFI_OFFSET, (int64_t)(0 - read_uleb(bytes)));
		break;
	case DW_CFA_VAL_OFFSET:
		number = read_uleb(bytes);
		set_offset(run, number, CFI_VALUE, (int64_t)read_uleb(bytes));
		break;
	case DW_CFA_VAL_OFFSET_SF:
		number = read_uleb(bytes);
		set_offset(run, number, CFI_VALUE, read_sleb(bytes));
		break;
	case DW_CFA_RESTORE_EXTENDED:
		restore(run, read_uleb(bytes));
		break;
	case DW_CFA_UNDEFINED:
		set_register(run, read_uleb(bytes), CFI_UNDEFINED, 0);
		break;
	case DW_CFA_SAME_VALUE:
		set_register(run, read_uleb(bytes), CFI_SAME, 0);
		break;
	case DW_CFA_REGISTER:
		number = read_uleb(bytes);
		set_register(run, number, CFI_REGISTER, (int64_t)read_uleb(bytes));
		break;
	case DW_CFA_REMEMBER_STATE:
		remember(run);
		break;
	case DW_CFA_RESTORE_STATE:
		restore_state(run);
		break;
	case DW_CFA_EXPRESSION:
		set_expression(run, CFI_EXPRESSION);
		break;
	case DW_CFA_VAL_EXPRESSION:
		set_expression(run, CFI_VALUE);
		break;
	case DW_CFA_GNU_ARGS_SIZE:
		read_uleb(bytes);
		break;
	default:
		bytes_fail(bytes);
	}
}

/* Executes up to the next advance of the location. False: there is none, or malformed. */
static inline bool next_location(struct run *run, uint64_t *ret_location)
{
	struct byte_reader *bytes = &run->bytes;
	uint64_t delta;

	while (bytes->at < bytes->end) {
		uint8_t op = *bytes->at++;

		switch (op & 0xc0) {
		case DW_CFA_ADVANCE_LOC:
			*ret_location = run->location + (op & 0x3f) * run->frame->code_align;
			return true;
		case DW_CFA_OFFSET:
			set_offset(run, op & 0x3f, CFI_OFFSET, (int64_t)read_uleb(bytes));
			continue;
		case DW_CFA_RESTORE:
			restore(run, op & 0x3f);
			continue;
		}
		switch (op) {
		case DW_CFA_ADVANCE_LOC1:
			delta = read_u8(bytes);
			break;
		case DW_CFA_ADVANCE_LOC2:
			delta = read_u16(bytes);
			break;
		case DW_CFA_ADVANCE_LOC4:
			delta = read_u32(bytes);
			break;
		case DW_CFA_ADVANCE_LOC8:
			delta = read_u64(bytes);
			if (delta > UINT32_MAX)
				bytes_fail(bytes);
			break;
		case DW_CFA_SET_LOC:
			if (!eh_pointer_read(bytes, run->frame->address_encoding,
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

	/* Advances mean nothing in a CIE: other unwinders ignore them, too. */
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
	if (run->interrupted && WIRE_RULE_RA(&rule) != WIRE_RA_SIGNAL)
		rule.fp |= WIRE_RULE_EXACT;
	row_writer_put_rule(writer, (uint32_t)run->location, &rule);
}

static void run_begin(struct run *run, const struct cfi_frame *frame,
		      const struct cfi_program *program, uint32_t begin)
{
	run->frame = frame;
	run->bytes = program->bytes;
	run->first = program->bytes.at;
	run->first_address = program->address;
	run->location = begin;
	run->state = frame->initial;
	run->changed = true;
	run->interrupted = program->interrupted;
	run->n_remembered = 0;
}

bool cfi_program_is_constant(const struct cfi_frame *frame, const struct cfi_program *program,
			     uint32_t begin, uint32_t end, struct wire_rule *ret_rule)
{
	struct run run;
	uint64_t location = end;

	run_begin(&run, frame, program, begin);
	if ((next_location(&run, &location) && location < end) || run.bytes.failed)
		return false;
	cfi_rule(frame, &run.state, ret_rule);
	return true;
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
	run_begin(&run, frame, program, begin);
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
