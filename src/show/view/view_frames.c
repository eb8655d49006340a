// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The frames of a view: those of each address, and those that say why a walk ended.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "view/view.h"

/* The shown properties of a frame: equal bytes print alike. Pointers stand for shared strings. */
struct frame_key {
	const char *name, *module, *file;
	uint64_t offset, address;
	uint32_t line, flags, object, language, marks;
};

static struct frame_key frame_key(const struct view *view, const struct profile_frame *frame,
				  uint32_t marks)
{
	const struct names_frame *is = &frame->is;
	uint32_t shown = NAMES_FRAME_KERNEL | NAMES_FRAME_BLOCKED | NAMES_FRAME_WAITING;
	struct frame_key key;

	memset(&key, 0, sizeof(key)); /* hashed as bytes */
	key.name = is->name;
	key.marks = marks;
	if (!is->name)
		shown |= NAMES_FRAME_JIT;
	if (view->flags & PROFILE_VIEW_INLINED)
		shown |= NAMES_FRAME_INLINED;
	if (view->flags & PROFILE_VIEW_OBJECT)
		shown |= NAMES_FRAME_CHAINED;
	key.flags = is->flags & shown;
	if ((view->flags & PROFILE_VIEW_MODULE) ||
	    (!is->name && view->flags & PROFILE_VIEW_UNNAMED))
		key.module = is->module;
	if (view->flags & PROFILE_VIEW_OFFSET && !(key.flags & NAMES_FRAME_INLINED))
		key.offset = is->offset;
	if (view->flags & PROFILE_VIEW_ADDRESS)
		key.address = frame->address;
	if (view->flags & PROFILE_VIEW_OBJECT)
		key.object = is->object;
	if (view->flags & (PROFILE_VIEW_OBJECT | PROFILE_VIEW_SCRIPT_FILES) && is->language) {
		key.language = is->language;
		key.file = is->file;
	}
	if (view->flags & PROFILE_VIEW_LINES) {
		key.file = is->file;
		key.line = is->line;
	}
	return key;
}

static int keep_marks(struct view *view, uint32_t marks)
{
	int r = grow(&view->marks, &view->mark_capacity, (size_t)view->n_frames + 1);

	if (r == 0)
		view->marks[view->n_frames] = (uint8_t)marks;
	return r;
}

static int intern_marked(struct view *view, const struct profile_frame *frame, uint32_t marks,
			 uint32_t *ret_id)
{
	struct frame_key key = frame_key(view, frame, marks);
	uint64_t hash = hash_bytes(&key, sizeof(key));
	struct index_cursor cursor;
	int r;

	for (uint32_t at = index_first(&view->frame_index, hash, &cursor); at != INDEX_NONE;
	     at = index_next(&view->frame_index, &cursor)) {
		struct frame_key known =
			frame_key(view, &view->frames[at], view->filter ? view->marks[at] : 0);

		if (memcmp(&known, &key, sizeof(key)) == 0) {
			*ret_id = at;
			return 0;
		}
	}
	r = grow(&view->frames, &view->frame_capacity, (size_t)view->n_frames + 1);
	if (r < 0)
		return r;
	view->frames[view->n_frames] = *frame;
	r = view->filter ? keep_marks(view, marks) : 0;
	if (r == 0)
		r = index_add(&view->frame_index, hash, view->n_frames);
	if (r < 0)
		return r;
	*ret_id = view->n_frames++;
	return 0;
}

/* With the name and the marks that the filter gives it. */
static int intern_frame(struct view *view, struct profile_frame *frame, uint32_t *ret_id)
{
	bool has_object = view->filter && frame->is.object < names_n_objects(view->names);
	const char *shown = frame->is.name;
	uint32_t marks = 0;
	int r;

	if (view->filter) {
		if (shown)
			shown = frame_filter_name(view->filter, &frame->is, view->strings);
		if (frame->is.name && !shown)
			return -ENOMEM;
		r = frame_marks_of(view->look, &frame->is, shown,
				   has_object ? names_objects(view->names)[frame->is.object].path
					      : NULL,
				   &marks);
		if (r < 0)
			return r;
		frame->is.name = shown;
	}
	return intern_marked(view, frame, marks, ret_id);
}

