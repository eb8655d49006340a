/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What clients are sent of a model, in the protocol of docs/live.md: server-sent events with JSON.
 * Each function returns a buffer that the caller owns, or NULL when there is no memory for it or it
 * would exceed 32 MB.
 */
#ifndef STACKTALLY_LIVE_UPDATES_H
#define STACKTALLY_LIVE_UPDATES_H

#include "live/model.h"

/* The event "state", with which a stream begins: everything up to the newest second. */
struct buffer *updates_state(struct model *model);
/* The event "tick": a second, with the frames and nodes that no tick has had yet. */
struct buffer *updates_tick(struct model *model, const struct second *second);
/* The event "end". */
struct buffer *updates_end(void);
/* The counts of each node in the seconds `from` to `to`, as JSON. */
struct buffer *updates_counts(struct model *model, uint64_t from, uint64_t to);

#endif
