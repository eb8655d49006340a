/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The frames and stacks of a tally, interned for one view: frames that print alike have one index,
 * and so have stacks of such frames. Internal to view/: for profile_build() and profile_read().
 *
 * A stack of the view is the first one of the tally that prints like it, and has its id; its frames
 * are translated whenever they are read, so that they take no memory beside the tally's. Only a
 * filter leaves stacks that are none of the tally: these are stored.
 */
#ifndef STACKTALLY_VIEW_VIEW_H
#define STACKTALLY_VIEW_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index.h"
#include "tally/names.h"
#include "tally/tally.h"
#include "view/frame_filter.h"
#include "view/profile.h"

struct view_stack {
	uint64_t first; /* in `stack_frames`, of stacks that are stored or looked up */
	uint32_t n;
	uint32_t flags; /* enum tally_stack_flags */
	uint32_t marks; /* 1 << enum frame_filter_kind: of all frames, also of those left out */
};

struct view {
	const struct tally *tally;
	const struct names *names;
	uint32_t flags;			   /* enum profile_view_flags */
	const struct frame_filter *filter; /* or NULL: the following are of no use then */
	struct frame_marks *look;
	struct pool *strings; /* of names that the filter made */
	uint8_t *marks;	      /* of each frame: 1 << enum frame_filter_kind */
	uint32_t mark_capacity;

	struct profile_frame *frames;
	uint32_t n_frames, frame_capacity;
	struct index frame_index;

	/* The frames that name the reason why a walk ended; INDEX_NONE: did not occur. */
	uint32_t end_frames[TALLY_N_ENDS];

	/* The frames of each address: frame_of[first_of[a]] to frame_of[first_of[a + 1]]. */
	uint32_t *frame_of;
	uint64_t *first_of; /* NULL if each address has one frame, frame_of[a] */

	struct view_stack *stacks; /* with a filter */
	uint32_t n_stacks, stack_capacity;
	struct index stack_index;
	uint32_t *stack_frames; /* of `stacks`, and behind them of those that are looked up */
	uint64_t n_stack_frames, stack_frame_capacity;
	uint32_t *stack_of; /* the id of each stack of the tally here; INDEX_NONE: not shown */
	/* With --show-from: of kernel stacks on top of user stacks that begin at such a frame. */
	uint32_t *whole_of;
};

/*
 * Interns all frames, and the kernel and user stacks that are shown. 0 or a negative errno; call
 * view_clear() in both cases.
 */
int view_make(struct view *view, const struct tally *tally, const struct names *names,
	      uint32_t flags, const struct frame_filter *filter);
void view_clear(struct view *view);
/* Frees what finds frames and stacks again: none follows. */
void view_end_interning(struct view *view);
/* Frees all that view_read(), view_expect_*() and view_clear() do not need. */
void view_settle(struct view *view);

/* Whether a stack of the view has this id; else it is TALLY_STACK_NONE or _MISSED. */
static inline bool view_has(const struct view *view, uint32_t id)
{
	return id < (view->filter ? view->n_stacks : tally_n_stacks(view->tally));
}

/* The stack with this id. Its frames, *ret_frames, are in `room` or the view's. */
struct view_stack view_read(const struct view *view, uint32_t id, uint32_t room[PROFILE_MAX_FRAMES],
			    const uint32_t **ret_frames);
/* Prefetches what view_read() reads first, and what it reads then. */
void view_expect_stack(const struct view *view, uint32_t id);
void view_expect_frames(const struct view *view, uint32_t id);

/* The id of a stack of the tally in this view, TALLY_STACK_NONE for one that is not shown;
 * TALLY_STACK_NONE and _MISSED stay the same. */
static inline uint32_t view_stack(const struct view *view, uint32_t stack)
{
	return stack < tally_n_stacks(view->tally) ? view->stack_of[stack] : stack;
}

/* Interns the frames of all addresses, and of the ways in which walks ended. 0 or -ENOMEM. */
int view_intern_frames(struct view *view);

/* Applies the filter to a stack that was written last. `whole`: not --show-from. */
void view_filter_stack(const struct view *view, struct view_stack *stack, bool whole);

/*
 * Gives an entry the stacks that the filter leaves of those that it has in the view. False: the
 * entry is not shown.
 */
bool view_filter_entry(const struct view *view, const struct tally_entry *of,
		       struct tally_entry *shown);

/* Removes the frames that no stack of these entries has, so that no format lists them. 0 or
 * -ENOMEM. */
int view_drop_frames(struct view *view, const struct tally_entry *entries, uint32_t n);

#endif
