// SPDX-License-Identifier: GPL-2.0-or-later
#include "cfi/constant_frames.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "cfi/flow_state.h"
#include "cfi/instruction.h"

#define MAX_CODE   (256u << 10) /* bytes of a range that is searched */
#define MIN_CODE   64u		/* the cold parts of compiled functions are mostly smaller */
#define MAX_READ   (16u << 20)	/* bytes of a file */
#define MAX_PATHS  64
#define MAX_STATES 4096 /* instructions of a subroutine */
#define MAX_LEAVE  24	/* instructions of an epilogue */

/* Of the byte at which an instruction begins. */
#define INSTRUCTION (1u << 0)
#define BLOCK	    (1u << 1) /* control does not get there from the instruction before */
#define CALLED	    (1u << 2)

#define ENTRY_DEPTH 8 /* bytes below the CFA */

struct path {
	uint32_t at;
	struct flow_state state;
};

/* What is followed from one address. */
struct trial {
	uint32_t n_paths, n, ends;
	struct path paths[MAX_PATHS];
	uint32_t places[MAX_STATES]; /* of the states */
	struct flow_state states[MAX_STATES];
};

/* Positions (`at`, `from` ...) are offsets in the range. */
struct assembly {
	struct rule_table *rules;
	uint32_t left; /* bytes of the file that may still be searched */
	uint32_t size;
	struct flow_state framed; /* what the call frame information says */
	struct trial *trial;
	/* Of MAX_CODE elements: */
	uint8_t *bytes;
	uint8_t *marks;
	uint16_t *tried; /* from 1 on: the trial's state */
	uint16_t *found; /* the number of the rule; 0: as the call frame information says */
};

static void assembly_free(struct assembly *all)
{
	free(all->bytes);
	free(all->marks);
	free(all->tried);
	free(all->found);
	free(all->trial);
}

static int assembly_open(struct assembly *all)
{
	all->bytes = malloc(MAX_CODE);
	all->marks = malloc(MAX_CODE);
	all->tried = calloc(MAX_CODE, sizeof(*all->tried));
	all->found = malloc(MAX_CODE * sizeof(*all->found));
	all->trial = malloc(sizeof(*all->trial));
	return all->bytes && all->marks && all->tried && all->found && all->trial ? 0 : -ENOMEM;
}

/* ---- instructions one after another ---- */

static struct instruction decode(const struct assembly *all, uint32_t at)
{
	return instruction_decode(all->bytes + at, all->size - at);
}

/* The target of a direct jump or call within the range, or -1. */
static int64_t target_of(const struct assembly *all, uint32_t at, const struct instruction *of)
{
	int64_t to = (int64_t)at + of->size + of->offset;

	return to >= 0 && to < all->size ? to : -1;
}

static bool is_call(const struct instruction *of)
{
	return of->kind == INSTRUCTION_CALL || of->kind == INSTRUCTION_CALL_SOMEWHERE;
}

static bool is_end(const struct instruction *of)
{
	return of->kind == INSTRUCTION_RETURN || of->kind == INSTRUCTION_JUMP ||
	       of->kind == INSTRUCTION_JUMP_SOMEWHERE || of->kind == INSTRUCTION_STOP;
}

/* Whether any instruction returns, without which there is nothing to correct. */
static bool mark_instructions(struct assembly *all)
{
	bool behind_end = true, returns = false;
	uint32_t at = 0;

	memset(all->marks, 0, all->size);
	while (at < all->size) {
		uint32_t padding =
			behind_end ? instruction_padding(all->bytes + at, all->size - at) : 0;
		struct instruction of;
		int64_t to;

		if (padding) {
			at += padding;
			continue;
		}
		of = decode(all, at);
		if (of.kind == INSTRUCTION_UNKNOWN || !of.size)
			break;
		all->marks[at] |= INSTRUCTION | (behind_end ? BLOCK : 0);
		to = of.kind == INSTRUCTION_CALL ? target_of(all, at, &of) : -1;
		if (to >= 0 && of.offset)
			all->marks[to] |= CALLED;
		behind_end = is_end(&of);
		returns |= of.kind == INSTRUCTION_RETURN;
		at += of.size;
	}
	return returns;
}

/* ---- subroutines and entries ---- */

static bool is_framed(const struct assembly *all, const struct flow_state *state)
{
	return state->registers[REGISTER_SP] == all->framed.registers[REGISTER_SP] &&
	       state->fp == all->framed.fp && state->rbx == all->framed.rbx;
}

static bool add_path(struct trial *trial, uint32_t at, const struct flow_state *state)
{
	if (trial->n_paths == MAX_PATHS)
		return false;
	trial->paths[trial->n_paths++] = (struct path){ .at = at, .state = *state };
	return true;
}

