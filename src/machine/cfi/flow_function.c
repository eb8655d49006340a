// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "base/grow.h"
#include "cfi/flow_internal.h"

#define MAX_STEPS   (1u << 17) /* instructions followed in a function, repeated ones included */
#define MAX_PADDING 64	       /* bytes */
#define MAX_LOOP    256	       /* instructions */

/* ---- lists and states ---- */

void flow_add_number(struct flow *flow, struct numbers *to, uint32_t number)
{
	int r = grow(&to->numbers, &to->capacity, to->n + 1);

	if (r < 0)
		flow->error = r;
	else
		to->numbers[to->n++] = number;
}

/* The number of a state, from 1 on; 0: there are too many. */
static uint32_t number_of(struct flow *flow, const struct flow_state *state)
{
	uint64_t hash = hash_u64(hash_bytes(state, sizeof(*state)) ^ flow->seed);
	struct index_cursor cursor;
	uint32_t number = index_first(&flow->by_state, hash, &cursor);

	for (; number != INDEX_NONE; number = index_next(&flow->by_state, &cursor)) {
		if (memcmp(&flow->states[number], state, sizeof(*state)) == 0)
			return number;
	}
	if (flow->n_states == FLOW_MAX_STATES)
		return 0;
	flow->error = grow(&flow->states, &flow->states_capacity, flow->n_states + 2);
	if (flow->error)
		return 0;
	flow->error = index_add(&flow->by_state, hash, flow->n_states + 1);
	if (flow->error)
		return 0;
	flow->states[++flow->n_states] = *state;
	return flow->n_states;
}

/* ---- a function ---- */

static bool add_path(struct flow *flow, uint32_t at, const struct flow_state *state, bool doubtful)
{
	uint32_t number = number_of(flow, state);

	if (!number)
		return false;
	flow->error = grow(&flow->paths, &flow->paths_capacity, flow->n_paths + 1);
	if (flow->error)
		return false;
	flow->paths[flow->n_paths++] =
		(struct flow_path){ .at = at, .doubtful = doubtful, .state = number };
	return true;
}

/*
 * Whether an address is in code that other sources know. A function of such code begins there, as
 * the parts of a function have all call frame information or none.
 */
static bool to_other_code(const struct flow *flow, int64_t to)
{
	uint64_t address = flow->address + (uint64_t)to;

	return address <= UINT32_MAX && code_ranges_cover(flow->known, (uint32_t)address);
}

/* Adds the path that a jump begins, which may lead to another function. False: impossible. */
static bool go_to(struct flow *flow, int64_t to, const struct flow_state *state, bool doubtful)
{
	if (to < 0 || to >= flow->size) {
		flow->leaves |= to_other_code(flow, to) && flow_may_leave(state);
		return flow_may_leave(state);
	}
	return add_path(flow, (uint32_t)to, state, doubtful);
}

enum arrival { ARRIVED_FIRST, ARRIVED_AGAIN, ARRIVED_WRONG };

/*
 * Reaches an instruction: *state becomes what holds on all paths to it. *number is the number of
 * the state, or 0: not known yet.
 */
static enum arrival arrive(struct flow *flow, uint32_t at, struct flow_state *state,
			   uint32_t *number, bool doubtful)
{
	uint32_t mark = flow->marks[at];

	if (mark & STATE) {
		const struct flow_state *old = &flow->states[mark & STATE];
		struct flow_state both;

		if (*number == (mark & STATE))
			return ARRIVED_AGAIN;
		if (!flow_meet(old, state, &both))
			return ARRIVED_WRONG;
		if (memcmp(&both, old, sizeof(both)) == 0)
			return ARRIVED_AGAIN;
		/* This function must not change the states of an accepted one. */
		if (!(mark & CURRENT))
			return both.fp == old->fp && both.rbx == old->rbx ? ARRIVED_AGAIN
									  : ARRIVED_WRONG;
		*state = both;
		*number = 0;
	}
	if (!*number)
		*number = number_of(flow, state);
	if (!*number)
		return ARRIVED_WRONG;
	if (!(mark & STATE))
		flow_add_number(flow, &flow->mine, at);
	flow->marks[at] = (mark & ~STATE) | *number | CURRENT | (doubtful ? 0 : CERTAIN);
	return ARRIVED_FIRST;
}

static void mark_end(struct flow *flow, uint32_t end)
{
	if (end < flow->size)
		flow->marks[end] |= BEGINS;
}

