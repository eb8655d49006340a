/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The live view of a measurement: a page with a moving flame graph, served over HTTP; docs/live.md
 * describes what is served. The thread that measures hands over what is new once a second and does
 * not wait for it to be processed: while the last delta is pending, the next one grows.
 *
 * Three threads serve it: live-serve (server.h), live-model (model.h and all that is made of it)
 * and live-activity (activity.h).
 */
#ifndef STACKTALLY_LIVE_LIVE_H
#define STACKTALLY_LIVE_LIVE_H

#include "live/model.h"

struct live;

/*
 * Listens where and by which token server_open() says, and serves nothing yet. The caller frees
 * `ret_live` with live_close(). 0 or a negative errno.
 */
int live_open(const char *where, const char *token_file, struct live **ret_live, struct error *err);
/* The page's address; lives as long as `live`. */
const char *live_url(const struct live *live);
/* Whether other machines can connect. */
bool live_is_public(const struct live *live);

/*
 * Starts to serve a measurement that began `ago_ns` before. `source` is copied; its context and the
 * strings of its meta must outlive `live`, and its callbacks run on another thread. `events`, which
 * may be NULL, returns the number of events so far; another thread calls it with the context of the
 * source. 0 or a negative errno.
 */
int live_start(struct live *live, const struct model_source *source, uint64_t ago_ns,
	       uint64_t (*events)(void *context), struct error *err);

/* Returns the cgroup with an id, which must live as long as `live`, or NULL. */
typedef const struct names_cgroup *live_cgroup(void *context, uint64_t id);

/*
 * Hands over what is new in the tally, `at_ns` after the start of the measurement. The tally has to
 * be the same one in each call. `cleared` says that the tally will be cleared after the call: it
 * then waits, for up to a second, until the last delta has been processed. 0 or -ENOMEM.
 */
int live_update(struct live *live, const struct tally *tally, uint64_t at_ns, bool cleared,
		live_cgroup *cgroup, void *context);

/*
 * Answers the requests that wait, ends all streams, stops the threads and frees `live`, which may
 * be NULL.
 */
void live_close(struct live *live);

#endif
