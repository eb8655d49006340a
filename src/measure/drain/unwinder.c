// SPDX-License-Identifier: GPL-2.0-or-later
#include "drain/unwinder.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/own.h"
#include "unwind/finish.h"
#include "unwind/table_cache.h"

/* How long the start may wait for tables, and in which steps. */
#define PREPARE_NS (2 * NS_PER_SECOND)
#define STEP_NS	   (50 * NS_PER_MS)

/* So many walks may be deferred before the epoch has to end. */
#define DEFERRED_MAX   4096u
#define DEFERRED_BYTES (32u << 20)

#define ALL_EPOCHS UINT32_MAX

/* So often a complete walk of a process is used to learn which tables are in use. */
#define SEEN_NS	  (10 * NS_PER_MS)
#define LAST_SEEN 64u

struct seen {
	uint32_t tgid;
	uint64_t time;
};

struct deferred {
	struct layout *layout; /* what was mapped then; NULL: not known */
	size_t size;
	uint64_t record[];
};

struct unwinder {
	const struct plan *plan;
	struct images *images;
	struct interpreters *interpreters;
	struct unwind *unwind;
	struct deferred **deferred; /* in order of arrival */
	uint32_t n_deferred, capacity;
	size_t bytes;
	uint64_t waited, finished;
	struct seen last_seen[LAST_SEEN]; /* by tgid; a later process takes over a slot */
};

static void free_deferred(struct unwinder *unwinder, struct deferred *deferred)
{
	unwind_release_layout(unwinder->unwind, deferred->layout);
	unwinder->bytes -= deferred->size;
	free(deferred);
}

/* ---- the tables ---- */

static uint32_t interpreter_of(void *interpreters, uint32_t file)
{
	return interpreters_of_file(interpreters, file);
}

static int interprets(void *interpreters, pid_t tgid, const struct wire_mapped_interpreter *list,
		      uint32_t n)
{
	return interpreters_process(interpreters, tgid, list, n);
}

int unwinder_open(const struct plan *plan, struct unwind_maps *maps, struct images *images,
		  struct interpreters *interpreters, struct unwinder **ret_unwinder,
		  struct error *err)
{
	char cache[PATH_MAX];
	const struct unwind_options options = { .memory = plan->unwind_memory,
						.cache = cache,
						.only = plan_chosen(plan) ? &plan->filter.tgids
									  : NULL,
						.interpreter = interpreter_of,
						.interprets = interprets,
						.interpreter_context = interpreters };
	struct unwinder *unwinder = calloc(1, sizeof(*unwinder));
	int r;

	if (!unwinder) {
		unwind_maps_close(maps);
		return error_set(err, -ENOMEM, "out of memory");
	}
	table_cache_place(cache, sizeof(cache));
	unwinder->plan = plan;
	unwinder->images = images;
	unwinder->interpreters = interpreters;
	r = unwind_new(images, maps, &options, &unwinder->unwind, err);
	if (r < 0) {
		unwinder_close(unwinder);
		return r;
	}
	*ret_unwinder = unwinder;
	return 0;
}

void unwinder_close(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	for (uint32_t i = 0; i < unwinder->n_deferred; i++)
		free_deferred(unwinder, unwinder->deferred[i]);
	free(unwinder->deferred);
	unwind_free(unwinder->unwind);
	free(unwinder);
}

int unwinder_fd(const struct unwinder *unwinder)
{
	return unwinder ? unwind_fd(unwinder->unwind) : -1;
}

int unwinder_update(struct unwinder *unwinder, struct error *err)
{
	return unwinder ? unwind_update(unwinder->unwind, err) : 0;
}

int unwinder_expect(struct unwinder *unwinder, int fd, struct error *err)
{
	uint32_t file;
	int r;

	if (!unwinder)
		return 0;
	r = images_learn_file(unwinder->images, fd, &file);
	if (r == 0)
		r = unwind_expect_file(unwinder->unwind, file);
	return r == -ENOMEM ? error_set(err, r, "out of memory") : 0;
}

