// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cfi/flow_internal.h"

#define MAX_STEPS   (1u << 17) /* of a function, followed again included */
#define MAX_PADDING 64	       /* bytes */
/* From where a function returns backwards: once for each loop in a loop, in code as it is. */
#define MAX_ROUNDS 16

/* ---- lists and states ---- */

static void *grown(struct flow *flow, void *list, uint32_t n, uint32_t *room, size_t size)
{
	uint32_t more = *room ? *room * 2 : 1024;
	void *larger;

	if (n < *room)
		return list;
	larger = reallocarray(list, more, size);
	if (!larger) {
		flow->error = -ENOMEM;
		return list;
	}
	*room = more;
	return larger;
}

static void add_number(struct flow *flow, struct numbers *to, uint32_t number)
{
	to->numbers = grown(flow, to->numbers, to->n, &to->room, sizeof(*to->numbers));
	if (!flow->error)
		to->numbers[to->n++] = number;
}

/* Its number, from 1 on; 0: there are too many. */
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
	flow->states =
		grown(flow, flow->states, flow->n_states + 1, &flow->states_room, sizeof(*state));
	if (flow->error)
		return 0;
	flow->error = index_add(&flow->by_state, hash, flow->n_states + 1);
	if (flow->error)
		return 0;
	flow->states[++flow->n_states] = *state;
	return flow->n_states;
}

/* ---- a function ---- */

static bool add_way(struct flow *flow, uint32_t at, const struct flow_state *state, bool doubtful)
{
	uint32_t number = number_of(flow, state);

	if (!number)
		return false;
	flow->ways = grown(flow, flow->ways, flow->n_ways, &flow->ways_room, sizeof(*flow->ways));
	if (flow->error)
		return false;
	flow->ways[flow->n_ways++] =
		(struct flow_way){ .at = at, .doubtful = doubtful, .state = number };
	return true;
}

/* Control goes to `to`, which may be in another function. */
static bool go_to(struct flow *flow, int64_t to, const struct flow_state *state, bool doubtful)
{
	if (to < 0 || to >= flow->size)
		return flow_may_leave(state);
	return add_way(flow, (uint32_t)to, state, doubtful);
}

enum arrival { ARRIVED_FIRST, ARRIVED_AGAIN, ARRIVED_WRONG };

/*
 * What holds at an instruction, now that it is reached in this state, too. `number` is that of the
 * state, or 0: not known yet.
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
		/* What another function was found to do is not to be doubted by this one. */
		if (!(mark & CURRENT))
			return both.fp == old->fp && both.kept == old->kept ? ARRIVED_AGAIN
									    : ARRIVED_WRONG;
		*state = both;
		*number = 0;
	}
	if (!*number)
		*number = number_of(flow, state);
	if (!*number)
		return ARRIVED_WRONG;
	if (!(mark & STATE))
		add_number(flow, &flow->mine, at);
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

/* Where control goes by its offset, or -1: to no code of this piece. */
static int64_t target_of(const struct flow *flow, uint32_t at, const struct instruction *of)
{
	int64_t to = (int64_t)at + of->size + of->offset;

	return to >= 0 && to < flow->size ? to : -1;
}

static bool agree(const struct flow *flow, uint32_t at, const struct flow_state *state)
{
	struct flow_state both;

	return flow_meet(&flow->states[flow->marks[at] & STATE], state, &both);
}

bool flow_is_known(const struct flow *flow, uint32_t at)
{
	const struct flow_state entry = flow_entry();

	return flow->marks[at] & STATE && !(flow->marks[at] & CURRENT) && agree(flow, at, &entry);
}

struct flow_function *flow_function_of(const struct flow *flow, uint32_t at)
{
	return &flow->functions[flow->owners[at]];
}

static bool is_call(const struct instruction *of)
{
	return of->kind == INSTRUCTION_CALL || of->kind == INSTRUCTION_CALL_SOMEWHERE;
}

