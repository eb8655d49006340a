// SPDX-License-Identifier: GPL-2.0-or-later
#include "drain/drain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/own.h"
#include "drain/ring.h"
#include "drain/script_names.h"
#include "drain/script_places.h"
#include "drain/unwinder.h"
#include "kernel/interrupt_frames.h"
#include "kernel/kernel_names.h"
#include "kernel/tracepoint_frames.h"
#include "process/sideband.h"

/* After so many records the time is looked at. */
#define RECORDS_TO_LOOK 16u

/* The longest that the writer of a record may be preempted. */
#define PREEMPTED_NS (10 * NS_PER_SECOND)

struct drain {
	struct images *images;
	struct sideband *sideband;
	struct unwinder *unwinder;
	struct scripts *scripts;
	struct epochs *epochs;
	struct tracepoint_frames *tracepoint_frames; /* NULL: stacks have none */
	struct interrupt_frames *interrupts;	     /* NULL: wakers are not found */
	struct comms others;			     /* that --name left out */
	struct stack_sets stacks;
	struct script_places *places;
	struct ring *ring;
	struct records records;
	uint32_t epoch_stacks; /* that end an epoch */
	uint32_t n_records;    /* taken from the ring */
	uint64_t until;	       /* of the current drain_consume() */
	struct tally *tally;
};

DEFINE_OWN(struct drain, drain_free)

/* ---- the records ---- */

/* The stack of each count is known: a count begins only after its stack was sent. */
static int add_count(void *stacks, const struct wire_hash *hash, uint64_t count)
{
	return epoch_stacks_count(stacks, hash, count);
}

static int take_count(void *context, const void *record, size_t size)
{
	const struct drain *drain = context;
	const struct wire_count *counted = record;

	(void)size;
	return add_count(stack_sets_of(&drain->stacks, counted->epoch), &counted->hash,
			 counted->count);
}

static int take_stack(void *context, const void *record, size_t size)
{
	const struct drain *drain = context;
	const struct wire_stack *stack = record;

	unwinder_saw(drain->unwinder, stack);
	return epoch_stacks_take(stack_sets_of(&drain->stacks, stack->epoch), drain->tally, record,
				 size);
}

static int take_event(void *context, const void *record, size_t size)
{
	const struct drain *drain = context;
	const struct wire_stack *stack = record;
	int r = take_stack(context, record, size);

	return r < 0 ? r : add_count(stack_sets_of(&drain->stacks, stack->epoch), &stack->hash, 1);
}

static int take_unfinished(void *context, const void *record, size_t size)
{
	const struct drain *drain = context;

	unwinder_saw(drain->unwinder, record);
	return unwinder_defer(drain->unwinder, record, size);
}

static int take_code(void *context, const void *record, size_t size)
{
	const struct drain *drain = context;

	return script_names_take(drain->scripts, record, size);
}

static int take_place(void *context, const void *record, size_t size)
{
	const struct drain *drain = context;

	return script_places_take(drain->places, drain->scripts, record, size);
}

static int take_inlined(void *context, const void *record, size_t size)
{
	const struct drain *drain = context;

	return code_places_take_inlined(drain->places, record, size);
}

static const struct record_taker own_takers[WIRE_N_KINDS] = {
	[WIRE_KIND_STACK] = { .least = sizeof(struct wire_stack), .take = take_stack },
	[WIRE_KIND_EVENT] = { .least = sizeof(struct wire_stack), .take = take_event },
	[WIRE_KIND_COUNT] = { .least = sizeof(struct wire_count), .take = take_count },
	[WIRE_KIND_UNFINISHED] = { .least = sizeof(struct wire_stack), .take = take_unfinished },
	[WIRE_KIND_SCRIPT] = { .take = take_code },
	[WIRE_KIND_PLACE] = { .take = take_place },
	[WIRE_KIND_INLINED] = { .take = take_inlined },
};

void drain_set_taker(struct drain *drain, enum wire_kind kind, const struct record_taker *taker)
{
	drain->records.takers[kind] = *taker;
}

