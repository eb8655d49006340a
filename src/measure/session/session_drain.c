// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts and stacks from the kernel into the tally, one epoch at a time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "drain/code_names.h"
#include "drain/code_places.h"
#include "session/session_internal.h"

/* So many stacks, some 5 MB, end an epoch. */
#define EPOCH_STACKS 16384u

/* After so many records the time is looked at. */
#define RECORDS_TO_LOOK 16u

/* So long may the writer of a record be preempted. */
#define PREEMPTED_NS (10 * NS_PER_SECOND)

bool session_epoch_is_full(const struct session *session)
{
	const struct epoch_stacks *now = session->stacks[epochs_now(session->side.epochs)];

	return epoch_stacks_n(now) >= EPOCH_STACKS || unwinder_is_full(session->unwinder);
}

/* The stack of each count is known: a count begins only after its stack was sent. */
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
	if (counted->kind == WIRE_KIND_TIME && session->off_cpu)
		return size < sizeof(struct wire_time) ? -EPROTO
						       : off_cpu_take(session->off_cpu, data);
	if (counted->kind == WIRE_KIND_PAIR && session->off_cpu)
		return size < sizeof(struct wire_pair) ? -EPROTO
						       : off_cpu_take_pair(session->off_cpu, data);
	if (counted->kind == WIRE_KIND_CODE)
		return code_names_take(session->codes, data, size);
	if (counted->kind == WIRE_KIND_PLACE)
		return code_places_take(session->places, session->codes, data, size);
	if (size < sizeof(*stack))
		return -EPROTO;
	unwinder_saw(session->unwinder, stack);
	if (stack->kind == WIRE_KIND_UNFINISHED)
		return unwinder_defer(session->unwinder, data, size);
	r = epoch_stacks_take(stacks, session->tally, data, size);
	return r == 0 && stack->kind == WIRE_KIND_EVENT ? on_count(stacks, &stack->hash, 1) : r;
}

/* As on_record(), but stops where the epoch or the measurement has to end. */
static int on_record_of_epoch(void *context, const void *data, size_t size)
{
	struct session *session = context;
	int r = on_record(session, data, size);

	/* New programs take long to learn on a busy machine, and the ring may be full of them. */
	if (r == 0 && ++session->n_records % RECORDS_TO_LOOK == 0 &&
	    monotonic_ns() >= session_end(session))
		return 1;
	return r == 0 ? session_epoch_is_full(session) : r;
}

static int consume_locked(struct session *session,
			  int (*take)(void *context, const void *record, size_t size),
			  struct error *err)
{
	int r = session->sideband ? sideband_drain(session->sideband) : 0;

	if (r < 0)
		return r;
	/* What the records are about to need: then it is made while they are read. */
	r = unwinder_update(session->unwinder, err);
	if (r < 0)
		return r;
	r = ring_consume(session->ring, take, session);
	if (r < 0)
		return r;
	r = unwinder_update(session->unwinder, err);
	if (r < 0)
		return r;
	return unwinder_finish_ready(session->unwinder, session->stacks, session->tally, err);
}

static int consume(struct session *session,
		   int (*take)(void *context, const void *record, size_t size), struct error *err)
{
	int r;

	images_lock(session->images);
	r = consume_locked(session, take, err);
	images_unlock(session->images);
	return r < 0 ? error_set(err, r, "cannot take a stack from the ring: %s", strerror(-r)) : 0;
}

int session_consume(struct session *session, struct error *err)
{
	return consume(session, on_record_of_epoch, err);
}

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

/* Adds what was counted to the tally. */
static int flush(struct session *session, uint32_t epoch, struct error *err)
{
	uint64_t count = 0, unwanted = 0;
	int r = epoch_stacks_flush(session->stacks[epoch], session->tally, &count, &unwanted);

	session->accounting.drained += count;
	session->accounting.unwanted += unwanted;
	return r < 0 ? error_set(err, r, "out of memory") : 0;
}

/*
 * Consumes all records of an epoch that has ended. They are all written, but may sit behind an
 * unfinished record of the next epoch, whose writer was preempted.
 */
static int consume_ended(struct session *session, struct error *err)
{
	const struct timespec moment = { .tv_nsec = 100000 };
	unsigned long end = ring_end(session->ring);
	uint64_t deadline = monotonic_ns() + PREEMPTED_NS;
	int r = consume(session, on_record, err);

	while (r == 0 && ring_taken(session->ring) < end) {
		if (monotonic_ns() > deadline)
			return error_set(err, -ETIMEDOUT, "a stack is not ready in the ring");
		nanosleep(&moment, NULL);
		r = consume(session, on_record, err);
	}
	return r;
}

/* The times of an epoch that has ended, up to when it did. */
static int drain_off_cpu(struct session *session, uint32_t epoch, struct error *err)
{
	bool final = session->stopped;

	if (!session->off_cpu)
		return 0;
	return off_cpu_drain(session->off_cpu, epoch, final ? session->stopped : session->switched,
			     final, session->tally, err);
}

int session_drain(struct session *session, uint32_t epoch, uint64_t patience_ns, struct error *err)
{
	int r = consume_ended(session, err);

	if (r < 0)
		return r;
	if (epochs_drain(session->side.epochs, epoch, on_count, session->stacks[epoch]) < 0)
		return error_set(err, -EPROTO, "a stack was counted that was never sent");
	r = finish_walks(session, epoch, patience_ns, err);
	if (r < 0)
		return r;
	r = drain_off_cpu(session, epoch, err);
	if (r < 0)
		return r;
	r = flush(session, epoch, err);
	if (r == 0 && (session->off_cpu ? epoch_stacks_keep(session->stacks[epoch])
					: epoch_stacks_clear(session->stacks[epoch])) < 0)
		r = error_set(err, -ENOMEM, "out of memory");
	return r;
}

int session_watch_jit(struct session *session, struct error *err)
{
	uint32_t n;
	int r;

	images_lock(session->images);
	r = images_watch_jit(session->images, monotonic_ns(), &n);
	images_unlock(session->images);
	if (r < 0)
		return error_set(err, r, "out of memory");
	return n ? session_switch_and_drain(session, 0, err) : 0;
}

static int forget_locked(struct session *session, struct tally *tally)
{
	uint32_t n = tally_n_addresses(tally);
	own(own_free) struct tally_address *before = malloc((n ? n : 1) * sizeof(*before));
	own(own_free) uint32_t *ids = calloc(images_n(session->images), sizeof(*ids));

	if (!before || !ids)
		return -ENOMEM;
	for (uint32_t i = 0; i < session->n_stacks; i++)
		epoch_stacks_mark_images(session->stacks[i], tally, ids);
	if (n)
		memcpy(before, tally_addresses(tally), n * sizeof(*before));
	tally_reset(tally);
	images_forget(session->images, ids);
	for (uint32_t i = 0; i < session->n_stacks; i++) {
		int r = epoch_stacks_rebase(session->stacks[i], tally, before, ids);

		if (r < 0)
			return r;
	}
	return 0;
}

int session_forget(struct session *session, struct tally *tally, struct error *err)
{
	int r;

	images_lock(session->images);
	r = forget_locked(session, tally);
	images_unlock(session->images);
	return r < 0 ? error_set(err, r, "out of memory") : 0;
}

int session_switch_and_drain(struct session *session, uint64_t patience_ns, struct error *err)
{
	int ended;

	session->switched = monotonic_ns();
	ended = epochs_switch(session->side.epochs, err);
	return ended < 0 ? ended : session_drain(session, (uint32_t)ended, patience_ns, err);
}