enum step { STEP_ON, STEP_ENDS, STEP_WRONG };

/* Notes that control gets there in that state, which becomes what holds on all paths to it. */
static enum step arrive(struct assembly *all, uint32_t at, struct flow_state *state)
{
	struct trial *trial = all->trial;
	struct flow_state both, *old;

	if (at >= all->size || !(all->marks[at] & INSTRUCTION))
		return STEP_WRONG;
	if (is_framed(all, state)) {
		trial->ends++;
		return STEP_ENDS;
	}
	if (!all->tried[at]) {
		if (trial->n == MAX_STATES)
			return STEP_WRONG;
		trial->places[trial->n] = at;
		trial->states[trial->n] = *state;
		all->tried[at] = (uint16_t)++trial->n;
		return STEP_ON;
	}
	old = &trial->states[all->tried[at] - 1];
	if (!flow_meet(old, state, &both))
		return STEP_WRONG;
	if (memcmp(&both, old, sizeof(both)) == 0)
		return STEP_ENDS;
	*old = *state = both;
	return STEP_ON;
}

/* Moves `*at` to where control goes on. */
static enum step step(struct assembly *all, uint32_t *at, struct flow_state *state)
{
	struct instruction of = decode(all, *at);
	uint32_t next = *at + of.size;
	int64_t to;

	if (is_call(&of))
		of.written = FLOW_SCRATCH;
	switch (of.kind) {
	case INSTRUCTION_RETURN:
		if (of.offset || !flow_may_leave(state))
			return STEP_WRONG;
		all->trial->ends++;
		return STEP_ENDS;
	case INSTRUCTION_JUMP:
	case INSTRUCTION_BRANCH:
		to = target_of(all, *at, &of);
		if (to < 0)
			return STEP_WRONG;
		if (of.kind == INSTRUCTION_BRANCH && !add_path(all->trial, (uint32_t)to, state))
			return STEP_WRONG;
		*at = of.kind == INSTRUCTION_BRANCH ? next : (uint32_t)to;
		return STEP_ON;
	case INSTRUCTION_STOP:
		return STEP_ENDS;
	case INSTRUCTION_JUMP_SOMEWHERE:
		return STEP_WRONG;
	default:
		*at = next;
		return flow_step(state, &of) ? STEP_ON : STEP_WRONG;
	}
}

/*
 * Follows all paths from an address that may be called. True: all of them return, or set up the
 * frame that the call frame information states.
 */
static bool follow(struct assembly *all, uint32_t from)
{
	struct trial *trial = all->trial;
	const struct flow_state entry = flow_entry();

	trial->n_paths = trial->n = trial->ends = 0;
	add_path(trial, from, &entry);
	while (trial->n_paths) {
		struct path path = trial->paths[--trial->n_paths];
		enum step result = STEP_ON;

		while (result == STEP_ON) {
			result = arrive(all, path.at, &path.state);
			if (result == STEP_ON)
				result = step(all, &path.at, &path.state);
		}
		if (result == STEP_WRONG)
			return false;
	}
	return trial->ends > 0;
}

/* ---- what was found ---- */

/* 0: none, and the call frame information holds. */
static uint16_t rule_of(struct assembly *all, const struct flow_state *state)
{
	struct wire_rule rule;

	return flow_rule(state, &rule) ? rule_table_add(all->rules, &rule) : 0;
}

/* Keeps the states of a trial, unless others were found for some of its instructions. */
static void keep_trial(struct assembly *all, bool is_right)
{
	const struct trial *trial = all->trial;

	for (uint32_t i = 0; i < trial->n; i++)
		is_right = is_right && !all->found[trial->places[i]];
	for (uint32_t i = 0; i < trial->n; i++) {
		all->tried[trial->places[i]] = 0;
		if (is_right)
			all->found[trial->places[i]] = rule_of(all, &trial->states[i]);
	}
}

static void find_called(struct assembly *all)
{
	for (uint32_t at = 0; at < all->size; at++) {
		if ((all->marks[at] & (BLOCK | CALLED)) && (all->marks[at] & INSTRUCTION) &&
		    !all->found[at])
			keep_trial(all, follow(all, at));
	}
}

/*
 * Whether the code from `from` on, where the frame is as stated, returns without doing anything
 * else: then the instructions behind it have the frames that are left.
 */
