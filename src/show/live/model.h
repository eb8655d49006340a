/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The data behind the live page: a tally built from deltas, names, the tree, and the last seconds.
 * It is separate from the measurement's own tally so that neither slow name resolution nor clients
 * delay the thread that measures.
 *
 * Used by one thread at a time and not locked; live.c gives it a thread of its own.
 */
#ifndef STACKTALLY_LIVE_MODEL_H
#define STACKTALLY_LIVE_MODEL_H

#include "base/error.h"
#include "live/activity.h"
#include "live/delta.h"
#include "live/history.h"
#include "live/server.h"
#include "live/tree.h"
#include "report/writer.h"

#define MODEL_SECONDS	    1800
#define MODEL_HISTORY_BYTES (64u << 20)
#define MODEL_MAX_NODES	    200000
#define MODEL_MAX_ENTRIES   1000000

/* Where names come from. The callbacks run on the model's thread. */
struct model_source {
	/* Adds to `names` the addresses of the tally that it lacks. 0 or a negative errno. */
	int (*resolve)(void *context, const struct tally *tally, struct names *names);
	void *context;
	struct report_options report;
	struct profile_meta meta; /* its strings are borrowed */
};

struct model {
	struct model_source source;
	struct server *server;	   /* borrowed; or NULL */
	struct activity *activity; /* borrowed; NULL: when events happened is not known */
	struct tally *tally;	   /* everything since the start */
	struct names *names;
	struct tree tree;
	struct history history;
	/* Of each entry that deltas count by number: our entry, or INDEX_NONE if it did not fit. */
	uint32_t *entry_of;
	uint32_t n_entries, entry_capacity;
	uint64_t at_ns; /* all up to then is in, since the start of the measurement */
	/* From then on, new processes of a name share nodes (live/tree.h); 0: none do. */
	uint64_t shared_from_ns;

	/* What the streams have been sent. */
	uint32_t sent_frames, sent_nodes;
	uint64_t sent_bins;
	struct buffer *state; /* updates_state() of the newest second, once it was made; or NULL */

	uint64_t *sums; /* scratch, one for each node or entry */
	uint32_t sums_capacity;
};

/*
 * An empty model. `server` may be NULL: nothing is published. 0 or -ENOMEM; model_clear() is due in
 * both cases.
 */
int model_make(struct model *model, const struct model_source *source, struct server *server);
void model_clear(struct model *model);

/*
 * Adds a delta as the newest second, and publishes it. 0 or a negative errno: then the counts of
 * this delta are missing from the seconds and from the sums of the tree.
 */
int model_apply(struct model *model, const struct delta *delta);

/* An array of `n` zeros, valid until the next call. NULL: out of memory. */
uint64_t *model_sums(struct model *model, uint32_t n);

#endif
