// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/function_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/index.h"
#include "view/entry_groups.h"
#include "view/entry_parts.h"
#include "view/frame_text.h"

/* Where a function was last counted, so that it is once for each entry and each process. */
struct seen {
	uint32_t entry, process; /* plus 1 */
};

struct making {
	struct function_list *list;
	uint32_t capacity;
	struct index index;
	uint32_t *of_frame; /* for each frame of the profile that is added up, the row */
	struct seen *seen;  /* for each row */
	bool is_base;
};

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

/* The file of a script, which its name has without the directory. */
static const char *script_of(const struct names_frame *is)
{
	return is->language ? or_empty(is->file) : "";
}

static bool are_equal(const struct names_frame *a, const struct names_frame *b)
{
	return (a->flags & NAMES_FRAME_KERNEL) == (b->flags & NAMES_FRAME_KERNEL) &&
	       strcmp(frame_text_name(a), frame_text_name(b)) == 0 &&
	       strcmp(or_empty(a->module), or_empty(b->module)) == 0 &&
	       strcmp(script_of(a), script_of(b)) == 0;
}

static uint64_t hash_of(const struct names_frame *is)
{
	const char *name = frame_text_name(is), *module = or_empty(is->module);
	uint64_t hash = hash_bytes(name, strlen(name));

	hash = hash_u64(hash ^ hash_bytes(module, strlen(module)));
	return hash ^ (is->flags & NAMES_FRAME_KERNEL) ^
	       hash_bytes(script_of(is), strlen(script_of(is)));
}

static int row_of(struct making *making, const struct profile *profile,
		  const struct names_frame *is, uint32_t *ret_row)
{
	struct function_list *list = making->list;
	uint64_t hash = hash_of(is);
	struct index_cursor cursor;
	int r;

	for (uint32_t at = index_first(&making->index, hash, &cursor); at != INDEX_NONE;
	     at = index_next(&making->index, &cursor)) {
		if (are_equal(list->rows[at].is, is)) {
			*ret_row = at;
			return 0;
		}
	}
	r = grow(&list->rows, &making->capacity, (size_t)list->n + 1);
	if (r == 0)
		r = index_add(&making->index, hash, list->n);
	if (r < 0)
		return r;
	list->rows[list->n] = (struct function_row){ .is = is, .of = profile };
	*ret_row = list->n++;
	return 0;
}

static bool is_function(const struct names_frame *is)
{
	return !(is->flags & (NAMES_FRAME_UNWIND | NAMES_FRAME_BLOCKED | NAMES_FRAME_WAITING));
}

static void add(uint64_t *sum, uint64_t count)
{
	if (__builtin_add_overflow(*sum, count, sum))
		*sum = UINT64_MAX;
}

/* What a process and an entry of it add to the functions on the entry's stack. */
struct adding {
	const struct profile *profile;
	const struct profile_entry *entry;
	uint32_t number, process; /* plus 1 */
	uint64_t process_total;
};

static void add_count(const struct making *making, struct function_row *row,
		      const struct tally_entry *entry)
{
	add(making->is_base ? &row->base_total : &row->total, entry->count);
	if (!making->is_base)
		add(&row->events, entry->events);
}

static void add_frames(struct making *making, const struct adding *adding, const uint32_t *frames,
		       uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = making->of_frame[frames[i]];
		struct function_row *row = &making->list->rows[at];
		struct seen *seen = &making->seen[at];

		if (!is_function(&adding->profile->frames[frames[i]].is))
			continue;
		if (seen->entry != adding->number)
			add_count(making, row, adding->entry->is);
		if (seen->process != adding->process && !making->is_base)
			add(&row->within, adding->process_total);
		*seen = (struct seen){ adding->number, adding->process };
	}
}

/* All stacks have the event itself on top: what leads to it is asked for. */
static bool is_of_events(const struct profile_meta *meta)
{
	return meta->command && strcmp(meta->command, "stackcount") == 0;
}

static uint32_t leaf_of(const struct profile *profile, const struct profile_entry *entry,
			const struct entry_parts *parts)
{
	if (parts->state != ENTRY_RAN || is_of_events(profile->meta))
		return entry_program_frame(profile, entry);
	if (entry->kernel_missed || (!entry->n_kernel && !entry->n_user))
		return ENTRY_NO_FRAME;
	return entry->n_kernel ? entry->kernel[0] : entry->user[0];
}

static void add_entry(struct making *making, const struct adding *adding)
{
	const struct profile_entry *entry = adding->entry;
	struct entry_parts parts = entry_parts(adding->profile, entry);
	uint32_t leaf = leaf_of(adding->profile, entry, &parts);

	add_frames(making, adding, parts.kernel, parts.n_kernel);
	add_frames(making, adding, entry->user, entry->n_user);
	if (leaf != ENTRY_NO_FRAME && is_function(&adding->profile->frames[leaf].is)) {
		struct function_row *row = &making->list->rows[making->of_frame[leaf]];

		add(making->is_base ? &row->base_self : &row->self, entry->is->count);
	}
}