static bool leaves(struct assembly *all, uint32_t from)
{
	struct trial *trial = all->trial;
	struct flow_state state = all->framed;
	uint32_t at = from;

	trial->n = 0;
	while (at < all->size && trial->n < MAX_LEAVE) {
		struct instruction of = decode(all, at);

		if (of.kind == INSTRUCTION_RETURN)
			return !of.offset && flow_may_leave(&state);
		if (is_end(&of) || is_call(&of) || of.kind == INSTRUCTION_BRANCH ||
		    !flow_step(&state, &of))
			return false;
		at += of.size;
		if (at >= all->size)
			break;
		trial->places[trial->n] = at;
		trial->states[trial->n++] = state;
	}
	return false;
}

static void find_leaving(struct assembly *all)
{
	for (uint32_t at = 0; at < all->size; at++) {
		struct instruction of;

		if (!(all->marks[at] & INSTRUCTION) || all->found[at])
			continue;
		of = decode(all, at);
		if (of.kind == INSTRUCTION_POP || (of.kind == INSTRUCTION_ADD_SP && of.offset > 0))
			keep_trial(all, leaves(all, at));
	}
}

/* ---- frames at the frame pointer ---- */

/* push %rbp; mov %rsp,%rbp, and leave; ret */
static const uint8_t prologue_code[] = { 0x55, 0x48, 0x89, 0xe5 };
static const uint8_t epilogue_code[] = { 0xc9, 0xc3 };
#define FRAME_AT_FP 16 /* bytes from the frame pointer to the CFA */

static bool is_at_fp(const struct wire_rule *rule)
{
	return rule->cfa == WIRE_CFA_FP && rule->cfa_offset == FRAME_AT_FP &&
	       rule->fp == WIRE_FP_CFA && rule->fp_offset == -FRAME_AT_FP &&
	       WIRE_RULE_RA(rule) == WIRE_RA_CFA;
}

/* A frame that the function makes at its first bytes, and has until it returns. */
static void find_prologue(struct assembly *all)
{
	struct flow_state state = flow_entry();
	uint32_t at = sizeof(prologue_code);
	uint16_t outside;

	if (memcmp(all->bytes, prologue_code, sizeof(prologue_code)) != 0)
		return;
	outside = rule_of(all, &state);
	for (; at + 1 < all->size; at++) {
		if (all->marks[at] & all->marks[at + 1] & INSTRUCTION &&
		    memcmp(all->bytes + at, epilogue_code, sizeof(epilogue_code)) == 0)
			all->found[at + 1] = outside;
	}
	all->found[0] = outside;
	state.registers[REGISTER_SP] += 8;
	state.fp = FRAME_AT_FP;
	all->found[1] = rule_of(all, &state);
}

/* ---- LuaJIT ---- */

/*
 * Where LuaJIT's interpreter goes on after the code of a trace: mov 80(%rbp),%rcx; and $~3,%rcx;
 * mov %rbp,16(%rcx). They take the frame from the Lua state and put the state into the frame, and
 * say so that both are laid out as bpf/unwind_luajit.h has it.
 */
static const uint8_t exit_code[] = { 0x48, 0x8b, 0x4d, 0x50, 0x48, 0x83,
				     0xe1, 0xfc, 0x48, 0x89, 0x69, 0x10 };
/* mov %rcx,%rsp: the stack pointer is at the frame again. */
static const uint8_t back_code[] = { 0x48, 0x89, 0xcc };
#define MAX_BACK 64u /* bytes from the one to the other */
/* sub $16,%rsp; mov %r12,16(%rsp); mov %r13,8(%rsp); jmp *%rax: into the code of a trace */
static const uint8_t enter_code[] = { 0x48, 0x83, 0xec, 0x10, 0x4c, 0x89, 0x64, 0x24,
				      0x10, 0x4c, 0x89, 0x6c, 0x24, 0x08, 0xff, 0xe0 };
#define ENTER_FIRST 4u /* the size of its first instruction, which still has the frame */

/* Where the bytes are in [from, end), or -1. */
static int64_t find_bytes(const struct assembly *all, uint32_t from, uint32_t end,
			  const uint8_t *bytes, size_t size)
{
	const uint8_t *at = memmem(all->bytes + from, end - from, bytes, size);

	return at ? at - all->bytes : -1;
}

/* Below the frame of [from, end) is what a trace and an exit from it have there. */
static void keep_luajit(struct assembly *all, uint16_t rule, uint32_t from, uint32_t end)
{
	for (uint32_t at = from; at < end; at++) {
		if (all->marks[at] & INSTRUCTION)
			all->found[at] = rule;
	}
}