uint32_t flow_behind_padding(const struct flow *flow, uint32_t at)
{
	uint32_t end = at, size;

	while (end < flow->size && end - at < MAX_PADDING &&
	       (size = instruction_padding(flow->bytes + end, flow->size - end)) != 0)
		end += size;
	return end;
}

int64_t flow_target_of(const struct flow *flow, uint32_t at, const struct instruction *of)
{
	int64_t to = (int64_t)at + of->size + of->offset;

	return to >= 0 && to < flow->size ? to : -1;
}

bool flow_agrees(const struct flow *flow, uint32_t at, const struct flow_state *state)
{
	struct flow_state both;

	return flow_meet(&flow->states[flow->marks[at] & STATE], state, &both);
}

bool flow_is_known(const struct flow *flow, uint32_t at)
{
	const struct flow_state entry = flow_entry();

	return flow->marks[at] & STATE && !(flow->marks[at] & CURRENT) &&
	       flow_agrees(flow, at, &entry);
}

struct flow_function *flow_function_of(const struct flow *flow, uint32_t at)
{
	return &flow->functions[flow->owners[at]];
}

bool flow_is_call(const struct instruction *of)
{
	return of->kind == INSTRUCTION_CALL || of->kind == INSTRUCTION_CALL_SOMEWHERE;
}

uint16_t flow_written_by_call(struct flow *flow, uint32_t at, const struct instruction *of)
{
	int64_t to = of->kind == INSTRUCTION_CALL ? flow_target_of(flow, at, of) : -1;

	if (to < 0)
		return FLOW_SCRATCH;
	if (!flow_is_known(flow, to)) {
		flow->early = true;
		return FLOW_SCRATCH;
	}
	return flow_function_of(flow, to)->written;
}

/*
 * Whether a loop begins at an address: code behind it jumps back there. Compilers align loops, too.
 */
static bool is_loop(const struct flow *flow, uint32_t begin)
{
	uint32_t at = begin;

	for (uint32_t i = 0; i < MAX_LOOP && at < flow->size; i++) {
		struct instruction of = instruction_decode(flow->bytes + at, flow->size - at);

		if (of.kind == INSTRUCTION_UNKNOWN || of.kind == INSTRUCTION_RETURN || !of.size)
			return false;
		if ((of.kind == INSTRUCTION_BRANCH || of.kind == INSTRUCTION_JUMP) &&
		    flow_target_of(flow, at, &of) == begin)
			return true;
		if (of.kind == INSTRUCTION_JUMP || of.kind == INSTRUCTION_JUMP_SOMEWHERE)
			return false;
		at += of.size;
	}
	return false;
}

enum after_call { CALL_RETURNS, CALL_MAY_RETURN, CALL_ENDS, CALL_WRONG };

/*
 * Whether control goes on behind a call. Compilers align the stack to 16 bytes at calls: another
 * alignment means that this path began within a function, or that assembly calls its own
 * functions. A call that does not return is followed by padding or by another function; one that
 * does, by padding if a loop begins there.
 */
static enum after_call after_call(struct flow *flow, uint32_t at, const struct instruction *of,
				  const struct flow_state *state)
{
	int64_t to = of->kind == INSTRUCTION_CALL ? flow_target_of(flow, at, of) : -1;
	int32_t sp = state->registers[REGISTER_SP];
	uint32_t next = at + of->size, behind;
	bool known = to >= 0 && flow_is_known(flow, to);
	bool returns = known && flow_function_of(flow, to)->returns;

	if (sp != FLOW_UNKNOWN && sp % FLOW_ALIGNMENT) {
		flow->early |= to >= 0 && !known;
		if (!returns)
			return CALL_WRONG;
		flow->misaligned = true;
	} else if (sp != FLOW_UNKNOWN) {
		flow->aligned++;
	}
	if (known && !returns)
		return CALL_ENDS;
	if (next >= flow->size || flow->marks[next] & CALLED)
		return CALL_ENDS;
	behind = flow_behind_padding(flow, next);
	if (behind > next && (flow->address + behind) % FLOW_ALIGNMENT == 0)
		return is_loop(flow, behind) ? CALL_MAY_RETURN : CALL_ENDS;
	return returns && behind == next && flow_function_of(flow, to)->surely_returns
		       ? CALL_RETURNS
		       : CALL_MAY_RETURN;
}