/* ---- opening and closing ---- */

static bool find_symbol(void *kernel, uint64_t address, struct kernel_symbol *ret_symbol)
{
	return kernel_names_find(kernel, address, ret_symbol);
}

static int open_stacks(struct drain *drain, const struct drain_options *options)
{
	struct epoch_stacks_options of_stacks = {
		.images = options->images,
		.name = options->plan->filter.name,
		.others = &drain->others,
		.interpreters = options->interpreters,
		.kernel_depth = options->plan->kernel_depth,
		.of_sample = options->plan->off_cpu.sample_ns,
		.scripts = options->scripts,
		.unmarked = options->plan->unwind == PLAN_UNWIND_FP,
	};
	int r = 0;

	memcpy(of_stacks.seed, options->seed, sizeof(of_stacks.seed));
	if (options->tracing)
		r = tracepoint_frames_new(find_symbol, options->kernel, options->raw,
					  &drain->tracepoint_frames);
	if (r == 0 && options->plan->off_cpu.wakers)
		r = interrupt_frames_new(find_symbol, options->kernel, &drain->interrupts);
	if (r < 0)
		return r;
	of_stacks.tracepoint_frames = drain->tracepoint_frames;
	of_stacks.interrupts = drain->interrupts;
	return stack_sets_open(options->keeping, &of_stacks, &drain->stacks);
}

int drain_new(const struct drain_options *options, struct drain **ret_drain, struct error *err)
{
	own(own_drain_free) struct drain *drain = calloc(1, sizeof(*drain));
	int r;

	if (!drain)
		return error_set(err, -ENOMEM, "out of memory");
	drain->images = options->images;
	drain->sideband = options->sideband;
	drain->unwinder = options->unwinder;
	drain->scripts = options->scripts;
	drain->epochs = options->epochs;
	drain->epoch_stacks = options->epoch_stacks;
	memcpy(drain->records.takers, own_takers, sizeof(own_takers));
	for (uint32_t i = 0; i < WIRE_N_KINDS; i++)
		drain->records.takers[i].context = drain;
	r = script_places_new(&drain->places);
	if (r == 0)
		r = open_stacks(drain, options);
	if (r < 0)
		return error_set(err, r, "out of memory");
	r = ring_new(options->ring, options->ring_size, &drain->ring);
	if (r < 0)
		return error_set(err, r, "cannot map the ring: %s", strerror(-r));
	*ret_drain = take_ptr(drain);
	return 0;
}

void drain_free(struct drain *drain)
{
	if (!drain)
		return;
	ring_free(drain->ring);
	script_places_free(drain->places);
	stack_sets_close(&drain->stacks);
	comms_clear(&drain->others);
	interrupt_frames_free(drain->interrupts);
	tracepoint_frames_free(drain->tracepoint_frames);
	free(drain);
}

void drain_into(struct drain *drain, struct tally *tally)
{
	drain->tally = tally;
}

bool drain_has_ended(const struct drain *drain, pid_t tgid, uint64_t time)
{
	bool ended;

	images_lock(drain->images);
	ended = images_has_ended(drain->images, tgid, time);
	images_unlock(drain->images);
	return ended;
}

const struct stack_sets *drain_stacks(const struct drain *drain)
{
	return &drain->stacks;
}

const struct comms *drain_others(const struct drain *drain)
{
	return &drain->others;
}

/* ---- draining ---- */

bool drain_is_full(const struct drain *drain)
{
	const struct epoch_stacks *now = stack_sets_of(&drain->stacks, epochs_now(drain->epochs));

	return epoch_stacks_n(now) >= drain->epoch_stacks || unwinder_is_full(drain->unwinder);
}

static int take_record(void *context, const void *record, size_t size)
{
	const struct drain *drain = context;

	return records_take(&drain->records, record, size);
}

int drain_take(struct drain *drain, const void *record, size_t size)
{
	return records_take(&drain->records, record, size);
}

