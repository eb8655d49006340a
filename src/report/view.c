// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What the view shows of a frame; equal bytes print alike. Strings are shared, so pointers do. */
struct frame_key {
	const char *name, *module, *file;
	uint64_t offset, address;
	uint32_t line, flags;
};

static struct frame_key frame_key(const struct view *view, const struct profile_frame *frame)
{
	const struct names_frame *is = &frame->is;
	uint32_t shown = NAMES_FRAME_KERNEL;
	struct frame_key key;

	memset(&key, 0, sizeof(key)); /* hashed as bytes */
	key.name = is->name;
	if (!is->name)
		shown |= NAMES_FRAME_JIT;
	if (view->flags & PROFILE_VIEW_INLINED)
		shown |= NAMES_FRAME_INLINED;
	key.flags = is->flags & shown;
	if ((view->flags & PROFILE_VIEW_MODULE) ||
	    (!is->name && view->flags & PROFILE_VIEW_UNNAMED))
		key.module = is->module;
	if (view->flags & PROFILE_VIEW_OFFSET && !(key.flags & NAMES_FRAME_INLINED))
		key.offset = is->offset;
	if (view->flags & PROFILE_VIEW_ADDRESS)
		key.address = frame->address;
	if (view->flags & PROFILE_VIEW_LINES) {
		key.file = is->file;
		key.line = is->line;
	}
	return key;
}

static uint64_t rehash_frame(const void *context, uint32_t position)
{
	const struct view *view = context;
	struct frame_key key = frame_key(view, &view->frames[position]);

	return hash_bytes(&key, sizeof(key));
}

