// SPDX-License-Identifier: GPL-2.0-or-later
#include "cfi/go_rows.h"

#include <errno.h>
#include <string.h>

#include "base/own.h"
#include "cfi/code_bytes.h"

#define MAX_NAME     64	  /* bytes, more than any name of `specials` */
#define MAX_ASSEMBLY 1024 /* bytes of the runtime's functions that are looked at */

/*
 * The depth in syscall.rawVforkSyscall while parent and child share the stack: the return address
 * is in a register, out of the child's way.
 */
#define POPPED (-8)

enum special {
	NORMAL,
	ENTRY,	/* the outermost function of a stack */
	SYSTEM, /* the outermost function of the system stack while it runs there */
	FRAME,	/* switches to the system stack; rbp points to its frame meanwhile */
	LOST,	/* switches to the system stack; no register points back */
	SIGRETURN,
};

/* Of src/runtime/asm_amd64.s, rt0_linux_amd64.s, sys_linux_amd64.s, time_linux_amd64.s. */
static const struct {
	const char *name;
	enum special special;
} specials[] = {
	{ "runtime.goexit", ENTRY },
	{ "runtime.rt0_go", ENTRY },
	{ "runtime.mstart", ENTRY },
	{ "_rt0_amd64_linux", ENTRY },
	{ "_rt0_amd64", ENTRY },
	{ "_rt0_amd64_linux_lib", ENTRY },
	{ "_rt0_amd64_lib", ENTRY },
	{ "_rt0_amd64_lib_go", ENTRY },
	{ "runtime.mcall", SYSTEM },
	{ "runtime.systemstack", SYSTEM },
	{ "runtime.morestack", SYSTEM },
	{ "runtime.gogo", SYSTEM },
	{ "gogo", SYSTEM },
	{ "runtime.nanotime1", FRAME },
	{ "runtime.walltime", FRAME },
	{ "runtime.walltime1", FRAME },
	{ "time.now", FRAME },
	{ "runtime.asmcgocall", LOST },
	{ "runtime.sigreturn", SIGRETURN },
	{ "runtime.sigreturn__sigaction", SIGRETURN },
};

static enum special special_of(const struct go_table *table, const struct go_function *function)
{
	char name[MAX_NAME];

	if (!go_table_name(table, function, name, sizeof(name)))
		return NORMAL;
	/* Functions of most packages need no comparison. */
	if (name[0] != 'r' && name[0] != '_' && name[0] != 'g' && strncmp(name, "time.", 5) != 0)
		return NORMAL;
	for (uint32_t i = 0; i < sizeof(specials) / sizeof(specials[0]); i++) {
		const char *end = name + strlen(specials[i].name);

		/* The ABI may follow the name. */
		if (strncmp(name, specials[i].name, strlen(specials[i].name)) == 0 &&
		    (!*end || strncmp(end, ".abi0", 5) == 0))
			return specials[i].special;
	}
	return NORMAL;
}

int go_rows_ranges(const struct go_table *table, const struct code_view *code,
		   struct code_ranges *ranges, struct unwind_counts *counts)
{
	struct go_function function;
	struct code_range range = { .source = UNWIND_GO };
	int r;

	for (uint32_t i = 0; i < table->n_functions; i++) {
		const struct code_segment *segment;

		if (!go_table_function(table, i, &function)) {
			counts->malformed++;
			continue;
		}
		if (!function.depths)
			continue;
		segment = code_view_segment(code, function.begin);
		if (!segment || function.end <= function.begin) {
			counts->outside++;
			continue;
		}
		if (function.end > segment->end)
			function.end = segment->end;
		range.begin = (uint32_t)function.begin;
		range.end = (uint32_t)function.end;
		range.context = i;
		range.program = special_of(table, &function);
		/* A walk looks up the byte before a return address. */
		if (range.program == SIGRETURN && range.begin > segment->begin)
			range.begin--;
		r = code_ranges_add(ranges, &range);
		if (r < 0)
			return r;
	}
	return 0;
}

