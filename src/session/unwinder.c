// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/unwinder.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "stacktally.skel.h"
#include "unwind/finish.h"
#include "unwind/table_cache.h"

/* How long the start may wait for the tables of processes that were chosen. */
#define PREPARE_NS 2000000000ull
#define PIECE_NS   50000000ull

/* Walks that wait: more than that are counted as they ended. */
#define WAITING_MAX   4096u
#define WAITING_BYTES (32u << 20)

#define ALL_EPOCHS UINT32_MAX

/* Of a process's walks that lacked nothing, one in so long tells which tables are in use. */
#define SEEN_NS	  10000000ull
#define LAST_SEEN 64u

struct seen {
	uint32_t tgid;
	uint64_t time;
};

struct waiting {
	struct layout *layout; /* what was mapped then; NULL: nobody knows */
	size_t size;
	uint64_t record[]; /* as it came */
};

struct unwinder {
	const struct plan *plan;
	struct images *images;
	struct unwind *unwind;
	struct waiting **waiting; /* in the order they came */
	uint32_t n_waiting, room;
	size_t bytes;
	uint64_t waited, finished;
	struct seen last_seen[LAST_SEEN]; /* by process ids, as many as there is room for */
};

static void free_waiting(struct unwinder *unwinder, struct waiting *waiting)
{
	unwind_release_layout(unwinder->unwind, waiting->layout);
	unwinder->bytes -= waiting->size;
	free(waiting);
}

/* ---- the tables ---- */

int unwinder_open(const struct plan *plan, const struct kernel_side *side, struct images *images,
		  struct unwinder **ret_unwinder, struct error *err)
{
	char cache[PATH_MAX];
	const struct plan_filter *filter = &plan->filter;
	bool chosen = filter->tgids.n && !filter->follow_forks && !plan->command;
	const struct unwind_options options = { .memory = plan->unwind_memory,
						.cache = cache,
						.only = chosen ? &filter->tgids : NULL };
	struct unwind_maps *maps = NULL;
	struct unwinder *unwinder;
	int r;

	*ret_unwinder = NULL;
	table_cache_place(cache, sizeof(cache));
	if (!plan->user || plan->unwind == PLAN_UNWIND_FP || plan->unwind == PLAN_UNWIND_NONE)
		return 0;
	unwinder = calloc(1, sizeof(*unwinder));
	if (!unwinder)
		return error_set(err, -ENOMEM, "out of memory");
	unwinder->plan = plan;
	unwinder->images = images;
	r = unwind_maps_kernel(side->segments, side->rules, side->processes,
			       &side->skeleton->bss->unwind_changes, &maps);
	if (r < 0)
		error_set(err, r, "out of memory");
	else
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
	for (uint32_t i = 0; i < unwinder->n_waiting; i++)
		free_waiting(unwinder, unwinder->waiting[i]);
	free(unwinder->waiting);
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

int unwinder_prepare(struct unwinder *unwinder, struct error *err)
{
	int r = 0;

	/* In pieces: what the kernel tells meanwhile must be taken. */
	for (uint64_t waited = 0; unwinder && r == 0 && waited < PREPARE_NS; waited += PIECE_NS) {
		r = unwind_wait(unwinder->unwind, PIECE_NS, err);
		if (r == 0 && !unwind_is_pending(unwinder->unwind))
			break;
		if (r == 0 && images_keep_up(unwinder->images) < 0)
			r = error_set(err, -ENOMEM, "out of memory");
	}
	return r;
}

/* Whether a walk tells nothing that one shortly before did not. */
static bool is_old_news(struct unwinder *unwinder, const struct wire_stack *stack)
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

	if (unwinder && stack->n_user && !is_old_news(unwinder, stack))
		unwind_count_hits(unwinder->unwind, (pid_t)stack->tgid, frames + stack->n_kernel,
				  stack->n_user, (enum wire_end)stack->end);
}

void unwinder_stats(const struct unwinder *unwinder, struct unwinder_stats *ret_stats)
{
	*ret_stats = (struct unwinder_stats){ .waited = unwinder->waited,
					      .finished = unwinder->finished };
	unwind_stats(unwinder->unwind, &ret_stats->tables);
}

/* ---- walks that wait ---- */

static const struct wire_stack *stack_of(const struct waiting *waiting)
{
	return (const struct wire_stack *)waiting->record;
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
	return size - sizeof(*stack) - frames - sizeof(struct wire_rest) == rest_of(stack)->size;
}