static int intern_frame(struct view *view, const struct profile_frame *frame, uint32_t *ret_id)
{
	struct frame_key key = frame_key(view, frame);
	uint64_t hash = hash_bytes(&key, sizeof(key));
	struct index_cursor cursor;
	int r;

	for (uint32_t at = index_first(&view->frame_index, hash, &cursor); at != INDEX_NONE;
	     at = index_next(&view->frame_index, &cursor)) {
		struct frame_key known = frame_key(view, &view->frames[at]);

		if (memcmp(&known, &key, sizeof(key)) == 0) {
			*ret_id = at;
			return 0;
		}
	}
	if (view->n_frames == view->frame_room) {
		uint64_t room = (uint64_t)view->frame_room * 2 + 256;
		struct profile_frame *grown;

		if (room >= INDEX_NONE)
			return -EFBIG;
		grown = reallocarray(view->frames, room, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		view->frames = grown;
		view->frame_room = (uint32_t)room;
	}
	view->frames[view->n_frames] = *frame;
	r = index_insert(&view->frame_index, hash, view->n_frames, rehash_frame, view);
	if (r < 0)
		return r;
	*ret_id = view->n_frames++;
	return 0;
}

/* Interns the frames of one address into `ids`. One that nobody named yet has no name. */
static int intern_address(struct view *view, const struct names *names, uint32_t address,
			  uint32_t *ids)
{
	const struct tally_address *where = &tally_addresses(view->tally)[address];
	struct profile_frame frame = { .address = where->address };
	struct names_address named;
	int r = 0;

	if (address >= names_n_addresses(names)) {
		frame.is.object = NAMES_NONE;
		frame.is.flags = where->world == TALLY_WORLD_KERNEL ? NAMES_FRAME_KERNEL : 0;
		return intern_frame(view, &frame, ids);
	}
	named = names_addresses(names)[address];
	for (uint32_t i = 0; r == 0 && i < named.n; i++) {
		frame.is = names_frames(names)[named.first + i];
		if (frame.is.name && frame.is.name[0] == '\0')
			frame.is.name = NULL;
		r = intern_frame(view, &frame, &ids[i]);
	}
	return r;
}

int view_start(struct view *view, const struct tally *tally, const struct names *names,
	       uint32_t flags)
{
	uint32_t n = tally_n_addresses(tally), n_named = names_n_addresses(names);
	uint64_t at = 0, total = (uint64_t)names_n_frames(names) + n;
	int r = 0;

	*view = (struct view){ .tally = tally, .flags = flags };
	view->frame_of = reallocarray(NULL, total + 1, sizeof(*view->frame_of));
	view->stack_of = reallocarray(NULL, (size_t)tally_n_stacks(tally) + 1, sizeof(uint32_t));
	if (!view->frame_of || !view->stack_of)
		return -ENOMEM;
	memset(view->stack_of, 0xff, (size_t)tally_n_stacks(tally) * sizeof(uint32_t));
	if (names_n_frames(names) != n_named) {
		view->first_of = reallocarray(NULL, (size_t)n + 1, sizeof(*view->first_of));
		if (!view->first_of)
			return -ENOMEM;
	}
	for (uint32_t i = 0; r == 0 && i < n; i++) {
		if (view->first_of)
			view->first_of[i] = at;
		r = intern_address(view, names, i, view->frame_of + at);
		at += i < n_named ? names_addresses(names)[i].n : 1;
	}
	if (view->first_of)
		view->first_of[n] = at;
	return r;
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
	*view = (struct view){ 0 };
}

static uint64_t hash_stack(const struct view *view, const struct view_stack *stack)
{
	return hash_bytes(view->stack_frames + stack->first, stack->n * sizeof(uint32_t)) ^
	       hash_u64(stack->flags);
}

static uint64_t rehash_stack(const void *context, uint32_t position)
{
	const struct view *view = context;

	return hash_stack(view, &view->stacks[position]);
}

/* Lays the stack's frames behind all others; they stay only if the stack turns out to be new. */
static int lay_out(struct view *view, uint32_t stack, struct view_stack *ret_laid)
{
	const struct tally_stack *from = &tally_stacks(view->tally)[stack];
	const uint32_t *addresses = tally_frames(view->tally, from);
	uint32_t n = 0, flags = from->flags;
	uint32_t *to;

	if (view->stack_frame_room - view->n_stack_frames < PROFILE_MAX_FRAMES) {
		uint64_t room = view->stack_frame_room * 2 + 16 * PROFILE_MAX_FRAMES;
		uint32_t *grown = reallocarray(view->stack_frames, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		view->stack_frames = grown;
		view->stack_frame_room = room;
	}
	to = view->stack_frames + view->n_stack_frames;
	if (!view->first_of) {
		for (; n < from->n_frames; n++)
			to[n] = view->frame_of[addresses[n]];
	} else {
		for (uint32_t i = 0; i < from->n_frames; i++) {
			uint64_t first = view->first_of[addresses[i]];
			uint64_t more = view->first_of[addresses[i] + 1] - first;

			if (more > PROFILE_MAX_FRAMES - n) {
				flags |= TALLY_STACK_CUT;
				break;
			}
			memcpy(to + n, view->frame_of + first, more * sizeof(*to));
			n += (uint32_t)more;
		}
	}
	*ret_laid = (struct view_stack){ .first = view->n_stack_frames, .n = n, .flags = flags };
	return 0;
}

static int keep(struct view *view, const struct view_stack *stack, uint64_t hash)
{
	int r;

	if (view->n_stacks == view->stack_room) {
		uint64_t room = (uint64_t)view->stack_room * 2 + 256;
		struct view_stack *grown = reallocarray(view->stacks, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		view->stacks = grown;
		view->stack_room = room > UINT32_MAX ? UINT32_MAX : (uint32_t)room;
	}
	view->stacks[view->n_stacks] = *stack;
	r = index_insert(&view->stack_index, hash, view->n_stacks, rehash_stack, view);
	if (r < 0)
		return r;
	view->n_stacks++;
	view->n_stack_frames += stack->n;
	return 0;
}

static bool same_stack(const struct view *view, const struct view_stack *a,
		       const struct view_stack *b)
{
	return a->n == b->n && a->flags == b->flags &&
	       memcmp(view->stack_frames + a->first, view->stack_frames + b->first,
		      a->n * sizeof(uint32_t)) == 0;
}

int view_stack(struct view *view, uint32_t stack, uint32_t *ret_id)
{
	struct view_stack laid;
	struct index_cursor cursor;
	uint64_t hash;
	uint32_t at;
	int r;

	if (stack >= tally_n_stacks(view->tally) || view->stack_of[stack] != INDEX_NONE) {
		*ret_id = stack >= tally_n_stacks(view->tally) ? stack : view->stack_of[stack];
		return 0;
	}
	r = lay_out(view, stack, &laid);
	if (r < 0)
		return r;
	hash = hash_stack(view, &laid);
	for (at = index_first(&view->stack_index, hash, &cursor); at != INDEX_NONE;
	     at = index_next(&view->stack_index, &cursor))
		if (same_stack(view, &view->stacks[at], &laid))
			break;
	if (at == INDEX_NONE) {
		at = view->n_stacks;
		r = keep(view, &laid, hash);
		if (r < 0)
			return r;
	}
	view->stack_of[stack] = at;
	*ret_id = at;
	return 0;
}