/* A function whose rows are written. */
struct frame {
	const struct code_view *code;
	struct row_writer *writer;
	enum special special;
	uint32_t begin, end;
	bool looked;	/* for where the frame pointer is saved */
	uint64_t saved; /* the address from which on it is; UINT64_MAX: never */
	/* The addresses at which it switches to another stack and back; both `end` if it does not.
	 */
	uint64_t leaves, returns;
	uint8_t ra_register; /* holds the return address while the depth is POPPED */
};

/*
 * The address behind the instruction that saves the frame pointer below the return address: push
 * %rbp, or mov %rbp,depth-8(%rsp). The stack is `depth` deep from `address` on. UINT64_MAX: there
 * is none.
 */
static uint64_t find_save(const struct frame *frame, uint64_t address, int64_t depth)
{
	uint8_t code[9];
	size_t n = code_view_read(frame->code, address - 1, code, sizeof(code));
	int32_t at;

	if (n < sizeof(code))
		return UINT64_MAX;
	if (depth == 8 && code[0] == 0x55)
		return address;
	if (code_matches(code + 1, n - 1, "48 89 6c 24") && (int8_t)code[5] == depth - 8)
		return address + 5;
	memcpy(&at, code + 5, sizeof(at));
	if (code_matches(code + 1, n - 1, "48 89 ac 24") && at == depth - 8)
		return address + 8;
	return UINT64_MAX;
}

/*
 * The register that the instruction before the address pops the return address into, one of r8 to
 * r15; 0 for any other instruction.
 */
static uint8_t find_popped(const struct frame *frame, uint64_t address)
{
	uint8_t code[2];

	if (code_view_read(frame->code, address - 2, code, sizeof(code)) < sizeof(code) ||
	    code[0] != 0x41 || (code[1] & 0xf8) != 0x58)
		return 0;
	return 8 | (code[1] & 7);
}

/*
 * The size of an instruction that loads the stack pointer from a register, or from memory at a
 * small offset; 0 for others.
 */
static size_t loads_sp(const uint8_t *code, size_t left)
{
	if (left < 4)
		return 0;
	/* mov %reg,%rsp or mov n(%reg),%rsp; the register may be one of r8 to r15. */
	if ((code[0] == 0x48 || code[0] == 0x4c) && code[1] == 0x89 && (code[2] & 0xc7) == 0xc4)
		return 3;
	return (code[0] == 0x48 || code[0] == 0x49) && code[1] == 0x8b &&
			       (code[2] & 0xf8) == 0x60 && (code[2] & 7) != 4
		       ? 4
		       : 0;
}

static void find_switches(struct frame *frame)
{
	uint8_t code[MAX_ASSEMBLY];
	size_t size = frame->end - frame->begin;

	if (size > sizeof(code))
		size = sizeof(code);
	size = code_view_read(frame->code, frame->begin, code, size);
	for (size_t at = 0; at < size; at++) {
		size_t length = loads_sp(code + at, size - at);

		if (!length)
			continue;
		if (frame->leaves == frame->end) {
			frame->leaves = frame->begin + at + length;
			if (frame->special == LOST)
				return;
		} else {
			frame->returns = frame->begin + at + length;
			return;
		}
	}
}

static struct wire_rule rule_of(const struct frame *frame, uint64_t address, int64_t depth)
{
	struct wire_rule rule = { .cfa = WIRE_CFA_SP, .cfa_offset = (int32_t)depth + 8 };
	bool away = address >= frame->leaves && address < frame->returns;

	if (depth == POPPED)
		return (struct wire_rule){ .cfa = WIRE_CFA_SP,
					   .ra = WIRE_RA_REG,
					   .reg = frame->ra_register };
	if (frame->special == ENTRY || (frame->special == SYSTEM && away))
		return (struct wire_rule){ .cfa = WIRE_CFA_SP, .ra = WIRE_RA_ENTRY };
	if (frame->special == LOST && away)
		return (struct wire_rule){ .cfa = WIRE_CFA_UNSUPPORTED,
					   .extra = RULE_UNSUPPORTED_OTHER };
	if (frame->special == FRAME && away) {
		rule.cfa = WIRE_CFA_FP;
		rule.cfa_offset = 16;
		rule.ra = WIRE_RA_CFA | WIRE_RULE_NEW_STACK;
	}
	if (address >= frame->saved && depth >= 8) {
		rule.fp = WIRE_FP_CFA;
		rule.fp_offset = -16;
	}
	return rule;
}