static void forget_name(struct names_frame *is)
{
	is->name = NULL;
	is->offset = 0;
	is->flags &= (uint16_t)~NAMES_FRAME_IDENTITY;
}

/* Whether it is the leaf of a blocked thread, whichever, in views that do not tell them apart. */
static bool is_blocked(const struct view *view, const struct tally_address *where)
{
	return !(view->flags & PROFILE_VIEW_ASLEEP) && where->flags & TALLY_ADDRESS_SCRIPT &&
	       (where->address == off_cpu_leaf_address(OFF_CPU_LEAF_BLOCKED) ||
		where->address == off_cpu_leaf_address(OFF_CPU_LEAF_ASLEEP));
}

/* Interns the frames of one address into `ids`. It has no name if the names lack it. */
static int intern_address(struct view *view, uint32_t address, uint32_t *ids)
{
	const struct tally_address *where = &tally_addresses(view->tally)[address];
	const struct names *names = view->names;
	struct profile_frame frame = {
		.address = where->flags & TALLY_ADDRESS_SCRIPT ? 0 : where->address,
	};
	struct names_address named;

	if (address >= names_n_addresses(names)) {
		frame.is.object = NAMES_NONE;
		frame.is.flags = where->image == TALLY_IMAGE_KERNEL ? NAMES_FRAME_KERNEL : 0;
		return intern_frame(view, &frame, ids);
	}
	named = names_address(names, address);
	if (is_blocked(view, where)) {
		frame.is = (struct names_frame){ .name = off_cpu_leaf_name(OFF_CPU_LEAF_BLOCKED),
						 .object = NAMES_NONE,
						 .flags = NAMES_FRAME_BLOCKED };
		return intern_frame(view, &frame, ids);
	}
	for (uint32_t i = 0; i < named.n; i++) {
		int r;

		frame.is = names_frame(names, named.first + i);
		if (frame.is.name && frame.is.name[0] == '\0')
			frame.is.name = NULL;
		if (frame.is.flags & NAMES_FRAME_IDENTITY && view->flags & PROFILE_VIEW_NO_IDENTITY)
			forget_name(&frame.is);
		r = intern_frame(view, &frame, &ids[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Interns the frames that name why a walk ended. */
static int intern_ends(struct view *view)
{
	const struct tally_stack *stacks = tally_stacks(view->tally);
	bool occurs[TALLY_N_ENDS] = { false };
	int r = 0;

	for (uint32_t i = 0; i < tally_n_stacks(view->tally); i++)
		if (TALLY_STACK_END(stacks[i].flags) < TALLY_N_ENDS)
			occurs[TALLY_STACK_END(stacks[i].flags)] = true;
	for (uint32_t end = 0; r == 0 && end < TALLY_N_ENDS; end++) {
		struct profile_frame frame = {
			.is = { .name = tally_end_frame(end),
				.object = NAMES_NONE,
				.flags = NAMES_FRAME_UNWIND },
		};

		view->end_frames[end] = INDEX_NONE;
		if (occurs[end] && frame.is.name)
			r = intern_frame(view, &frame, &view->end_frames[end]);
	}
	return r;
}

static int intern_addresses(struct view *view)
{
	const struct names *names = view->names;
	uint32_t n = tally_n_addresses(view->tally), n_named = names_n_addresses(names);
	uint64_t at = 0, total = (uint64_t)names_n_frames(names) + n;
	int r = 0;

	view->frame_of = reallocarray(NULL, total + 1, sizeof(*view->frame_of));
	if (!view->frame_of)
		return -ENOMEM;
	if (names_n_frames(names) != n_named) {
		view->first_of = reallocarray(NULL, (size_t)n + 1, sizeof(*view->first_of));
		if (!view->first_of)
			return -ENOMEM;
	}
	for (uint32_t i = 0; r == 0 && i < n; i++) {
		if (view->first_of)
			view->first_of[i] = at;
		r = intern_address(view, i, view->frame_of + at);
		at += i < n_named ? names_address(names, i).n : 1;
	}
	if (view->first_of)
		view->first_of[n] = at;
	return r;
}

int view_intern_frames(struct view *view)
{
	int r = intern_ends(view);

	return r < 0 ? r : intern_addresses(view);
}