static int add_processes(struct making *making, const struct profile *profile)
{
	own(entry_groups_clear) struct entry_groups groups = { 0 };
	struct adding adding = { .profile = profile };
	int r = entry_groups_make(&groups, profile, false);

	if (r < 0)
		return r;
	for (uint32_t i = 0; i < groups.n; i++) {
		const struct entry_group *group = &groups.list[i];

		adding.process = i + 1;
		adding.process_total = group->total;
		for (uint32_t j = group->first; j < group->first + group->n; j++) {
			struct profile_entry entry;

			profile_read(profile, &profile->entries[groups.order[j]], &entry);
			adding.number = groups.order[j] + 1;
			adding.entry = &entry;
			add_entry(making, &adding);
		}
	}
	return 0;
}

static int add_profile(struct making *making, const struct profile *profile)
{
	int r = 0;

	making->of_frame =
		reallocarray(NULL, (size_t)profile->n_frames + 1, sizeof(*making->of_frame));
	if (!making->of_frame)
		return -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < profile->n_frames; i++)
		r = row_of(making, profile, &profile->frames[i].is, &making->of_frame[i]);
	if (r < 0)
		return r;
	making->seen = calloc((size_t)making->list->n + 1, sizeof(*making->seen));
	if (!making->seen)
		return -ENOMEM;
	return add_processes(making, profile);
}

static void making_clear(struct making *making)
{
	index_free(&making->index);
	free(making->of_frame);
	free(making->seen);
}

/* Frames that are no functions, or only of wakers. */
static void drop_uncounted(struct function_list *list)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < list->n; i++)
		if (list->rows[i].total || list->rows[i].base_total || list->rows[i].events)
			list->rows[n++] = list->rows[i];
	list->n = n;
}

int function_list_make(const struct profile *profile, struct function_list *ret_list)
{
	own(function_list_clear) struct function_list list = { 0 };
	own(making_clear) struct making making = { .list = &list };
	int r = add_profile(&making, profile);

	if (r == 0 && profile->base) {
		free(take_ptr(making.of_frame));
		free(take_ptr(making.seen));
		making.is_base = true;
		r = add_profile(&making, profile->base);
	}
	if (r < 0)
		return r;
	for (uint32_t i = 0; profile->base && i < list.n; i++) {
		struct function_row *row = &list.rows[i];

		row->base_self = scale_count(&profile->base_scale, row->base_self);
		row->base_total = scale_count(&profile->base_scale, row->base_total);
	}
	drop_uncounted(&list);
	*ret_list = list;
	list = (struct function_list){ 0 };
	return 0;
}

void function_list_clear(struct function_list *list)
{
	free(list->rows);
	*list = (struct function_list){ 0 };
}

static int by_name(const struct function_row *a, const struct function_row *b)
{
	int order = strcmp(frame_text_name(a->is), frame_text_name(b->is));

	if (!order)
		order = strcmp(or_empty(a->is->module), or_empty(b->is->module));
	return order ? order : strcmp(script_of(a->is), script_of(b->is));
}

static uint64_t change(uint64_t now, uint64_t base)
{
	return now > base ? now - base : base - now;
}

/* The numbers that an order compares, the first one first. */
static void keys_of(const struct function_row *row, enum function_order order, uint64_t keys[2])
{
	uint64_t self = change(row->self, row->base_self);
	uint64_t total = change(row->total, row->base_total);

	keys[0] = order == FUNCTIONS_BY_SELF	      ? row->self
		  : order == FUNCTIONS_BY_TOTAL	      ? row->total
		  : order == FUNCTIONS_BY_SELF_CHANGE ? self
						      : total;
	keys[1] = order == FUNCTIONS_BY_SELF	      ? row->total
		  : order == FUNCTIONS_BY_TOTAL	      ? row->self
		  : order == FUNCTIONS_BY_SELF_CHANGE ? total
						      : self;
}

static int compare(const void *a, const void *b, void *context)
{
	const struct function_row *one = a, *other = b;
	enum function_order order = *(const enum function_order *)context;
	uint64_t of_one[2], of_other[2];

	if (order == FUNCTIONS_BY_NAME)
		return by_name(one, other);
	keys_of(one, order, of_one);
	keys_of(other, order, of_other);
	for (int i = 0; i < 2; i++)
		if (of_one[i] != of_other[i])
			return of_one[i] > of_other[i] ? -1 : 1;
	return by_name(one, other);
}

void function_list_sort(struct function_list *list, enum function_order order)
{
	if (list->n > 1)
		qsort_r(list->rows, list->n, sizeof(*list->rows), compare, &order);
}

const char *function_row_file(const struct function_row *row)
{
	const struct names_frame *is = row->is;

	if (is->language && is->file)
		return is->file;
	if (is->object < row->of->n_objects)
		return row->of->objects[is->object].path;
	return NULL;
}