/* The rows of a piece of one depth, within which the frame pointer or the stack may change. */
static int put_piece(struct frame *frame, uint64_t begin, uint64_t end, int64_t depth)
{
	const uint64_t borders[] = { begin, frame->saved, frame->leaves, frame->returns };
	int r = row_writer_reserve(frame->writer, 4);

	if (r < 0)
		return r;
	for (uint64_t at = begin, next; at < end; at = next) {
		struct wire_rule rule = rule_of(frame, at, depth);

		row_writer_put_rule(frame->writer, (uint32_t)at, &rule);
		next = end;
		for (uint32_t i = 0; i < sizeof(borders) / sizeof(borders[0]); i++) {
			if (borders[i] > at && borders[i] < next)
				next = borders[i];
		}
	}
	return 0;
}

/* Whether a function's stack can be so deep. */
static bool is_depth(const struct frame *frame, int64_t depth)
{
	return (depth >= 0 && depth <= INT32_MAX - 8) || (depth == POPPED && frame->ra_register);
}

static int put_single(struct frame *frame, const struct wire_rule *rule, uint64_t from)
{
	int r = row_writer_reserve(frame->writer, 1);

	if (r < 0)
		return r;
	if (from < frame->end)
		row_writer_put_rule(frame->writer, (uint32_t)from, rule);
	return 0;
}

int go_rows_put(const struct go_table *table, const struct code_view *code,
		const struct code_range *range, struct row_writer *writer)
{
	const struct wire_rule signal = { .cfa = WIRE_CFA_SP, .ra = WIRE_RA_SIGNAL };
	const struct wire_rule malformed = { .cfa = WIRE_CFA_UNSUPPORTED,
					     .extra = RULE_UNSUPPORTED_MALFORMED };
	struct frame frame = { .code = code,
			       .writer = writer,
			       .special = (enum special)range->program,
			       .begin = range->begin,
			       .end = range->end,
			       .saved = UINT64_MAX,
			       .leaves = range->end,
			       .returns = range->end };
	struct go_function function;
	struct go_depth depth;
	uint64_t end;
	int r;

	if (!go_table_function(table, range->context, &function)) {
		r = put_single(&frame, &malformed, frame.begin);
		return r < 0 ? r : -EBADMSG;
	}
	if (frame.special == SIGRETURN)
		return put_single(&frame, &signal, frame.begin);
	if (frame.special == SYSTEM || frame.special == FRAME || frame.special == LOST)
		find_switches(&frame);
	go_depth_begin(table, &function, &depth);
	while (depth.end < frame.end && go_depth_next(&depth)) {
		if (depth.depth == POPPED)
			frame.ra_register = find_popped(&frame, depth.begin);
		if (!is_depth(&frame, depth.depth))
			break;
		if (depth.depth && !frame.looked && depth.begin > frame.begin) {
			frame.saved = find_save(&frame, depth.begin, depth.depth);
			frame.looked = true;
		}
		end = depth.end < frame.end ? depth.end : frame.end;
		r = put_piece(&frame, depth.begin, end, depth.depth);
		if (r < 0)
			return r;
	}
	if (depth.bytes.failed || !is_depth(&frame, depth.depth)) {
		r = put_single(&frame, &malformed,
			       depth.begin > frame.begin ? depth.begin : frame.begin);
		return r < 0 ? r : -EBADMSG;
	}
	if (depth.end >= frame.end)
		return 0;
	/* Padding follows. */
	r = row_writer_reserve(writer, 1);
	if (r < 0)
		return r;
	row_writer_put(writer, (uint32_t)depth.end, RULE_GAP);
	return 0;
}