static void find_luajit(struct assembly *all, const struct wire_rule *framed)
{
	int64_t leaves = find_bytes(all, 0, all->size, exit_code, sizeof(exit_code)), back, enter;
	struct wire_rule rule = *framed;
	uint32_t from;
	uint16_t number;

	if (leaves < 0 || framed->cfa_offset != WIRE_LUAJIT_FRAME)
		return;
	from = (uint32_t)leaves;
	back = find_bytes(all, from, all->size - from < MAX_BACK ? all->size : from + MAX_BACK,
			  back_code, sizeof(back_code));
	while (from > 0 && !(all->marks[from] & BLOCK))
		from--;
	rule.cfa = WIRE_CFA_LUAJIT;
	number = rule_table_add(all->rules, &rule);
	if (back >= 0)
		keep_luajit(all, number, from, (uint32_t)back + 1);
	for (from = 0;; from = (uint32_t)enter + 1) {
		enter = find_bytes(all, from, all->size, enter_code, sizeof(enter_code));
		if (enter < 0)
			break;
		keep_luajit(all, number, (uint32_t)enter + ENTER_FIRST,
			    (uint32_t)enter + (uint32_t)sizeof(enter_code));
	}
}

/* ---- ranges ---- */

static uint32_t end_of(const struct assembly *all, uint32_t at)
{
	uint16_t rule = all->found[at];

	if (!rule) {
		while (at < all->size && !all->found[at])
			at++;
		return at;
	}
	while (at < all->size && all->found[at] == rule)
		at += decode(all, at).size;
	return at < all->size ? at : all->size;
}

/* Replaces range `i` by its pieces. */
static int split(struct assembly *all, struct code_ranges *ranges, uint32_t i)
{
	const struct code_range whole = ranges->ranges[i];
	int r = 0;

	for (uint32_t at = 0, end; at < all->size && r == 0; at = end) {
		struct code_range piece = whole;

		end = end_of(all, at);
		if (all->found[at])
			piece = (struct code_range){ .context = all->found[at],
						     .source = UNWIND_CODE };
		piece.begin = whole.begin + at;
		piece.end = whole.begin + end;
		if (at == 0)
			ranges->ranges[i] = piece;
		else
			r = code_ranges_add(ranges, &piece);
	}
	return r;
}

/* False: no walk by such a rule is made here. */
static bool state_of(const struct wire_rule *rule, struct flow_state *ret_state)
{
	struct flow_state state = flow_entry();

	if (rule->cfa != WIRE_CFA_SP || rule->cfa_offset <= ENTRY_DEPTH ||
	    WIRE_RULE_RA(rule) != WIRE_RA_CFA || rule->ra & WIRE_RULE_NEW_STACK ||
	    (rule->fp != WIRE_FP_CFA && rule->fp != WIRE_FP_SAME))
		return false;
	state.registers[REGISTER_SP] = rule->cfa_offset;
	state.fp = rule->fp == WIRE_FP_CFA ? -rule->fp_offset : FLOW_SAME;
	if (rule->ra & WIRE_RULE_RBX_SAVED)
		state.rbx = -rule->extra;
	else if (rule->ra & WIRE_RULE_RBX_LOST)
		state.rbx = FLOW_LOST;
	state.kept = (state.fp == FLOW_SAME ? FLOW_KEEPS_FP : 0) |
		     (state.rbx == FLOW_SAME ? FLOW_KEEPS_RBX : 0);
	*ret_state = state;
	return true;
}

static int correct(struct assembly *all, const struct code_view *code,
		   const struct wire_rule *framed, struct code_ranges *ranges, uint32_t i)
{
	const struct code_range *range = &ranges->ranges[i];

	all->size = range->end - range->begin;
	if (all->size < MIN_CODE || all->size > MAX_CODE || all->size > all->left)
		return 0;
	all->left -= all->size;
	if (code_view_read(code, range->begin, all->bytes, all->size) != all->size ||
	    !mark_instructions(all))
		return 0;
	memset(all->found, 0, all->size * sizeof(*all->found));
	if (is_at_fp(framed)) {
		find_prologue(all);
	} else {
		find_called(all);
		find_leaving(all);
		find_luajit(all, framed);
	}
	return split(all, ranges, i);
}

int constant_frames_correct(const struct code_view *code, const struct call_frames *frames,
			    struct rule_table *rules, struct code_ranges *ranges)
{
	own(assembly_free) struct assembly all = { .rules = rules, .left = MAX_READ };
	uint32_t n = ranges->n;
	int r = 0;

	if (code->elf->machine != EM_X86_64)
		return 0;
	for (uint32_t i = 0; i < n && r == 0; i++) {
		struct wire_rule rule;

		if (!call_frames_is_constant(frames, &ranges->ranges[i], &rule) ||
		    !(is_at_fp(&rule) || state_of(&rule, &all.framed)))
			continue;
		if (!all.bytes)
			r = assembly_open(&all);
		if (r == 0)
			r = correct(&all, code, &rule, ranges, i);
	}
	return r;
}
