/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps what is shown of a running measurement: its own tally, fed with batches; names; the tree;
 * the last seconds. A thread of its own works on all of it, so nothing here is locked but what
 * comes in and what goes out, and neither names that take long nor those who watch hold up the
 * thread that measures.
 */
#ifndef STACKTALLY_LIVE_KEEPER_H
#define STACKTALLY_LIVE_KEEPER_H

#include "base/error.h"
#include "live/activity.h"
#include "live/batch.h"
#include "live/history.h"
#include "live/server.h"
#include "live/tree.h"
#include "report/writer.h"

/* What is kept, at most: some 64 MB of seconds, and what a million different stacks take. */
#define KEEPER_SECONDS	 1800
#define KEEPER_HISTORY	 (64u << 20)
#define KEEPER_MAX_NODES 200000
#define KEEPER_ENTRIES	 1000000
#define KEEPER_JOBS	 32

struct keeper_source {
	/* Names the addresses of the tally that `names` lacks. 0 or a negative errno. */
	int (*resolve)(void *context, const struct tally *tally, struct names *names);
	void *context;
	struct report_options report;
	struct profile_meta meta; /* strings are borrowed */
};

/* What the page shows, beyond what its formats know. */
struct keeper {
	struct keeper_source source;
	struct server *server;	   /* borrowed */
	struct activity *activity; /* or NULL */
	struct tally *tally;	   /* all since the start */
	struct names *names;
	struct tree tree;
	struct history history;
	uint32_t *number_of; /* of each of the other side's entries: ours, or INDEX_NONE */
	uint32_t n_numbers, number_room;
	uint64_t at_ns; /* until when all is in */
	bool ended;

	/* What those who watch were told. */
	uint32_t told_frames, told_nodes;
	uint64_t told_bins;
	struct blob *state; /* of this second, if somebody came for it; or NULL */

	uint64_t *sums; /* room to add up in, one for each node or entry */
	uint32_t sums_room;
};

/* Takes in a batch and tells those who watch. 0 or a negative errno. */
int keeper_take(struct keeper *keeper, const struct batch *batch);

/* `server` may be NULL: nobody is told. 0 or -ENOMEM; keeper_clear() is due in both cases. */
int keeper_make(struct keeper *keeper, const struct keeper_source *source, struct server *server);
void keeper_clear(struct keeper *keeper);

/* As many zeros as there are nodes or entries. NULL: no memory. */
uint64_t *keeper_sums(struct keeper *keeper, uint32_t n);

/* ---- what is made of it: news.c, save.c ---- */

/* All that a page needs to begin with, as an event. NULL: no memory. */
struct blob *news_state(struct keeper *keeper);
/* The newest second, as an event. */
struct blob *news_tick(struct keeper *keeper, const struct second *second);
struct blob *news_end(void);
/* The counts of each node in these seconds, as JSON. */
struct blob *news_counts(struct keeper *keeper, uint64_t from, uint64_t to);

#define SAVE_MAX_SIZE (256u << 20)

/*
 * The seconds `from` to `to` (0: all since the start, where they are kept or not) in a format. 0,
 * -EFBIG when it is more than SAVE_MAX_SIZE, or another negative errno.
 */
int save_stretch(struct keeper *keeper, const struct writer *writer, uint64_t from, uint64_t to,
		 struct blob **ret_blob);

#endif
