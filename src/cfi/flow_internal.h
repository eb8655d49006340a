/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between the parts of code_flow.h: a piece of code, and what is known of it so far. A function is
 * followed in flow_function.c; where to look for them is code_flow.c's.
 */
#ifndef STACKTALLY_CFI_FLOW_INTERNAL_H
#define STACKTALLY_CFI_FLOW_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index.h"
#include "cfi/code_ranges.h"
#include "cfi/flow_state.h"
#include "cfi/rules.h"

#define FLOW_MAX_STATES 0x3fffu /* of a piece */
#define FLOW_ALIGNMENT	16	/* of most functions, and of the stack where they call */

/* What is known of each byte of a piece: the number of its state, and ... */
#define STATE	  FLOW_MAX_STATES /* 0: none */
#define CURRENT	  (1u << 16)	  /* of the function that is followed */
#define CERTAIN	  (1u << 17)	  /* reached, whether or not all that is called returns */
#define CONFIRMED (1u << 18)	  /* a way leads from there to where the function returns */
#define BEGINS	  (1u << 19)	  /* behind what ends a function */
#define CALLED	  (1u << 20)

/* A way of the function: from where, and in which state. */
struct flow_way {
	uint32_t at, state;
	bool doubtful; /* something was called on it that may not return */
};

struct flow_function {
	uint32_t begin;
	uint16_t written; /* bits of registers that it may not give back */
	bool returns;
	bool disputed; /* another one has some of it otherwise */
};

struct numbers {
	uint32_t *numbers, n, room;
};

struct flow {
	struct rule_table *book;
	struct code_ranges *ranges;
	uint32_t left; /* bytes of the file that may be read */
	/* The piece. */
	uint64_t begin; /* address */
	uint32_t size;
	uint32_t room; /* of the lists that have something for each byte: */
	uint8_t *bytes;
	uint32_t *marks;
	uint32_t *owners; /* the function whose instruction it is, if it has a state; from 1 on */
	struct flow_function *functions;
	uint32_t n_functions, functions_room;
	struct flow_state *states;
	uint32_t n_states, states_room;
	struct index by_state;	      /* their numbers */
	uint64_t seed;		      /* of the hash: who makes a file is not to choose it */
	struct numbers called, retry; /* where functions begin, or may */
	uint32_t steps;		      /* instructions followed */
	uint32_t believed;	      /* those that are of functions */
	/* The function that is followed. */
	struct numbers mine; /* its instructions */
	struct flow_way *ways;
	uint32_t n_ways, ways_room;
	uint32_t last_step;
	uint32_t returns;
	uint32_t wrong;	 /* ways that make no sense */
	bool impossible; /* one of them is not doubtful */
	bool misaligned; /* it calls as only assembly does */
	bool early;	 /* what it calls is not known yet */
	int error;
};

/* Follows what may be a function; if it is believed, its instructions have their states. */
void flow_follow_function(struct flow *flow, uint32_t from);

/* Where padding from there on ends; that of two functions at most. */
uint32_t flow_behind_padding(const struct flow *flow, uint32_t at);

/* Whether it is an instruction of a function that is believed, and one that may be called. */
bool flow_is_known(const struct flow *flow, uint32_t at);

/* Of an instruction with a state. */
struct flow_function *flow_function_of(const struct flow *flow, uint32_t at);

#endif
