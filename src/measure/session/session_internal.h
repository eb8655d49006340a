/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct session, and what session*.c share.
 */
#ifndef STACKTALLY_SESSION_SESSION_INTERNAL_H
#define STACKTALLY_SESSION_SESSION_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "drain/drain.h"
#include "drain/unwinder.h"
#include "gauge/gauge.h"
#include "interpreters/interpreters.h"
#include "process/sideband.h"
#include "session/accounting.h"
#include "session/command.h"
#include "session/interpreted.h"
#include "session/kernel_side.h"
#include "session/session.h"
#include "session/signals.h"

/* How often the trigger's tick is called. */
#define TICK_NS NS_PER_SECOND

struct session {
	const struct plan *plan;
	struct trigger *trigger;
	struct images *images;
	struct kernel_side side;
	struct drain *drain;
	struct gauge *gauge;
	struct sideband *sideband;	      /* NULL without user stacks */
	struct unwinder *unwinder;	      /* NULL without unwinding tables */
	struct interpreters *interpreters;    /* the same */
	struct interpreted_load *interpreted; /* while these programs are being loaded */
	uint32_t languages;		      /* of interpreters, that they walk or will: bits */
	struct error not_interpreted;	      /* why they did not load; "" */
	struct codes *codes;		      /* borrowed */
	struct command *command;	      /* NULL: none was launched */
	struct targets *targets;
	struct accounting accounting;
	/* monotonic_ns(); `switched`: when the last epoch ended */
	uint64_t started, stopped, switched, next_interval, next_refresh, next_tick, next_look;
	uint64_t next_slice;
	uint32_t stack_limit_before;
	struct signals signals;
	bool reload; /* SIGHUP came */
	bool attached;
	bool walked;	     /* gauge_walk() */
	bool told_orc;	     /* the BPF programs know of the kernel's ORC tables, if it has any */
	bool passed_on;	     /* a signal went to the command: the next one ends the measurement */
	struct tally *tally; /* of the current session_run() */
	char warning[512];
};

/* ---- session.c ---- */

/* monotonic_ns() at which the measurement has to end; UINT64_MAX: at no given time. */
uint64_t session_end(const struct session *session);

/* ---- session_drain.c ---- */

/*
 * Moves an epoch that has ended into the tally. Its deferred walks wait for missing tables for
 * `patience_ns` at most.
 */
int session_drain(struct session *session, uint32_t epoch, uint64_t patience_ns, struct error *err);
/* Ends the current epoch, and drains it. */
int session_switch_and_drain(struct session *session, uint64_t patience_ns, struct error *err);
/*
 * Ends the epoch where generated code may be replaced: what is sampled from now on is of new
 * images, and the counts of an epoch are of those that a stack was first seen in.
 */
int session_watch_jit(struct session *session, struct error *err);

/* ---- session_start.c ---- */

/*
 * Whether tables are made before the first event; those of chosen processes and of a probed file
 * always are.
 */
bool session_prepares(const struct session *session);
/* Begins to load the programs that walk interpreters' stacks, if one was found. */
void session_walk_interpreters(struct session *session);
/* Waits until they are loaded, if that was begun. */
void session_await_interpreters(struct session *session);
/* Has the table of the probed file made, if there is one. */
int session_expect_file(struct session *session, struct error *err);
/* Makes those tables, if any. */
int session_prepare_tables(struct session *session, struct error *err);

#endif