int unwinder_prepare(struct unwinder *unwinder, struct error *err)
{
	if (!unwinder)
		return 0;
	/* In steps, because the side-band must be drained meanwhile. */
	for (uint64_t waited = 0; waited < PREPARE_NS; waited += STEP_NS) {
		int r = unwind_wait(unwinder->unwind, STEP_NS, err);

		if (r < 0)
			return r;
		if (!unwind_is_pending(unwinder->unwind))
			break;
		if (images_drain(unwinder->images) < 0)
			return error_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

/* Whether the walk is complete and another of the process was seen shortly before. */
static bool was_seen(struct unwinder *unwinder, const struct wire_stack *stack)
{
	struct seen *last = &unwinder->last_seen[stack->tgid % LAST_SEEN];

	if (stack->end == WIRE_END_COMPLETE && last->tgid == stack->tgid &&
	    stack->time - last->time < SEEN_NS)
		return true;
	*last = (struct seen){ .tgid = stack->tgid, .time = stack->time };
	return false;
}

void unwinder_saw(struct unwinder *unwinder, const struct wire_stack *stack)
{
	const uint64_t *frames = (const uint64_t *)(stack + 1);

	if (!unwinder || !stack->n_user)
		return;
	interpreters_saw(unwinder->interpreters, (pid_t)stack->tgid);
	if (stack->end == WIRE_END_NO_PROCESS || stack->flags & WIRE_STACK_ASKED)
		unwind_missed(unwinder->unwind, (pid_t)stack->tgid);
	if (!was_seen(unwinder, stack))
		unwind_count_hits(unwinder->unwind, (pid_t)stack->tgid, frames + stack->n_kernel,
				  stack->n_user);
}

const struct unwind *unwinder_tables(const struct unwinder *unwinder)
{
	return unwinder ? unwinder->unwind : NULL;
}

const struct interpreters *unwinder_interpreters(const struct unwinder *unwinder)
{
	return unwinder ? unwinder->interpreters : NULL;
}

void unwinder_stats(const struct unwinder *unwinder, struct unwinder_stats *ret_stats)
{
	*ret_stats = (struct unwinder_stats){ .waited = unwinder->waited,
					      .finished = unwinder->finished };
	unwind_stats(unwinder->unwind, &ret_stats->tables);
}

/* ---- deferred walks ---- */

static const struct wire_stack *stack_of(const struct deferred *deferred)
{
	return (const struct wire_stack *)deferred->record;
}

static const struct wire_rest *rest_of(const struct wire_stack *stack)
{
	const uint64_t *frames = (const uint64_t *)(stack + 1);

	return (const struct wire_rest *)(frames + stack->n_kernel + stack->n_user);
}

static bool is_whole(const struct wire_stack *stack, size_t size)
{
	size_t frames;

	if (size < sizeof(*stack) || stack->kind != WIRE_KIND_UNFINISHED ||
	    stack->n_kernel > WIRE_MAX_DEPTH || stack->n_user > WIRE_MAX_DEPTH ||
	    stack->n_user == 0 || stack->end >= WIRE_N_ENDS)
		return false;
	frames = ((size_t)stack->n_kernel + stack->n_user) * sizeof(uint64_t);
	if (size - sizeof(*stack) < frames + sizeof(struct wire_rest))
		return false;
	return size - sizeof(*stack) - frames - sizeof(struct wire_rest) ==
	       rest_of(stack)->runs * sizeof(uint64_t) + rest_of(stack)->size;
}

/* Has the missing tables made. The walk of an unknown process has no layout, and stays as it is. */
static int hold_layout(struct unwinder *unwinder, struct deferred *deferred)
{
	const struct wire_stack *stack = stack_of(deferred);
	const uint64_t *user = (const uint64_t *)(stack + 1) + stack->n_kernel;
	/* Where it broke off: maybe in a library that was loaded just now. */
	uint64_t address = user[stack->n_user - 1] & WIRE_FRAME_ADDRESS;
	uint32_t image = IMAGE_NONE;
	int r = images_learn(unwinder->images, (pid_t)stack->tgid, stack->image, stack->time,
			     &address, 1, &image);

	if (r == 0 && image != IMAGE_NONE)
		r = unwind_hold_layout(unwinder->unwind, image, &deferred->layout);
	return r == -ESRCH || r == -ENOSPC ? 0 : r;
}

int unwinder_defer(struct unwinder *unwinder, const void *record, size_t size)
{
	struct deferred *deferred;
	int r;

	if (!unwinder || !is_whole(record, size))
		return -EPROTO;
	r = grow(&unwinder->deferred, &unwinder->capacity, unwinder->n_deferred + 1);
	if (r < 0)
		return r;
	deferred = malloc(sizeof(*deferred) + size);
	if (!deferred)
		return -ENOMEM;
	*deferred = (struct deferred){ .size = size };
	memcpy(deferred->record, record, size);
	unwinder->deferred[unwinder->n_deferred++] = deferred;
	unwinder->bytes += size;
	unwinder->waited++;
	return hold_layout(unwinder, deferred);
}

bool unwinder_defers(const struct unwinder *unwinder)
{
	return unwinder && unwinder->n_deferred > 0;
}

bool unwinder_is_full(const struct unwinder *unwinder)
{
	return unwinder &&
	       (unwinder->n_deferred >= DEFERRED_MAX || unwinder->bytes >= DEFERRED_BYTES);
}

/* Walks on as far as possible; the whole stack is one event. */
static int finish_one(struct unwinder *unwinder, const struct deferred *deferred,
		      const struct stack_sets *stacks, struct tally *tally)
{
	const struct wire_stack *record = stack_of(deferred);
	const struct wire_rest *rest = rest_of(record);
	const uint64_t *runs = (const uint64_t *)(rest + 1);
	uint32_t before = (uint32_t)record->n_kernel + record->n_user, capacity;
	uint64_t frames[2 * WIRE_MAX_DEPTH];
	struct wire_stack stack = *record;
	struct finished_walk finished;

	memcpy(frames, record + 1, before * sizeof(*frames));
	if (deferred->layout) {
		capacity = unwinder->plan->user_depth > record->n_user
				   ? unwinder->plan->user_depth - record->n_user
				   : 0;
		finished = finish_walk(unwinder->unwind, deferred->layout, rest, runs,
				       runs + rest->runs, frames + before, capacity);
		stack.n_user = (uint16_t)(record->n_user + finished.n);
		stack.end = (uint8_t)finished.end;
		stack.flags |= finished.assumed ? WIRE_STACK_ASSUMED : 0;
		unwinder->finished +=
			finished.end == WIRE_END_COMPLETE || finished.end == WIRE_END_ENTRY;
	}
	return stacks->keeping->add(stack_sets_of(stacks, record->epoch), tally, &stack, frames);
}

/* Finishes the deferred walks, or only those of one epoch. */
static int finish(struct unwinder *unwinder, uint32_t epoch, const struct stack_sets *stacks,
		  struct tally *tally, struct error *err)
{
	uint32_t n = 0;
	int r = 0;

	for (uint32_t i = 0; i < unwinder->n_deferred; i++) {
		struct deferred *deferred = unwinder->deferred[i];
		uint32_t of = stack_of(deferred)->epoch & (WIRE_EPOCHS - 1);

		if (r < 0 || (epoch != ALL_EPOCHS && of != epoch)) {
			unwinder->deferred[n++] = deferred;
			continue;
		}
		r = finish_one(unwinder, deferred, stacks, tally);
		if (r < 0)
			error_set(err, r, "out of memory");
		free_deferred(unwinder, deferred);
	}
	unwinder->n_deferred = n;
	return r;
}

int unwinder_finish_ready(struct unwinder *unwinder, const struct stack_sets *stacks,
			  struct tally *tally, struct error *err)
{
	if (!unwinder || unwinder->n_deferred == 0 || unwind_is_awaited(unwinder->unwind))
		return 0;
	return finish(unwinder, ALL_EPOCHS, stacks, tally, err);
}

int unwinder_finish(struct unwinder *unwinder, uint32_t epoch, struct unwind_limit limit,
		    const struct stack_sets *stacks, struct tally *tally, struct error *err)
{
	int r;

	if (!unwinder || unwinder->n_deferred == 0)
		return 0;
	r = unwind_wait_for_walks(unwinder->unwind, limit, err);
	return r < 0 ? r : finish(unwinder, epoch, stacks, tally, err);
}
