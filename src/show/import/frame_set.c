// SPDX-License-Identifier: GPL-2.0-or-later
#include "import/frame_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "view/frame_text.h"

int frame_set_start(struct frame_set *set, struct tally *tally, struct names *names)
{
	int r;

	*set = (struct frame_set){ .tally = tally, .names = names };
	r = pool_new(&set->strings);
	return r < 0 ? r : names_share_strings(names, set->strings);
}

void frame_set_clear(struct frame_set *set)
{
	index_free(&set->index);
	pool_free(set->strings);
	set->strings = NULL;
}

static bool equals(const char *text, const struct folded_piece *piece)
{
	return text ? folded_is(piece, text) : piece->size == 0;
}

/* Whether our writer prints this for a frame without a name. */
static bool is_nameless(const struct folded_piece *name, uint32_t flags)
{
	const struct names_frame nameless = { .flags = flags };

	return folded_is(name, frame_text_name(&nameless));
}

static int keep(struct frame_set *set, const struct folded_piece *piece, const char **ret_copy)
{
	*ret_copy = pool_string_n(set->strings, piece->start, piece->size);
	return *ret_copy ? 0 : -ENOMEM;
}

static int add(struct frame_set *set, const struct folded_piece *name,
	       const struct folded_piece *module, uint32_t flags, uint32_t id)
{
	struct tally_address address = { .address = id, .image = !(flags & NAMES_FRAME_KERNEL) };
	struct names_frame frame = { .object = NAMES_NONE, .flags = flags };
	int r = 0;

	if (!is_nameless(name, flags))
		r = keep(set, name, &frame.name);
	if (r == 0 && module->size > 0)
		r = keep(set, module, &frame.module);
	if (r == 0)
		r = names_add_address(set->names, &frame, 1);
	return r < 0 ? r : tally_append_address(set->tally, &address);
}

int frame_set_address(struct frame_set *set, const struct folded_piece *name,
		      const struct folded_piece *module, uint32_t flags, uint32_t *ret_id)
{
	uint64_t hash = hash_bytes(name->start, name->size) ^ hash_u64(flags);
	uint32_t id = tally_n_addresses(set->tally);
	struct index_cursor cursor;
	int r;

	if (module->size > 0)
		hash = hash_u64(hash) ^ hash_bytes(module->start, module->size);
	for (uint32_t at = index_first(&set->index, hash, &cursor); at != INDEX_NONE;
	     at = index_next(&set->index, &cursor)) {
		struct names_frame known = names_frame(set->names, at);

		if (known.flags == flags && equals(frame_text_name(&known), name) &&
		    equals(known.module, module)) {
			*ret_id = at;
			return 0;
		}
	}
	r = add(set, name, module, flags, id);
	if (r < 0)
		return r;
	*ret_id = id;
	return index_add(&set->index, hash, id);
}

void frame_side_start(struct frame_side *side)
{
	side->n = 0;
	side->missed = side->cut = false;
}

void frame_side_clear(struct frame_side *side)
{
	free(side->list);
	*side = (struct frame_side){ 0 };
}

int frame_side_add(struct frame_side *side, uint32_t address)
{
	int r = grow(&side->list, &side->capacity, (size_t)side->n + 1);

	if (r == 0)
		side->list[side->n++] = address;
	return r;
}

void frame_side_reverse(struct frame_side *side)
{
	for (uint32_t i = 0; i < side->n / 2; i++) {
		uint32_t other = side->list[i];

		side->list[i] = side->list[side->n - 1 - i];
		side->list[side->n - 1 - i] = other;
	}
}

int frame_side_stack(const struct frame_side *side, struct tally *tally, uint32_t *ret_id)
{
	bool deep = side->n > TALLY_MAX_FRAMES;

	if (side->missed && side->n == 0) {
		*ret_id = TALLY_STACK_MISSED;
		return 0;
	}
	return tally_stack(tally, side->list, deep ? TALLY_MAX_FRAMES : side->n,
			   side->cut || deep ? TALLY_STACK_CUT : 0, ret_id);
}