static uint16_t written_by_call(struct flow *flow, uint32_t at, const struct instruction *of)
{
	int64_t to = of->kind == INSTRUCTION_CALL ? target_of(flow, at, of) : -1;

	if (to < 0)
		return FLOW_SCRATCH;
	if (!flow_is_known(flow, to)) {
		flow->early = true;
		return FLOW_SCRATCH;
	}
	return flow_function_of(flow, to)->written;
}

enum after_call { CALL_RETURNS, CALL_MAY_RETURN, CALL_ENDS, CALL_WRONG };

/*
 * Stacks are aligned to 16 bytes where functions call each other, so who calls otherwise is in the
 * middle of a function: but for assembly that calls its own. What does not return is followed by
 * another function.
 */
static enum after_call after_call(struct flow *flow, uint32_t at, const struct instruction *of,
				  const struct flow_state *state)
{
	int64_t to = of->kind == INSTRUCTION_CALL ? target_of(flow, at, of) : -1;
	int32_t sp = state->registers[REGISTER_SP];
	uint32_t next = at + of->size, behind;
	bool known = to >= 0 && flow_is_known(flow, to);
	bool returns = known && flow_function_of(flow, to)->returns;

	if (sp != FLOW_UNKNOWN && sp % FLOW_ALIGNMENT) {
		flow->early |= to >= 0 && !known;
		if (!returns)
			return CALL_WRONG;
		flow->misaligned = true;
	}
	if (known && !returns)
		return CALL_ENDS;
	if (next >= flow->size || flow->marks[next] & CALLED)
		return CALL_ENDS;
	behind = flow_behind_padding(flow, next);
	if (behind > next && (flow->begin + behind) % FLOW_ALIGNMENT == 0)
		return CALL_ENDS;
	return returns && behind == next ? CALL_RETURNS : CALL_MAY_RETURN;
}

/* Whether a way goes on in a function on purpose: who does not return has one behind it, too. */
static bool shares(const struct flow *flow, const struct flow_way *way, uint32_t at)
{
	return at == way->at || (!way->doubtful && at != flow_function_of(flow, at)->begin);
}

/* One way, up to where it ends; false: it makes no sense. */
static bool follow_way(struct flow *flow, struct flow_way *way)
{
	struct flow_state state = flow->states[way->state];
	uint32_t at = way->at, number = way->state;

	for (;;) {
		struct instruction of;
		enum arrival arrival;
		uint32_t next;

		if (at >= flow->size || flow->steps++ == flow->last_step)
			return false;
		arrival = arrive(flow, at, &state, &number, way->doubtful);
		if (arrival == ARRIVED_AGAIN && !(flow->marks[at] & CURRENT) &&
		    shares(flow, way, at))
			flow->returns += flow_function_of(flow, at)->returns;
		if (arrival != ARRIVED_FIRST || flow->error)
			return arrival == ARRIVED_AGAIN;
		of = instruction_decode(flow->bytes + at, flow->size - at);
		if (of.kind == INSTRUCTION_RETURN) {
			/* Who is called takes nothing from the stack. */
			if (of.offset || !flow_may_leave(&state))
				return false;
			flow->returns++;
			flow->marks[at] |= CONFIRMED;
			mark_end(flow, at + of.size);
			return true;
		}
		if (is_call(&of))
			of.written = written_by_call(flow, at, &of);
		if (of.kind != INSTRUCTION_OTHER || of.written) {
			number = 0;
			if (!flow_step(&state, &of))
				return false;
		}
		next = at + of.size;
		switch (of.kind) {
		case INSTRUCTION_JUMP:
			mark_end(flow, next);
			return go_to(flow, (int64_t)next + of.offset, &state, way->doubtful);
		case INSTRUCTION_BRANCH:
			if (!go_to(flow, (int64_t)next + of.offset, &state, way->doubtful))
				return false;
			break;
		case INSTRUCTION_CALL:
		case INSTRUCTION_CALL_SOMEWHERE:
			switch (after_call(flow, at, &of, &state)) {
			case CALL_RETURNS:
				break;
			case CALL_MAY_RETURN:
				way->doubtful = true;
				break;
			case CALL_ENDS:
				mark_end(flow, next);
				return true;
			case CALL_WRONG:
				return false;
			}
			break;
		case INSTRUCTION_JUMP_SOMEWHERE:
		case INSTRUCTION_STOP:
			mark_end(flow, next);
			return true;
		default:
			break;
		}
		at = next;
	}
}

