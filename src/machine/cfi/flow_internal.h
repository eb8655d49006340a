/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the parts of code_flow.h: a piece of code and what is known of it so far. code_flow.c
 * looks for functions, flow_function.c follows one, flow_accept.c decides on it.
 */
#ifndef STACKTALLY_CFI_FLOW_INTERNAL_H
#define STACKTALLY_CFI_FLOW_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index.h"
#include "cfi/call_targets.h"
#include "cfi/code_ranges.h"
#include "cfi/flow_state.h"
#include "cfi/rule_table.h"

#define FLOW_MAX_STATES 0x3fffu /* distinct ones of a piece */
#define FLOW_ALIGNMENT	16	/* of most functions, and of the stack at calls; bytes */

/* What is known of each byte of a piece: the number of its state, and flags. */
#define STATE	  FLOW_MAX_STATES /* 0: none */
#define CURRENT	  (1u << 16)	  /* of the function that is followed */
#define CERTAIN	  (1u << 17)	  /* reached, whether or not all callees return */
#define CONFIRMED (1u << 18)	  /* a path leads from there to a return of the function */
#define BEGINS	  (1u << 19)	  /* behind the end of a function */
#define CALLED	  (1u << 20)	  /* the target of a call */
#define JUMPED	  (1u << 21)	  /* a jump of an accepted function leads there */

/* A path of the function that is still to be followed. */
struct flow_path {
	uint32_t at, state;
	bool doubtful; /* behind a call that may not return */
};

struct flow_function {
	uint32_t begin;
	uint16_t written; /* bits of the caller-saved registers that it may change */
	bool returns;
	bool surely_returns; /* even if none of its callees do */
	bool contradicted;   /* another function reaches some of it in another state */
};

struct numbers {
	uint32_t *numbers, n, capacity;
};

/* Positions (`at`, `from`, `begin` ...) are offsets in the piece. */
struct flow {
	struct rule_table *rules;
	struct code_ranges *ranges;
	const struct code_ranges *known; /* code of which other sources tell */
	uint32_t left;			 /* bytes of the file that may still be read */
	struct call_targets named;	 /* of the segment */
	/* The piece. */
	uint64_t address; /* of its first byte */
	uint32_t size;
	uint32_t capacity; /* of the three arrays with an element for each byte: */
	uint8_t *bytes;
	uint32_t *marks;
	uint32_t *owners; /* the function of an instruction that has a state; from 1 on */
	struct flow_function *functions;
	uint32_t n_functions, functions_capacity;
	struct flow_state *states;
	uint32_t n_states, states_capacity;
	struct index by_state;	      /* their numbers */
	uint64_t seed;		      /* of the hash, so that no file can be made to collide */
	struct numbers called, retry; /* positions where functions begin, or may begin */
	uint32_t steps;		      /* instructions followed */
	uint32_t accepted;	      /* instructions of accepted functions */
	/* The function that is followed. */
	struct numbers mine; /* its instructions */
	struct flow_path *paths;
	uint32_t n_paths, paths_capacity;
	uint32_t last_step;
	uint32_t returns;
	uint32_t aligned; /* calls with an aligned stack */
	uint32_t wrong;	  /* paths that contradict others, or themselves */
	bool impossible;  /* one of them is not doubtful */
	bool misaligned;  /* it calls with an unaligned stack, as assembly and small code do */
	bool surely_returns;
	bool leaves; /* it jumps to another function as if it returned */
	bool early;  /* it calls a function that is not known yet */
	int error;
};

/* Follows what may be a function; if it is accepted, its instructions have their states. */
void flow_follow_function(struct flow *flow, uint32_t from);

/*
 * Once all functions are known: drops what only follows a call of one that does not return, and
 * was accepted before that one.
 */
void flow_drop_unreached(struct flow *flow);

/* The end of the padding that begins there; of no more than lies between two functions. */
uint32_t flow_behind_padding(const struct flow *flow, uint32_t at);

/* Whether a function was accepted that has an instruction there at which it may be called. */
bool flow_is_known(const struct flow *flow, uint32_t at);

/* The function of an instruction that has a state. */
struct flow_function *flow_function_of(const struct flow *flow, uint32_t at);

/* ---- between following and accepting ---- */

/* Follows all paths from `from` on; their instructions are in `mine` then. */
void flow_follow_paths(struct flow *flow, uint32_t from);

/* Appends to a list; sets flow->error on failure. */
void flow_add_number(struct flow *flow, struct numbers *to, uint32_t number);

bool flow_is_call(const struct instruction *instruction);

/* The target of a direct jump or call, or -1: outside of this piece. */
int64_t flow_target_of(const struct flow *flow, uint32_t at, const struct instruction *instruction);

/* Bits of the registers that the callee may change. */
uint16_t flow_written_by_call(struct flow *flow, uint32_t at,
			      const struct instruction *instruction);

/* Whether the state can be that of the instruction, which has one already. */
bool flow_agrees(const struct flow *flow, uint32_t at, const struct flow_state *state);

#endif