int drain_enter(struct drain *drain, const struct wire_stack *stack, const uint64_t *frames)
{
	return drain->stacks.keeping->add(stack_sets_of(&drain->stacks, stack->epoch), drain->tally,
					  stack, frames);
}

/* As take_record(), but stops where the epoch or the measurement has to end. */
static int take_of_epoch(void *context, const void *record, size_t size)
{
	struct drain *drain = context;
	int r = take_record(drain, record, size);

	/* New programs take long to learn on a busy machine, and the ring may be full of them. */
	if (r == 0 && ++drain->n_records % RECORDS_TO_LOOK == 0 && monotonic_ns() >= drain->until)
		return 1;
	return r == 0 ? drain_is_full(drain) : r;
}

static int consume_locked(struct drain *drain,
			  int (*take)(void *context, const void *record, size_t size),
			  struct error *err)
{
	int r = drain->sideband ? sideband_drain(drain->sideband) : 0;

	if (r < 0)
		return r;
	/* What the records are about to need: then it is made while they are read. */
	r = unwinder_update(drain->unwinder, err);
	if (r < 0)
		return r;
	r = ring_consume(drain->ring, take, drain);
	if (r < 0)
		return r;
	r = unwinder_update(drain->unwinder, err);
	if (r < 0)
		return r;
	return unwinder_finish_ready(drain->unwinder, &drain->stacks, drain->tally, err);
}

static int consume(struct drain *drain, int (*take)(void *context, const void *record, size_t size),
		   struct error *err)
{
	int r;

	images_lock(drain->images);
	r = consume_locked(drain, take, err);
	images_unlock(drain->images);
	return r < 0 ? error_set(err, r, "cannot take a stack from the ring: %s", strerror(-r)) : 0;
}

int drain_consume(struct drain *drain, uint64_t until, struct error *err)
{
	drain->until = until;
	return consume(drain, take_of_epoch, err);
}

/*
 * Consumes all records of an epoch that has ended. They are all written, but may sit behind an
 * unfinished record of the next epoch, whose writer was preempted.
 */
static int consume_ended(struct drain *drain, struct error *err)
{
	const struct timespec moment = { .tv_nsec = 100000 };
	unsigned long end = ring_end(drain->ring);
	uint64_t deadline = monotonic_ns() + PREEMPTED_NS;
	int r = consume(drain, take_record, err);

	while (r == 0 && ring_taken(drain->ring) < end) {
		if (monotonic_ns() > deadline)
			return error_set(err, -ETIMEDOUT, "a stack is not ready in the ring");
		nanosleep(&moment, NULL);
		r = consume(drain, take_record, err);
	}
	return r;
}

int drain_take_epoch(struct drain *drain, uint32_t epoch, struct unwind_limit limit,
		     struct error *err)
{
	int r = consume_ended(drain, err);

	if (r < 0)
		return r;
	if (epochs_drain(drain->epochs, epoch, add_count, stack_sets_of(&drain->stacks, epoch)) < 0)
		return error_set(err, -EPROTO, "a stack was counted that was never sent");
	images_lock(drain->images);
	r = unwinder_finish(drain->unwinder, epoch, limit, &drain->stacks, drain->tally, err);
	images_unlock(drain->images);
	return r;
}

int drain_flush(struct drain *drain, uint32_t epoch, uint64_t *ret_count, uint64_t *ret_unwanted,
		struct error *err)
{
	struct epoch_stacks *stacks = stack_sets_of(&drain->stacks, epoch);
	int r = epoch_stacks_flush(stacks, drain->tally, ret_count, ret_unwanted);

	if (r == 0)
		r = drain->stacks.keeping->end(stacks);
	return r < 0 ? error_set(err, r, "out of memory") : 0;
}

int drain_forget(struct drain *drain, struct tally *tally, struct error *err)
{
	int r;

	images_lock(drain->images);
	r = stack_sets_forget(&drain->stacks, drain->images, tally);
	images_unlock(drain->images);
	return r < 0 ? error_set(err, r, "out of memory") : 0;
}
