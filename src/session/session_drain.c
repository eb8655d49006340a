// SPDX-License-Identifier: GPL-2.0-or-later
/* From the kernel's counts and the ring into the tally, an epoch at a time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "session/session_internal.h"

/* Stacks that wait to be counted: some 5 MB of them. */
#define EPOCH_STACKS 16384u

/* For so long may one who writes a record be kept from his CPU. */
#define PREEMPTED_NS (10 * NS_PER_SECOND)

bool session_epoch_is_full(const struct session *session)
{
	const struct epoch_stacks *now = session->stacks[epochs_now(session->side.epochs)];

	return epoch_stacks_n(now) >= EPOCH_STACKS || unwinder_is_full(session->unwinder);
}

/* A count without a stack cannot be: it is entered only after its stack was sent. */
static int on_count(void *stacks, const struct wire_hash *hash, uint64_t count)
{
	return epoch_stacks_count(stacks, hash, count);
}

static int on_record(void *context, const void *data, size_t size)
{
	struct session *session = context;
	const struct wire_count *counted = data;
	const struct wire_stack *stack = data;
	struct epoch_stacks *stacks;
	int r;

	if (size < sizeof(*counted))
		return -EPROTO;
	stacks = session->stacks[counted->epoch & (WIRE_EPOCHS - 1)];
	if (counted->kind == WIRE_KIND_COUNT)
		return on_count(stacks, &counted->hash, counted->count);
	if (size < sizeof(*stack))
		return -EPROTO;
	unwinder_saw(session->unwinder, stack);
	if (stack->kind == WIRE_KIND_UNFINISHED)
		return unwinder_keep(session->unwinder, data, size);
	r = epoch_stacks_take(stacks, session->tally, data, size);
	return r == 0 && stack->kind == WIRE_KIND_EVENT ? on_count(stacks, &stack->hash, 1) : r;
}

/* The same, but for a stop when the epoch has to end first. */
static int on_record_in_time(void *context, const void *data, size_t size)
{
	int r = on_record(context, data, size);

	return r == 0 ? session_epoch_is_full(context) : r;
}

static int consume(struct session *session,
		   int (*take)(void *context, const void *record, size_t size), struct error *err)
{
	int r = 0;

	images_lock(session->images);
	if (session->sideband)
		r = sideband_drain(session->sideband);
	if (r == 0)
		r = ring_consume(session->ring, take, session);
	if (r == 0)
		r = unwinder_update(session->unwinder, err);
	if (r == 0)
		r = unwinder_settle(session->unwinder, session->stacks, session->tally, err);
	images_unlock(session->images);
	return r < 0 ? error_set(err, r, "cannot take a stack from the ring: %s", strerror(-r)) : 0;
}

int session_consume(struct session *session, struct error *err)
{
	return consume(session, on_record_in_time, err);
}

/* Ends the walks of an epoch that wait for tables. */
static int finish_walks(struct session *session, uint32_t epoch, uint64_t patience_ns,
			struct error *err)
{
	int r;

	images_lock(session->images);
	r = unwinder_finish(session->unwinder, epoch, patience_ns, session->stacks, session->tally,
			    err);
	images_unlock(session->images);
	return r;
}

/* Into the tally with what was counted. */
static int flush(struct session *session, uint32_t epoch, struct error *err)
{
	uint64_t count = 0, unwanted = 0;
	int r = epoch_stacks_flush(session->stacks[epoch], session->tally, &count, &unwanted);

	session->accounting.drained += count;
	session->accounting.unwanted += unwanted;
	return r < 0 ? error_set(err, r, "out of memory") : 0;
}

/*
 * All that was sent in an epoch that has ended: written by now, but maybe behind a record of the
 * next one that is not, for whom it is of was preempted.
 */
static int consume_ended(struct session *session, struct error *err)
{
	const struct timespec moment = { .tv_nsec = 100000 };
	unsigned long end = ring_end(session->ring);
	uint64_t deadline = now_ns() + PREEMPTED_NS;
	int r = consume(session, on_record, err);

	while (r == 0 && ring_taken(session->ring) < end) {
		if (now_ns() > deadline)
			return error_set(err, -ETIMEDOUT, "a stack is not ready in the ring");
		nanosleep(&moment, NULL);
		r = consume(session, on_record, err);
	}
	return r;
}

int session_drain(struct session *session, uint32_t epoch, uint64_t patience_ns, struct error *err)
{
	/* Those of the next epoch wait in its own stacks. */
	int r = consume_ended(session, err);

	if (r == 0 &&
	    epochs_drain(session->side.epochs, epoch, on_count, session->stacks[epoch]) < 0)
		r = error_set(err, -EPROTO, "a stack was counted that was never sent");
	if (r == 0)
		r = finish_walks(session, epoch, patience_ns, err);
	if (r == 0)
		r = flush(session, epoch, err);
	epoch_stacks_clear(session->stacks[epoch]);
	return r;
}

int session_forget(struct session *session, struct tally *tally, struct error *err)
{
	uint32_t n = tally_n_addresses(tally);
	own(own_free) struct tally_address *before = malloc((n ? n : 1) * sizeof(*before));
	own(own_free) uint32_t *ids = calloc(images_n(session->images), sizeof(*ids));
	int r = before && ids ? 0 : -ENOMEM;

	images_lock(session->images);
	for (uint32_t i = 0; r == 0 && i < WIRE_EPOCHS; i++)
		epoch_stacks_mark_images(session->stacks[i], tally, ids);
	if (r == 0) {
		if (n)
			memcpy(before, tally_addresses(tally), n * sizeof(*before));
		tally_reset(tally);
		images_forget(session->images, ids);
	}
	for (uint32_t i = 0; r == 0 && i < WIRE_EPOCHS; i++)
		r = epoch_stacks_rebase(session->stacks[i], tally, before, ids);
	images_unlock(session->images);
	return r < 0 ? error_set(err, r, "out of memory") : 0;
}

int session_switch_and_drain(struct session *session, uint64_t patience_ns, struct error *err)
{
	int ended = epochs_switch(session->side.epochs, err);

	return ended < 0 ? ended : session_drain(session, (uint32_t)ended, patience_ns, err);
}
