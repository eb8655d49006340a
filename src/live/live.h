/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A running measurement that can be watched: a page with a moving flame graph, served over HTTP;
 * docs/live.md says what is served. The thread that measures hands over what is new once a second
 * and never waits: when the last batch was not taken yet, the next one has more in it.
 */
#ifndef STACKTALLY_LIVE_LIVE_H
#define STACKTALLY_LIVE_LIVE_H

#include "live/keeper.h"

struct live;

/* Listens where server_open() says. Nothing is served yet. */
int live_open(const char *where, struct live **ret_live, struct error *err);
/* Where to look at it; lives as long as `live`. */
const char *live_url(const struct live *live);
bool live_is_public(const struct live *live);

/*
 * Serves from now on; the measurement began `ago_ns` before. `source` is called by another thread;
 * what its meta points to must outlive `live`. `events`, which may be NULL, counts what happens,
 * called with the context of the source.
 */
int live_start(struct live *live, const struct keeper_source *source, uint64_t ago_ns,
	       uint64_t (*events)(void *context), struct error *err);

/* How to find a cgroup's path, which lives as long as `live`. */
typedef const char *live_cgroup(void *context, uint64_t id);

/*
 * Shows what is new in the tally, `at_ns` after the start. The tally must be the same one each
 * time; `cleared` tells that it is about to be cleared, so that all of it has to be taken now. 0 or
 * -ENOMEM.
 */
int live_look(struct live *live, const struct tally *tally, uint64_t at_ns, bool cleared,
	      live_cgroup *cgroup, void *context);

/* Stops, and tells those who watch that this is the end. */
void live_close(struct live *live);

#endif
