/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct session, and what session*.c share.
 */
#ifndef STACKTALLY_SESSION_SESSION_INTERNAL_H
#define STACKTALLY_SESSION_SESSION_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "drain/drain.h"
#include "drain/unwinder.h"
#include "gauge/gauge.h"
#include "interpreters/interpreters.h"
#include "launch/launch.h"
#include "loader/accounting.h"
#include "loader/interpreted.h"
#include "loader/kernel_side.h"
#include "loader/prepare.h"
#include "process/sideband.h"
#include "session/groups.h"
#include "session/schedule.h"
#include "session/session.h"

struct session {
	const struct plan *plan;
	struct trigger *trigger;
	struct cpu_list cpus; /* that are wanted; empty: all */
	struct images *images;
	struct launch launch;
	struct prepared prepared;
	struct sideband *sideband; /* NULL without user stacks */
	struct kernel_side side;
	struct unwinder *unwinder;	   /* NULL without unwinding tables */
	struct interpreters *interpreters; /* the same */
	struct walkers walkers;		   /* of interpreters' stacks */
	struct drain *drain;
	struct gauge *gauge;
	struct targets *targets;
	struct groups *groups; /* NULL: cgroups are not chosen */
	struct accounting accounting;
	struct schedule schedule;
	uint64_t stopped, switched; /* monotonic_ns(); `switched`: when the last epoch ended */
	uint64_t next_records;	    /* records of mappings wake nobody before this time */
	bool attached;
	bool still;	     /* a dump of threads of which none runs */
	bool reports;	     /* a report follows the epoch that ends */
	bool ran;	     /* session_run() was called */
	struct tally *tally; /* of the current session_run() */
};

/* ---- session_drain.c ---- */

/*
 * Moves an epoch that has ended into the tally. Its deferred walks wait for missing tables for
 * `limit` at most.
 */
int session_drain(struct session *session, uint32_t epoch, struct unwind_limit limit,
		  struct error *err);
/* Ends the current epoch, and drains it. */
int session_switch_and_drain(struct session *session, struct unwind_limit limit, struct error *err);
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
/*
 * Begins to load the programs that walk interpreters' stacks, if one was found. Threads that are
 * `still` are walked without these.
 */
void session_walk_interpreters(struct session *session);
/* Has the table of the probed file made, if there is one. */
int session_expect_file(struct session *session, struct error *err);
/* Looks for interpreters that the command will probably run, and has their tables made. */
int session_expect_command(struct session *session, struct error *err);
/* Makes those tables, if any. */
int session_prepare_tables(struct session *session, struct error *err);

#endif
