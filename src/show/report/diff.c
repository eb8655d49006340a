// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/index.h"
#include "base/own.h"
#include "view/stack_list.h"

/* The distinct texts of both profiles; borrowed. */
struct texts {
	struct frame_text *list;
	uint32_t n, capacity;
	struct index index;
};

/* What entries are compared by: in `ids`, the text of the process, then those of the frames. */
struct key {
	uint64_t first;
	uint32_t n;
};

struct comparing {
	struct diff *diff;
	uint32_t capacity; /* of diff->entries and keys */
	struct texts texts;
	struct bytes processes; /* texts of all entries, one after the other */
	uint32_t *ids;
	uint64_t n_ids, ids_capacity;
	struct key *keys; /* of diff->entries */
	struct index index;
	uint32_t list[STACK_LIST_MAX];
};

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
	r = grow(&texts->list, &texts->capacity, (size_t)texts->n + 1);
	if (r < 0)
		return r;
	r = index_add(&texts->index, hash, texts->n);
	if (r < 0)
		return r;
	texts->list[texts->n] = (struct frame_text){ text, (uint32_t)size };
	*ret_id = texts->n++;
	return 0;
}

/* Writes the key behind those in use; it is in use once n_ids includes it. */
static int make_key(struct comparing *comparing, const struct profile *profile,
		    const struct tally_entry *entry, const uint32_t *id_of,
		    const struct frame_text *process, struct key *ret_key)
{
	uint32_t n = stack_list(profile, entry, comparing->list);
	int r = grow(&comparing->ids, &comparing->ids_capacity, comparing->n_ids + n + 1);
	uint32_t *ids;

	if (r < 0)
		return r;
	ids = comparing->ids + comparing->n_ids;
	r = intern(&comparing->texts, process->text, process->size, &ids[0]);
	for (uint32_t i = 0; i < n; i++)
		ids[i + 1] = id_of[comparing->list[i]];
	*ret_key = (struct key){ comparing->n_ids, n + 1 };
	return r;
}

/* Finds or adds the entry with this key. */
static int entry_of(struct comparing *comparing, const struct key *key,
		    const struct tally_entry *entry, bool vanished, uint32_t *ret_position)
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
	if (diff->n == comparing->capacity)
		return -EFBIG; /* never: the capacity is the number of all entries */
	comparing->keys[diff->n] = *key;
	comparing->n_ids += key->n;
	diff->entries[diff->n] = (struct diff_entry){ .entry = entry, .vanished = vanished };
	*ret_position = diff->n;
	return index_add(&comparing->index, hash, diff->n++);
}

/* Gives the text of each frame, and of each mark behind them, its id; allocated. */
static int intern_frames(struct comparing *comparing, const struct profile *profile,
			 const struct frame_texts *frames, uint32_t **ret_id_of)
{
	uint32_t n = profile->n_frames;
	own(own_free) uint32_t *id_of =
		reallocarray(NULL, (size_t)n + STACK_N_MARKS, sizeof(*id_of));
	int r;

	if (!id_of)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		r = intern(&comparing->texts, frames->of[i].text, frames->of[i].size, &id_of[i]);
		if (r < 0)
			return r;
	}
	for (uint32_t i = 0; i < STACK_N_MARKS; i++) {
		r = intern(&comparing->texts, stack_mark_text(i), strlen(stack_mark_text(i)),
			   &id_of[n + i]);
		if (r < 0)
			return r;
	}
	*ret_id_of = take_ptr(id_of);
	return 0;
}

static void add_to(uint64_t *sum, uint64_t count)
{
	if (__builtin_add_overflow(*sum, count, sum))
		*sum = UINT64_MAX;
}

static int add_entries(struct comparing *comparing, const struct profile *profile, bool is_base,
		       const struct frame_texts *frames, const size_t *ends)
{
	own(own_free) uint32_t *id_of = NULL;
	int r = intern_frames(comparing, profile, frames, &id_of);

	if (r < 0)
		return r;
	for (uint32_t i = 0; i < profile->n_entries; i++) {
		const struct frame_text process = { comparing->processes.start + ends[i],
						    (uint32_t)(ends[i + 1] - ends[i]) };
		const struct tally_entry *entry = &profile->entries[i];
		struct key key;
		uint32_t position;

		r = make_key(comparing, profile, entry, id_of, &process, &key);
		if (r < 0)
			return r;
		r = entry_of(comparing, &key, entry, is_base, &position);
		if (r < 0)
			return r;
		add_to(is_base ? &comparing->diff->entries[position].base
			       : &comparing->diff->entries[position].count,
		       entry->count);
	}
	return 0;
}

static uint64_t difference(const struct diff_entry *entry)
{
	return entry->count > entry->base ? entry->count - entry->base : entry->base - entry->count;
}

/* Ties: lower count first, then vanished stacks, then the original order. */
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
		       diff_put_process put_process, void *context)
{
	const struct profile *base = profile->base;
	size_t n = (size_t)profile->n_entries + base->n_entries;
	own(own_free) size_t *ends = reallocarray(NULL, n + 1, sizeof(*ends));
	int r;

	comparing->diff->entries = reallocarray(NULL, n + 1, sizeof(*comparing->diff->entries));
	comparing->keys = reallocarray(NULL, n + 1, sizeof(*comparing->keys));
	if (!ends || !comparing->diff->entries || !comparing->keys || n >= INDEX_NONE)
		return -ENOMEM;
	comparing->capacity = (uint32_t)n;
	/* All texts before the first is used: growth moves the buffer. */
	ends[0] = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct profile *of = i < profile->n_entries ? profile : base;

		put_process(context, of, &of->entries[of == profile ? i : i - profile->n_entries],
			    &comparing->processes);
		ends[i + 1] = comparing->processes.used;
	}
	if (!bytes_room(&comparing->processes, 1))
		return -ENOMEM;
	r = add_entries(comparing, profile, false, texts, ends);
	if (r < 0)
		return r;
	return add_entries(comparing, base, true, base_texts, ends + profile->n_entries);
}

static void comparing_free(struct comparing *comparing)
{
	if (!comparing)
		return;
	bytes_clear(&comparing->processes);
	free(comparing->texts.list);
	index_free(&comparing->texts.index);
	free(comparing->ids);
	free(comparing->keys);
	index_free(&comparing->index);
	free(comparing);
}

DEFINE_OWN(struct comparing, comparing_free)

int diff_make(struct diff *diff, const struct profile *profile, const struct frame_texts *texts,
	      const struct frame_texts *base_texts, diff_put_process put_process, void *context)
{
	own(own_comparing_free) struct comparing *comparing = calloc(1, sizeof(*comparing));
	int r;

	*diff = (struct diff){ 0 };
	if (!comparing)
		return -ENOMEM;
	comparing->diff = diff;
	bytes_start(&comparing->processes, NULL);
	r = compare_all(comparing, profile, texts, base_texts, put_process, context);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < diff->n; i++)
		diff->entries[i].base = scale_count(&profile->base_scale, diff->entries[i].base);
	qsort(diff->entries, diff->n, sizeof(*diff->entries), compare);
	return 0;
}

void diff_clear(struct diff *diff)
{
	free(diff->entries);
	*diff = (struct diff){ 0 };
}
