// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/own.h"
#include "view/stack_list.h"

/* Texts that occur in either profile, each once. */
struct texts {
	struct frame_text *list;
	uint32_t n, room;
	struct index index;
};

struct key {
	uint64_t first; /* in `ids`: who, then the stack */
	uint32_t n;
};

struct comparing {
	struct diff *diff;
	uint32_t room;
	struct texts texts;
	struct bytes whos; /* of all entries, one after the other */
	uint32_t *ids;
	uint64_t n_ids, ids_room;
	struct key *keys; /* of diff->entries */
	struct index index;
	uint32_t list[STACK_LIST_MAX];
};

uint64_t diff_scaled(const struct profile *profile, uint64_t count)
{
	uint64_t total = profile->base->total;
	unsigned __int128 scaled;

	if (total == 0 || profile->total == 0)
		return count;
	scaled = ((unsigned __int128)count * profile->total + total / 2) / total;
	return scaled > UINT64_MAX ? UINT64_MAX : (uint64_t)scaled;
}

static int intern(struct texts *texts, const char *text, size_t size, uint32_t *ret_id)
{
	uint64_t hash = hash_bytes(text, size);
	struct index_cursor cursor;
	int r;

	for (uint32_t at = index_first(&texts->index, hash, &cursor); at != INDEX_NONE;
	     at = index_next(&texts->index, &cursor)) {
		if (texts->list[at].size == size && memcmp(texts->list[at].text, text, size) == 0) {
			*ret_id = at;
			return 0;
		}
	}
	if (texts->n == texts->room) {
		uint64_t room = (uint64_t)texts->room * 2 + 256;
		struct frame_text *grown = NULL;

		if (room < INDEX_NONE)
			grown = reallocarray(texts->list, room, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		texts->list = grown;
		texts->room = (uint32_t)room;
	}
	r = index_add(&texts->index, hash, texts->n);
	if (r < 0)
		return r;
	texts->list[texts->n] = (struct frame_text){ text, (uint32_t)size };
	*ret_id = texts->n++;
	return 0;
}

static int room_for_ids(struct comparing *comparing, uint32_t more)
{
	uint64_t room = comparing->ids_room * 2 + more + 4096;
	uint32_t *grown;

	if (comparing->n_ids + more <= comparing->ids_room)
		return 0;
	grown = reallocarray(comparing->ids, room, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	comparing->ids = grown;
	comparing->ids_room = room;
	return 0;
}

/* Lays the key out behind the others: who, then the frames. */
static int lay_out(struct comparing *comparing, const struct profile *profile,
		   const struct profile_entry *entry, const uint32_t *id_of,
		   const struct frame_text *who, struct key *ret_key)
{
	uint32_t n = stack_list(profile, entry, comparing->list);
	int r = room_for_ids(comparing, n + 1);
	uint32_t *ids;

	if (r < 0)
		return r;
	ids = comparing->ids + comparing->n_ids;
	r = intern(&comparing->texts, who->text, who->size, &ids[0]);
	for (uint32_t i = 0; i < n; i++)
		ids[i + 1] = id_of[comparing->list[i]];
	*ret_key = (struct key){ comparing->n_ids, n + 1 };
	return r;
}

/* The position of the entry with this key, added if it is new. */
static int entry_of(struct comparing *comparing, const struct key *key,
		    const struct profile_entry *entry, bool vanished, uint32_t *ret_position)
{
	const uint32_t *ids = comparing->ids + key->first;
	uint64_t hash = hash_bytes(ids, key->n * sizeof(*ids));
	struct diff *diff = comparing->diff;
	struct index_cursor cursor;

	for (uint32_t at = index_first(&comparing->index, hash, &cursor); at != INDEX_NONE;
	     at = index_next(&comparing->index, &cursor)) {
		const struct key *known = &comparing->keys[at];

		if (known->n == key->n &&
		    memcmp(comparing->ids + known->first, ids, key->n * sizeof(*ids)) == 0) {
			*ret_position = at;
			return 0;
		}
	}
	if (diff->n == comparing->room)
		return -EFBIG; /* there is room for all there can be */
	comparing->keys[diff->n] = *key;
	comparing->n_ids += key->n;
	diff->entries[diff->n] = (struct diff_entry){ .entry = entry, .vanished = vanished };
	*ret_position = diff->n;
	return index_add(&comparing->index, hash, diff->n++);
}

/* The id of each frame's text, marks too. */
static int intern_frames(struct comparing *comparing, const struct profile *profile,
			 const struct frame_texts *frames, uint32_t **ret_id_of)
{
	uint32_t n = profile->n_frames;
	own(own_free) uint32_t *id_of =
		reallocarray(NULL, (size_t)n + STACK_N_MARKS, sizeof(*id_of));
	int r = id_of ? 0 : -ENOMEM;

	for (uint32_t i = 0; r == 0 && i < n; i++)
		r = intern(&comparing->texts, frames->of[i].text, frames->of[i].size, &id_of[i]);
	for (uint32_t i = 0; r == 0 && i < STACK_N_MARKS; i++)
		r = intern(&comparing->texts, stack_mark_text(i), strlen(stack_mark_text(i)),
			   &id_of[n + i]);
	if (r == 0)
		*ret_id_of = take_ptr(id_of);
	return r;
}

static void add_to(uint64_t *sum, uint64_t count)
{
	if (__builtin_add_overflow(*sum, count, sum))
		*sum = UINT64_MAX;
}

static int add_entries(struct comparing *comparing, const struct profile *profile, bool is_base,
		       const struct frame_texts *frames, const size_t *who_ends)
{
	own(own_free) uint32_t *id_of = NULL;
	int r = intern_frames(comparing, profile, frames, &id_of);

	for (uint32_t i = 0; r == 0 && i < profile->n_entries; i++) {
		size_t start = who_ends[i];
		const struct frame_text who = { comparing->whos.start + start,
						(uint32_t)(who_ends[i + 1] - start) };
		const struct profile_entry *entry = &profile->entries[i];
		struct key key;
		uint32_t position;

		r = lay_out(comparing, profile, entry, id_of, &who, &key);
		if (r == 0)
			r = entry_of(comparing, &key, entry, is_base, &position);
		if (r == 0)
			add_to(is_base ? &comparing->diff->entries[position].base
				       : &comparing->diff->entries[position].count,
			       entry->count);
	}
	return r;
}

static uint64_t difference(const struct diff_entry *entry)
{
	return entry->count > entry->base ? entry->count - entry->base : entry->base - entry->count;
}

/* What differs alike: the rarer first, then what vanished, then as they were. */
static int compare(const void *a, const void *b)
{
	const struct diff_entry *one = a, *other = b;

	if (difference(one) != difference(other))
		return difference(one) < difference(other) ? -1 : 1;
	if (one->count != other->count)
		return one->count < other->count ? -1 : 1;
	if (one->vanished != other->vanished)
		return one->vanished ? -1 : 1;
	return one->entry < other->entry ? -1 : one->entry > other->entry;
}

static int compare_all(struct comparing *comparing, const struct profile *profile,
		       const struct frame_texts *texts, const struct frame_texts *base_texts,
		       diff_put_who put_who, void *context)
{
	const struct profile *base = profile->base;
	size_t n = (size_t)profile->n_entries + base->n_entries;
	own(own_free) size_t *ends = reallocarray(NULL, n + 1, sizeof(*ends));
	int r;

	comparing->diff->entries = reallocarray(NULL, n + 1, sizeof(*comparing->diff->entries));
	comparing->keys = reallocarray(NULL, n + 1, sizeof(*comparing->keys));
	if (!ends || !comparing->diff->entries || !comparing->keys || n >= INDEX_NONE)
		return -ENOMEM;
	comparing->room = (uint32_t)n;
	/* All of them first: then the buffer moves no more. */
	ends[0] = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct profile *of = i < profile->n_entries ? profile : base;

		put_who(context, of, &of->entries[of == profile ? i : i - profile->n_entries],
			&comparing->whos);
		ends[i + 1] = comparing->whos.used;
	}
	if (!bytes_room(&comparing->whos, 1))
		return -ENOMEM;
	r = add_entries(comparing, profile, false, texts, ends);
	if (r == 0)
		r = add_entries(comparing, base, true, base_texts, ends + profile->n_entries);
	return r;
}

int diff_make(struct diff *diff, const struct profile *profile, const struct frame_texts *texts,
	      const struct frame_texts *base_texts, bool raw, diff_put_who put_who, void *context)
{
	own(own_free) struct comparing *comparing = calloc(1, sizeof(*comparing));
	int r;

	*diff = (struct diff){ 0 };
	if (!comparing)
		return -ENOMEM;
	comparing->diff = diff;
	bytes_start(&comparing->whos, NULL);
	r = compare_all(comparing, profile, texts, base_texts, put_who, context);
	for (uint32_t i = 0; r == 0 && !raw && i < diff->n; i++)
		diff->entries[i].base = diff_scaled(profile, diff->entries[i].base);
	if (r == 0)
		qsort(diff->entries, diff->n, sizeof(*diff->entries), compare);
	bytes_clear(&comparing->whos);
	free(comparing->texts.list);
	index_free(&comparing->texts.index);
	free(comparing->ids);
	free(comparing->keys);
	index_free(&comparing->index);
	return r;
}

void diff_clear(struct diff *diff)
{
	free(diff->entries);
	*diff = (struct diff){ 0 };
}