static void follow_ways(struct flow *flow, uint32_t from)
{
	const struct flow_state entry = flow_entry();

	flow->n_ways = 0;
	flow->last_step = flow->steps + MAX_STEPS;
	flow->returns = 0;
	flow->wrong = 0;
	flow->misaligned = false;
	flow->impossible = !add_way(flow, from, &entry, false);
	while (flow->n_ways && !flow->impossible && !flow->error) {
		struct flow_way way = flow->ways[--flow->n_ways];

		if (!follow_way(flow, &way)) {
			flow->wrong++;
			flow->impossible = !way.doubtful;
		}
	}
}

/* Where control goes from an instruction, in which state. */
struct exits {
	int64_t to[2];
	bool jumps[2]; /* or it is what follows */
	uint32_t n;
	struct flow_state state;
};

static struct exits exits_of(struct flow *flow, uint32_t at, const struct instruction *of)
{
	struct exits exits = { .state = flow->states[flow->marks[at] & STATE] };
	struct instruction done = *of;
	int64_t next = (int64_t)at + of->size;

	if (is_call(of))
		done.written = written_by_call(flow, at, of);
	if (of->kind == INSTRUCTION_RETURN || !flow_step(&exits.state, &done) ||
	    of->kind == INSTRUCTION_JUMP_SOMEWHERE || of->kind == INSTRUCTION_STOP)
		return exits;
	if (of->kind == INSTRUCTION_JUMP || of->kind == INSTRUCTION_BRANCH) {
		exits.jumps[exits.n] = true;
		exits.to[exits.n++] = next + of->offset;
	}
	if (of->kind != INSTRUCTION_JUMP)
		exits.to[exits.n++] = next;
	return exits;
}

/* Whether one of the ways from there leads to where the function returns, or jumps to another. */
static bool leads_to_confirmed(struct flow *flow, uint32_t at)
{
	struct instruction of = instruction_decode(flow->bytes + at, flow->size - at);
	struct exits exits = exits_of(flow, at, &of);

	for (uint32_t i = 0; i < exits.n; i++) {
		uint32_t to = (uint32_t)exits.to[i], mark;

		if (exits.to[i] < 0 || exits.to[i] >= flow->size) {
			if (flow_may_leave(&exits.state))
				return true;
			continue;
		}
		mark = flow->marks[to];
		if ((mark & CONFIRMED || (exits.jumps[i] && mark & STATE && !(mark & CURRENT))) &&
		    agree(flow, to, &exits.state))
			return true;
	}
	return false;
}

/* From where the function returns back to what leads there. */
static void confirm(struct flow *flow)
{
	bool more = true;

	for (int i = 0; more && i < MAX_ROUNDS; i++) {
		more = false;
		for (uint32_t k = flow->mine.n; k-- > 0;) {
			uint32_t at = flow->mine.numbers[k];

			if (flow->marks[at] & CONFIRMED || !leads_to_confirmed(flow, at))
				continue;
			flow->marks[at] |= CONFIRMED;
			more = true;
		}
	}
}

static void note_call(struct flow *flow, uint32_t at, const struct instruction *of)
{
	int64_t to = target_of(flow, at, of);

	if (to < 0)
		return;
	flow->marks[to] |= CALLED;
	add_number(flow, &flow->called, (uint32_t)to);
}

