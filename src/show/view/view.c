// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static uint64_t hash_stack(const struct view *view, const struct view_stack *stack)
{
	return hash_bytes(view->stack_frames + stack->first, stack->n * sizeof(uint32_t)) ^
	       hash_u64((uint64_t)stack->marks << 32 | stack->flags);
}

/* Where kernel stacks are not shown, what says why a thread was off the CPU still is. */
static uint32_t n_shown(const struct view *view, const struct tally_stack *stack)
{
	uint32_t n =
		view->flags & PROFILE_VIEW_NO_KERNEL ? tally_off_cpu_frames(view->tally, stack) : 0;

	return n ? n : stack->n_frames;
}

/* Writes the frames of a stack of the tally, at most PROFILE_MAX_FRAMES. */
static struct view_stack write_stack(const struct view *view, uint32_t stack, uint32_t *to)
{
	const struct tally_stack *from = &tally_stacks(view->tally)[stack];
	const uint32_t *addresses = tally_frames(view->tally, from);
	uint32_t end = TALLY_STACK_END(from->flags), n = 0, n_from = n_shown(view, from);
	/* No format shows this flag. */
	uint32_t flags = from->flags & ~(uint32_t)TALLY_STACK_ASSUMED;

	if (n_from < from->n_frames)
		flags = 0;
	if (!view->first_of) {
		for (; n < n_from; n++)
			to[n] = view->frame_of[addresses[n]];
	} else {
		for (uint32_t i = 0; i < n_from; i++) {
			uint64_t from_frame = view->first_of[addresses[i]];
			uint64_t more = view->first_of[addresses[i] + 1] - from_frame;

			if (more > PROFILE_MAX_FRAMES - n) {
				flags |= TALLY_STACK_CUT;
				break;
			}
			memcpy(to + n, view->frame_of + from_frame, more * sizeof(*to));
			n += (uint32_t)more;
		}
	}
	if (end < TALLY_N_ENDS && view->end_frames[end] != INDEX_NONE && n < PROFILE_MAX_FRAMES)
		to[n++] = view->end_frames[end];
	return (struct view_stack){ .n = n, .flags = flags };
}

struct view_stack view_read(const struct view *view, uint32_t id, uint32_t room[PROFILE_MAX_FRAMES],
			    const uint32_t **ret_frames)
{
	if (view->filter) {
		*ret_frames = view->stack_frames + view->stacks[id].first;
		return view->stacks[id];
	}
	*ret_frames = room;
	return write_stack(view, id, room);
}

void view_expect_stack(const struct view *view, uint32_t id)
{
	if (view_has(view, id))
		__builtin_prefetch(view->filter ? (const void *)&view->stacks[id]
						: (const void *)&tally_stacks(view->tally)[id]);
}

void view_expect_frames(const struct view *view, uint32_t id)
{
	const uint32_t *frames;
	uint32_t n;

	if (!view_has(view, id))
		return;
	if (view->filter) {
		frames = view->stack_frames + view->stacks[id].first;
		n = view->stacks[id].n;
	} else {
		const struct tally_stack *stack = &tally_stacks(view->tally)[id];

		frames = tally_frames(view->tally, stack);
		n = stack->n_frames;
	}
	__builtin_prefetch(frames);
	if (n > 16)
		__builtin_prefetch(frames + 16);
}

static bool same_stack(const struct view *view, uint32_t known, const struct view_stack *written)
{
	const uint32_t *frames = view->stack_frames + written->first, *known_frames;
	uint32_t room[PROFILE_MAX_FRAMES];
	struct view_stack stack = view_read(view, known, room, &known_frames);

	return stack.n == written->n && stack.flags == written->flags &&
	       stack.marks == written->marks &&
	       memcmp(known_frames, frames, stack.n * sizeof(*frames)) == 0;
}

/* Stores a new stack; its frames move to the end of the others. */
static int store_stack(struct view *view, struct view_stack stack)
{
	int r = grow(&view->stacks, &view->stack_capacity, (size_t)view->n_stacks + 1);

	if (r < 0)
		return r;
	if (stack.first != view->n_stack_frames)
		memmove(view->stack_frames + view->n_stack_frames, view->stack_frames + stack.first,
			stack.n * sizeof(uint32_t));
	stack.first = view->n_stack_frames;
	view->stacks[view->n_stacks++] = stack;
	view->n_stack_frames += stack.n;
	return 0;
}

/* `of`: the stack of the tally. */
static int intern_stack(struct view *view, const struct view_stack *written, uint64_t hash,
			uint32_t of, uint32_t *ret_id)
{
	uint32_t id = view->filter ? view->n_stacks : of;
	struct index_cursor cursor;
	int r;

	for (uint32_t at = index_first(&view->stack_index, hash, &cursor); at != INDEX_NONE;
	     at = index_next(&view->stack_index, &cursor)) {
		if (same_stack(view, at, written)) {
			*ret_id = at;
			return 0;
		}
	}
	r = index_add(&view->stack_index, hash, id);
	if (r == 0 && view->filter)
		r = store_stack(view, *written);
	*ret_id = id;
	return r;
}

