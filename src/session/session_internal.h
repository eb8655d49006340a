/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a session is made of: for session*.c alone, which open it, drain it, and run it.
 */
#ifndef STACKTALLY_SESSION_SESSION_INTERNAL_H
#define STACKTALLY_SESSION_SESSION_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "process/sideband.h"
#include "session/accounting.h"
#include "session/command.h"
#include "session/epoch_stacks.h"
#include "session/kernel_side.h"
#include "session/ring.h"
#include "session/session.h"
#include "session/signals.h"
#include "session/unwinder.h"

#define NS_PER_SECOND 1000000000ull
#define NS_PER_MS     1000000ull

/* How often the trigger's tick is called. */
#define TICK_NS NS_PER_SECOND

struct session {
	const struct plan *plan;
	struct trigger *trigger;
	struct images *images;
	struct kernel_side side;
	struct tracepoint_frames *tracepoint_frames; /* NULL where the stacks have none */
	struct epoch_stacks *stacks[WIRE_EPOCHS];
	struct ring *ring;
	struct sideband *sideband; /* NULL without user stacks */
	struct unwinder *unwinder; /* NULL when there are no tables */
	struct command *command;
	struct accounting accounting;
	uint64_t started, stopped, next_interval, next_look, next_tick;
	uint32_t stack_limit_before;
	struct signals signals;
	bool attached;
	bool told;	/* the kernel side knows where the kernel's tables are, if there are any */
	bool passed_on; /* a signal went on to the command: the next one is for us */
	struct tally *tally; /* of the session_run() under way */
	char warning[512];
};

static inline uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

/* ---- session_drain.c ---- */

/* Takes what the ring has, up to where the epoch has to end first: see session_epoch_is_full(). */
int session_consume(struct session *session, struct error *err);
/* When enough stacks wait for their counts. */
bool session_epoch_is_full(const struct session *session);
/*
 * All of an epoch that has ended goes into the tally. Its walks that wait for tables are given
 * `patience_ns`.
 */
int session_drain(struct session *session, uint32_t epoch, uint64_t patience_ns, struct error *err);
/* Ends the current epoch, and drains it. */
int session_switch_and_drain(struct session *session, uint64_t patience_ns, struct error *err);

#endif
