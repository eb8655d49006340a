// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/grow.h"
#include "cfi/flow_internal.h"

/* Passes backwards from the function's returns: compiled code needs one for each nested loop. */
#define MAX_ROUNDS 16

/* Where control goes from an instruction, and the state in which it does. */
struct exits {
	int64_t to[2];
	bool jumps[2]; /* false: to the next instruction */
	uint32_t n;
	struct flow_state state;
};

static struct exits exits_of(struct flow *flow, uint32_t at, const struct instruction *of)
{
	struct exits exits = { .state = flow->states[flow->marks[at] & STATE] };
	struct instruction done = *of;
	int64_t next = (int64_t)at + of->size;

	if (flow_is_call(of))
		done.written = flow_written_by_call(flow, at, of);
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

/* Whether an exit leads to a confirmed instruction, or jumps to another function. */
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
		    flow_agrees(flow, to, &exits.state))
			return true;
	}
	return false;
}

/* Marks as CONFIRMED what leads to the function's returns: backwards from these. */
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
	int64_t to = flow_target_of(flow, at, of);

	if (to < 0)
		return;
	flow->marks[to] |= CALLED;
	flow_add_number(flow, &flow->called, (uint32_t)to);
}

static void note_jump(struct flow *flow, uint32_t at, const struct instruction *of)
{
	int64_t to = flow_target_of(flow, at, of);

	if (to >= 0)
		flow->marks[to] |= JUMPED;
}

/* If an exit leads to code of another function that has another state, one of the two is wrong. */
static void note_contradiction(struct flow *flow, uint32_t at, const struct instruction *of)
{
	struct exits exits = exits_of(flow, at, of);

	for (uint32_t i = 0; i < exits.n; i++) {
		uint32_t to = (uint32_t)exits.to[i];

		if (exits.to[i] < 0 || exits.to[i] >= flow->size || !(flow->marks[to] & STATE) ||
		    flow->owners[to] == flow->n_functions || flow_agrees(flow, to, &exits.state))
			continue;
		flow_function_of(flow, to)->contradicted = true;
		flow->functions[flow->n_functions].contradicted = true;
	}
}

static bool is_of(const struct flow *flow, int64_t at, uint32_t function)
{
	return at < flow->size && flow->marks[at] & STATE && flow->owners[at] == function;
}

/* Whether it jumps to another function. */
static bool leaves(const struct flow *flow, uint32_t at, const struct instruction *of)
{
	int64_t to;

	if (of->kind != INSTRUCTION_JUMP && of->kind != INSTRUCTION_BRANCH)
		return false;
	to = flow_target_of(flow, at, of);
	return to < 0 || !is_of(flow, to, flow->n_functions);
}

static void note_others(struct flow *flow, uint32_t at)
{
	struct instruction of = instruction_decode(flow->bytes + at, flow->size - at);
	uint16_t *written = &flow->functions[flow->n_functions].written;
	uint32_t next = at + of.size;

	*written |= of.written;
	if (flow_is_call(&of))
		*written |= flow_written_by_call(flow, at, &of);
	else if (of.kind == INSTRUCTION_POP || of.kind == INSTRUCTION_MOVE ||
		 of.kind == INSTRUCTION_ADDRESS || of.kind == INSTRUCTION_LOAD)
		*written |= (uint16_t)(1u << of.reg);
	else if (of.kind == INSTRUCTION_JUMP_SOMEWHERE || leaves(flow, at, &of))
		*written |= FLOW_SCRATCH;
	*written &= FLOW_SCRATCH;
	if (of.kind == INSTRUCTION_JUMP || of.kind == INSTRUCTION_BRANCH)
		note_jump(flow, at, &of);
	if (of.kind == INSTRUCTION_CALL)
		note_call(flow, at, &of);
	/* What follows a call is not reached if the callee does not return. */
	else if (!flow_is_call(&of) &&
		 (of.kind == INSTRUCTION_JUMP || of.kind == INSTRUCTION_BRANCH ||
		  !is_of(flow, next, flow->n_functions)))
		note_contradiction(flow, at, &of);
}

/*
 * Whether it is a function that no code calls directly and that does not return, as the first of a
 * thread: something names its address, and the stack is aligned at all calls. Within a function,
 * where the stack pointer is a multiple of 16 at calls, code that is taken for the beginning of one
 * has it misaligned.
 */
static bool never_returns(const struct flow *flow, uint32_t from)
{
	return call_targets_has(&flow->named, flow->address + from) && flow->aligned &&
	       !flow->misaligned;
}

/* Marks: instructions that have one of them are kept. 0: the function is not accepted. */
static uint32_t to_keep(struct flow *flow, uint32_t from)
{
	bool called = flow->marks[from] & CALLED || never_returns(flow, from);

	if (flow->impossible || flow->error || (flow->wrong && flow->misaligned))
		return 0;
	if (!flow->wrong)
		return called || flow->returns || flow->leaves ? STATE : 0;
	confirm(flow);
	return called || flow->marks[from] & CONFIRMED ? CONFIRMED | CERTAIN : 0;
}

/*
 * A function that is called is accepted even without a return of its own. A doubtful path that is
 * wrong went on behind a call that does not return, into other code: then instructions are dropped
 * that do not lead to a return of the function, unless they are CERTAIN.
 */
void flow_follow_function(struct flow *flow, uint32_t from)
{
	uint32_t keep, n = 0;

	flow->early = false;
	flow_follow_paths(flow, from);
	keep = to_keep(flow, from);
	if (!keep && flow->early)
		flow_add_number(flow, &flow->retry, from);
	if (keep) {
		flow->error =
			grow(&flow->functions, &flow->functions_capacity, flow->n_functions + 2);
		if (flow->error)
			return;
		flow->functions[++flow->n_functions] =
			(struct flow_function){ .begin = from,
						.returns = flow->returns,
						.surely_returns = flow->surely_returns };
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
	flow->accepted += n;
	flow->mine.n = 0;
}

/* Whether it calls a function that is known not to return. */
static bool calls_last(const struct flow *flow, uint32_t at, const struct instruction *of)
{
	int64_t to = of->kind == INSTRUCTION_CALL ? flow_target_of(flow, at, of) : -1;

	return to >= 0 && flow_is_known(flow, to) && !flow_function_of(flow, to)->returns;
}

void flow_drop_unreached(struct flow *flow)
{
	const uint32_t is_reached = JUMPED | CALLED | CERTAIN;
	bool unreached = false;

	for (uint32_t at = 0; at < flow->size;) {
		uint32_t mark = flow->marks[at];
		struct instruction of;

		if (!(mark & STATE)) {
			unreached = false;
			at++;
			continue;
		}
		of = instruction_decode(flow->bytes + at, flow->size - at);
		unreached = unreached && !(mark & is_reached) &&
			    flow_function_of(flow, at)->begin != at;
		if (unreached)
			flow->marks[at] &= ~STATE;
		unreached = calls_last(flow, at, &of) ||
			    (unreached && of.kind != INSTRUCTION_RETURN &&
			     of.kind != INSTRUCTION_JUMP && of.kind != INSTRUCTION_STOP);
		at += of.size;
	}
}