/* How many stacks are written before the first is looked up, so that prefetches arrive in time. */
#define BATCH 16u

static int intern_batch(struct view *view, const uint32_t *stacks, uint32_t n, uint32_t *ids)
{
	struct view_stack written[BATCH];
	uint64_t hashes[BATCH], end = view->n_stack_frames;
	int r = 0;

	r = grow(&view->stack_frames, &view->stack_frame_capacity,
		 end + BATCH * PROFILE_MAX_FRAMES);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < n; i++) {
		written[i] = write_stack(view, stacks[i], view->stack_frames + end);
		written[i].first = end;
		if (view->filter)
			view_filter_stack(view, &written[i], ids == view->whole_of);
		end += written[i].n;
		hashes[i] = hash_stack(view, &written[i]);
		index_prefetch(&view->stack_index, hashes[i]);
	}
	for (uint32_t i = 0; r == 0 && i < n; i++)
		r = intern_stack(view, &written[i], hashes[i], stacks[i], &ids[stacks[i]]);
	return r;
}

/* Gives the stacks that are shown a 0 for now, in place of INDEX_NONE. */
static void mark_shown(const struct view *view, uint32_t *ids)
{
	const struct tally_entry *entries = tally_entries(view->tally);
	uint32_t n = tally_n_stacks(view->tally);

	for (uint32_t i = 0; i < tally_n_entries(view->tally); i++) {
		if (entries[i].kernel < n &&
		    (!(view->flags & PROFILE_VIEW_NO_KERNEL) ||
		     tally_off_cpu_frames(view->tally,
					  &tally_stacks(view->tally)[entries[i].kernel])))
			ids[entries[i].kernel] = 0;
		if (!(view->flags & PROFILE_VIEW_NO_USER) && entries[i].user < n)
			ids[entries[i].user] = 0;
	}
}

static int intern_stacks(struct view *view, uint32_t **ret_ids)
{
	uint32_t n = tally_n_stacks(view->tally), n_batch = 0;
	uint32_t *ids = reallocarray(NULL, (size_t)n + 1, sizeof(uint32_t));
	uint32_t batch[BATCH];
	int r = 0;

	*ret_ids = ids;
	if (!ids)
		return -ENOMEM;
	memset(ids, 0xff, (size_t)n * sizeof(uint32_t));
	mark_shown(view, ids);
	for (uint32_t i = 0; r == 0 && i < n; i++) {
		if (ids[i] != INDEX_NONE)
			batch[n_batch++] = i;
		if (n_batch == BATCH) {
			r = intern_batch(view, batch, n_batch, ids);
			n_batch = 0;
		}
	}
	return r < 0 ? r : intern_batch(view, batch, n_batch, ids);
}

static int begin_filter(struct view *view)
{
	int r = frame_marks_new(view->filter, &view->look);

	return r < 0 ? r : pool_new(&view->strings);
}

int view_make(struct view *view, const struct tally *tally, const struct names *names,
	      uint32_t flags, const struct frame_filter *filter)
{
	int r;

	*view = (struct view){ .tally = tally, .names = names, .flags = flags, .filter = filter };
	r = filter ? begin_filter(view) : 0;
	if (r == 0)
		r = view_intern_frames(view);
	if (r < 0)
		return r;
	r = intern_stacks(view, &view->stack_of);
	if (r == 0 && frame_filter_has(filter, FRAME_FILTER_SHOW_FROM))
		r = intern_stacks(view, &view->whole_of);
	return r;
}

void view_end_interning(struct view *view)
{
	index_free(&view->frame_index);
	index_free(&view->stack_index);
	if (view->filter)
		return;
	free(view->stack_frames);
	view->stack_frames = NULL;
	view->n_stack_frames = view->stack_frame_capacity = 0;
}

void view_settle(struct view *view)
{
	free(view->stack_of);
	free(view->whole_of);
	free(view->marks);
	frame_marks_free(view->look);
	view->stack_of = view->whole_of = NULL;
	view->marks = NULL;
	view->look = NULL;
}

void view_clear(struct view *view)
{
	free(view->frames);
	index_free(&view->frame_index);
	free(view->frame_of);
	free(view->first_of);
	free(view->stacks);
	index_free(&view->stack_index);
	free(view->stack_frames);
	free(view->stack_of);
	free(view->whole_of);
	free(view->marks);
	frame_marks_free(view->look);
	pool_free(view->strings);
	*view = (struct view){ 0 };
}