/*
 * Whether a path enters another function on purpose. It may also run into the one behind a call
 * that does not return.
 */
static bool shares(const struct flow *flow, const struct flow_path *path, uint32_t at)
{
	return at == path->at || (!path->doubtful && at != flow_function_of(flow, at)->begin);
}

enum step { STEP_ON, STEP_ENDS, STEP_WRONG };

static enum step step_return(struct flow *flow, uint32_t at, const struct instruction *of,
			     const struct flow_state *state, bool doubtful)
{
	/* No callee pops its arguments. */
	if (of->offset || !flow_may_leave(state))
		return STEP_WRONG;
	flow->returns++;
	flow->surely_returns |= !doubtful;
	flow->marks[at] |= CONFIRMED;
	mark_end(flow, at + of->size);
	return STEP_ENDS;
}

/* Where control goes behind an instruction that has changed the state already. */
static enum step step_on(struct flow *flow, struct flow_path *path, uint32_t at,
			 const struct instruction *of, const struct flow_state *state)
{
	uint32_t next = at + of->size;
	int64_t to = (int64_t)next + of->offset;

	switch (of->kind) {
	case INSTRUCTION_JUMP:
		mark_end(flow, next);
		return go_to(flow, to, state, path->doubtful) ? STEP_ENDS : STEP_WRONG;
	case INSTRUCTION_BRANCH:
		return go_to(flow, to, state, path->doubtful) ? STEP_ON : STEP_WRONG;
	case INSTRUCTION_CALL:
	case INSTRUCTION_CALL_SOMEWHERE:
		switch (after_call(flow, at, of, state)) {
		case CALL_RETURNS:
			return STEP_ON;
		case CALL_MAY_RETURN:
			path->doubtful = true;
			return STEP_ON;
		case CALL_ENDS:
			break;
		case CALL_WRONG:
			return STEP_WRONG;
		}
		mark_end(flow, next);
		return STEP_ENDS;
	case INSTRUCTION_JUMP_SOMEWHERE:
	case INSTRUCTION_STOP:
		mark_end(flow, next);
		return STEP_ENDS;
	default:
		return STEP_ON;
	}
}

/* Follows one path to its end. False: it contradicts another one, or no function does that. */
static bool follow_path(struct flow *flow, struct flow_path *path)
{
	struct flow_state state = flow->states[path->state];
	uint32_t at = path->at, number = path->state;
	enum step step = STEP_ON;

	while (step == STEP_ON) {
		struct instruction of;
		enum arrival arrival;

		if (at >= flow->size || flow->steps++ == flow->last_step)
			return false;
		arrival = arrive(flow, at, &state, &number, path->doubtful);
		if (arrival == ARRIVED_AGAIN && !(flow->marks[at] & CURRENT) &&
		    shares(flow, path, at)) {
			flow->returns += flow_function_of(flow, at)->returns;
			flow->surely_returns |=
				!path->doubtful && flow_function_of(flow, at)->surely_returns;
		}
		if (arrival != ARRIVED_FIRST || flow->error)
			return arrival == ARRIVED_AGAIN;
		of = instruction_decode(flow->bytes + at, flow->size - at);
		if (of.kind == INSTRUCTION_RETURN) {
			step = step_return(flow, at, &of, &state, path->doubtful);
			continue;
		}
		if (flow_is_call(&of))
			of.written = flow_written_by_call(flow, at, &of);
		if (of.kind != INSTRUCTION_OTHER || of.written) {
			number = 0;
			if (!flow_step(&state, &of))
				return false;
		}
		step = step_on(flow, path, at, &of, &state);
		at += of.size;
	}
	return step == STEP_ENDS;
}

void flow_follow_paths(struct flow *flow, uint32_t from)
{
	const struct flow_state entry = flow_entry();

	flow->n_paths = 0;
	flow->last_step = flow->steps + MAX_STEPS;
	flow->returns = 0;
	flow->wrong = 0;
	flow->misaligned = false;
	flow->aligned = 0;
	flow->surely_returns = false;
	flow->leaves = false;
	flow->impossible = !add_path(flow, from, &entry, false);
	while (flow->n_paths && !flow->impossible && !flow->error) {
		struct flow_path path = flow->paths[--flow->n_paths];

		if (!follow_path(flow, &path)) {
			flow->wrong++;
			flow->impossible = !path.doubtful;
		}
	}
}