/* Where it goes on in another function's code that has it otherwise, one of the two is wrong. */
static void note_dispute(struct flow *flow, uint32_t at, const struct instruction *of)
{
	struct exits exits = exits_of(flow, at, of);

	for (uint32_t i = 0; i < exits.n; i++) {
		uint32_t to = (uint32_t)exits.to[i];

		if (exits.to[i] < 0 || exits.to[i] >= flow->size || !(flow->marks[to] & STATE) ||
		    flow->owners[to] == flow->n_functions || agree(flow, to, &exits.state))
			continue;
		flow_function_of(flow, to)->disputed = true;
		flow->functions[flow->n_functions].disputed = true;
	}
}

static bool is_of(const struct flow *flow, int64_t at, uint32_t function)
{
	return at < flow->size && flow->marks[at] & STATE && flow->owners[at] == function;
}

/* For another function's code. */
static bool leaves(const struct flow *flow, uint32_t at, const struct instruction *of)
{
	int64_t to;

	if (of->kind != INSTRUCTION_JUMP && of->kind != INSTRUCTION_BRANCH)
		return false;
	to = target_of(flow, at, of);
	return to < 0 || !is_of(flow, to, flow->n_functions);
}

static void note_others(struct flow *flow, uint32_t at)
{
	struct instruction of = instruction_decode(flow->bytes + at, flow->size - at);
	uint16_t *written = &flow->functions[flow->n_functions].written;
	uint32_t next = at + of.size;

	*written |= of.written;
	if (is_call(&of))
		*written |= written_by_call(flow, at, &of);
	else if (of.kind == INSTRUCTION_POP || of.kind == INSTRUCTION_MOVE ||
		 of.kind == INSTRUCTION_ADDRESS || of.kind == INSTRUCTION_LOAD)
		*written |= (uint16_t)(1u << of.reg);
	else if (of.kind == INSTRUCTION_JUMP_SOMEWHERE || leaves(flow, at, &of))
		*written |= FLOW_SCRATCH;
	*written &= FLOW_SCRATCH;
	if (of.kind == INSTRUCTION_CALL)
		note_call(flow, at, &of);
	/* Behind a call, it may be that there was no return. */
	else if (!is_call(&of) && (of.kind == INSTRUCTION_JUMP || of.kind == INSTRUCTION_BRANCH ||
				   !is_of(flow, next, flow->n_functions)))
		note_dispute(flow, at, &of);
}

/* The marks that an instruction of the function has to have, one of them. */
static uint32_t to_keep(struct flow *flow, uint32_t from)
{
	bool called = flow->marks[from] & CALLED;

	if (flow->impossible || flow->error || (flow->wrong && flow->misaligned))
		return 0;
	if (!flow->wrong)
		return called || flow->returns ? STATE : 0;
	confirm(flow);
	return called || flow->marks[from] & CONFIRMED ? CONFIRMED | CERTAIN : 0;
}

/*
 * A function that something calls is believed without a return of its own. A way that makes no
 * sense went on behind a call that does not return, into other code: what does not lead to where
 * the function returns is dropped then, unless it is reached whatever returns.
 */
void flow_follow_function(struct flow *flow, uint32_t from)
{
	uint32_t keep, n = 0;

	flow->early = false;
	follow_ways(flow, from);
	keep = to_keep(flow, from);
	if (!keep && flow->early)
		add_number(flow, &flow->retry, from);
	if (keep) {
		flow->functions = grown(flow, flow->functions, flow->n_functions + 1,
					&flow->functions_room, sizeof(*flow->functions));
		if (flow->error)
			return;
		flow->functions[++flow->n_functions] =
			(struct flow_function){ .begin = from, .returns = flow->returns };
	}
	for (uint32_t i = 0; i < flow->mine.n; i++) {
		uint32_t at = flow->mine.numbers[i], mark = flow->marks[at];

		flow->marks[at] &= ~(CURRENT | CONFIRMED);
		if (mark & keep) {
			flow->owners[at] = flow->n_functions;
			flow->mine.numbers[n++] = at;
		} else {
			flow->marks[at] &= ~(STATE | CERTAIN);
		}
	}
	for (uint32_t i = 0; i < n; i++)
		note_others(flow, flow->mine.numbers[i]);
	flow->believed += n;
	flow->mine.n = 0;
}