/* Has the tables made that the walk lacks. A process that nothing is known of stays unfinished. */
static int hold(struct unwinder *unwinder, struct waiting *waiting)
{
	const struct wire_stack *stack = stack_of(waiting);
	const uint64_t *user = (const uint64_t *)(stack + 1) + stack->n_kernel;
	/* Where it broke off; a library that was loaded just now is looked for. */
	uint64_t address = user[stack->n_user - 1] & WIRE_FRAME_ADDRESS;
	uint32_t image = IMAGE_NONE;
	int r = images_learn(unwinder->images, (pid_t)stack->tgid, stack->image, stack->time,
			     &address, 1, &image);

	if (r == 0 && image != IMAGE_NONE)
		r = unwind_hold_layout(unwinder->unwind, image, &waiting->layout);
	return r == -ESRCH || r == -ENOSPC ? 0 : r;
}

int unwinder_keep(struct unwinder *unwinder, const void *data, size_t size)
{
	struct waiting *waiting;

	if (!unwinder || !is_whole(data, size))
		return -EPROTO;
	if (unwinder->n_waiting == unwinder->room) {
		uint32_t room = unwinder->room ? unwinder->room * 2 : 64;
		struct waiting **grown =
			reallocarray(unwinder->waiting, room, sizeof(struct waiting *));

		if (!grown)
			return -ENOMEM;
		unwinder->waiting = grown;
		unwinder->room = room;
	}
	waiting = malloc(sizeof(*waiting) + size);
	if (!waiting)
		return -ENOMEM;
	*waiting = (struct waiting){ .size = size };
	memcpy(waiting->record, data, size);
	unwinder->waiting[unwinder->n_waiting++] = waiting;
	unwinder->bytes += size;
	unwinder->waited++;
	return hold(unwinder, waiting);
}

bool unwinder_is_full(const struct unwinder *unwinder)
{
	return unwinder && (unwinder->n_waiting >= WAITING_MAX || unwinder->bytes >= WAITING_BYTES);
}

/* The walk that waited goes as far as it gets; what it finds goes into the book as one event. */
static int finish_one(struct unwinder *unwinder, const struct waiting *waiting, struct book *book,
		      struct tally *tally)
{
	const struct wire_stack *record = stack_of(waiting);
	const struct wire_rest *rest = rest_of(record);
	uint32_t before = (uint32_t)record->n_kernel + record->n_user, room;
	uint64_t frames[2 * WIRE_MAX_DEPTH];
	struct wire_stack stack = *record;
	struct finished_walk finished;

	memcpy(frames, record + 1, before * sizeof(*frames));
	if (waiting->layout) {
		room = unwinder->plan->user_depth > record->n_user
			       ? unwinder->plan->user_depth - record->n_user
			       : 0;
		finished = finish_walk(unwinder->unwind, waiting->layout, rest, rest + 1,
				       frames + before, room);
		stack.n_user = (uint16_t)(record->n_user + finished.n);
		stack.end = (uint8_t)finished.end;
		stack.flags |= finished.assumed ? WIRE_STACK_ASSUMED : 0;
		unwinder->finished +=
			finished.end == WIRE_END_COMPLETE || finished.end == WIRE_END_ENTRY;
	}
	return book_add(book, tally, &stack, frames, 1);
}

/* Ends those that wait, or only those of an epoch. */
static int finish(struct unwinder *unwinder, uint32_t epoch, struct book *const *books,
		  struct tally *tally, struct error *err)
{
	uint32_t n = 0;
	int r = 0;

	for (uint32_t i = 0; i < unwinder->n_waiting; i++) {
		struct waiting *waiting = unwinder->waiting[i];
		uint32_t of = stack_of(waiting)->epoch & (WIRE_EPOCHS - 1);

		if (r < 0 || (epoch != ALL_EPOCHS && of != epoch)) {
			unwinder->waiting[n++] = waiting;
			continue;
		}
		r = finish_one(unwinder, waiting, books[of], tally);
		if (r < 0)
			error_set(err, r, "out of memory");
		free_waiting(unwinder, waiting);
	}
	unwinder->n_waiting = n;
	return r;
}

int unwinder_settle(struct unwinder *unwinder, struct book *const books[WIRE_EPOCHS],
		    struct tally *tally, struct error *err)
{
	if (!unwinder || unwinder->n_waiting == 0 || unwind_is_pending(unwinder->unwind))
		return 0;
	return finish(unwinder, ALL_EPOCHS, books, tally, err);
}

int unwinder_finish(struct unwinder *unwinder, uint32_t epoch, uint64_t patience_ns,
		    struct book *const books[WIRE_EPOCHS], struct tally *tally, struct error *err)
{
	int r;

	if (!unwinder || unwinder->n_waiting == 0)
		return 0;
	r = unwind_wait(unwinder->unwind, patience_ns, err);
	return r < 0 ? r : finish(unwinder, epoch, books, tally, err);
}
