// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "view/entry_ranks.h"
#include "view/view.h"

struct profile_store {
	struct view view;
	struct tally_entry *entries;
	uint32_t *entry_of;
};

DEFINE_OWN(struct tally, tally_free)

/*
 * Whether the event goes on while a CPU works, as clocks and cycles do: sampled at a rate, each
 * sample stands for a part of a second then. Page faults or cache misses come as they like.
 */
static bool goes_with_time(const char *event)
{
	return !event || strstr(event, "clock") ||
	       (strstr(event, "cycles") && !strstr(event, "stalled"));
}

uint64_t profile_sample_ns(const struct profile_meta *meta)
{
	if (meta->timed)
		return 1;
	if (meta->frequency && !goes_with_time(meta->event))
		return 0;
	if (meta->frequency)
		return 1000000000u / meta->frequency;
	/* The clocks are the events that count ns. */
	if (meta->event &&
	    (strcmp(meta->event, "cpu-clock") == 0 || strcmp(meta->event, "task-clock") == 0))
		return meta->period;
	return 0;
}

bool profile_is_of_all(const struct profile_meta *meta)
{
	return meta->scope && strcmp(meta->scope, PROFILE_SCOPE_ALL) == 0 && !meta->filter;
}

void profile_find_details(const struct tally *tally, const struct names *names,
			  struct profile_details *ret_details)
{
	struct profile_details has = { 0 };

	for (uint32_t i = 0; i < tally_n_entries(tally); i++) {
		const struct tally_entry *entry = &tally_entries(tally)[i];

		has.processes |= entry->tgid != 0;
		has.threads |= entry->tid != 0;
		has.cgroups |= entry->cgroup != 0;
		has.idle |= entry->tgid == 0 && strncmp(entry->comm, "swapper/", 8) == 0;
	}
	for (uint32_t i = 0; i < names_n_frames(names); i++) {
		struct names_frame frame = names_frame(names, i);

		has.inlines |= (frame.flags & NAMES_FRAME_INLINED) != 0;
		has.lines |= frame.file != NULL;
	}
	*ret_details = has;
}

static uint32_t n_missed(const struct tally_entry *entry)
{
	return (entry->kernel == TALLY_STACK_MISSED) + (entry->user == TALLY_STACK_MISSED);
}

/* Whether it is the time of a wait that began before the measurement. */
static bool is_asleep(const struct view *view, const struct tally_entry *entry)
{
	const struct tally *tally = view->tally;

	return entry->kernel < tally_n_stacks(tally) &&
	       tally_is_asleep(tally, &tally_stacks(tally)[entry->kernel]);
}

static bool is_left_asleep(const struct view *view, const struct tally_entry *entry)
{
	return view->flags & PROFILE_VIEW_AWAKE && is_asleep(view, entry);
}

/* The entry without the properties that are not shown, and with the stack ids of the view. False:
 * it is not shown. */
static bool show_entry(const struct view *view, const struct tally_entry *entry,
		       struct tally_entry *ret_shown)
{
	struct tally_entry shown = { .count = entry->count,
				     .events = entry->events,
				     .largest = entry->largest,
				     .kernel = TALLY_STACK_NONE,
				     .user = TALLY_STACK_NONE };

	if (view->flags & (PROFILE_VIEW_PROCESS | PROFILE_VIEW_THREAD))
		shown.tgid = entry->tgid;
	if (view->flags & PROFILE_VIEW_THREAD)
		shown.tid = entry->tid;
	if (view->flags & (PROFILE_VIEW_PROCESS | PROFILE_VIEW_THREAD | PROFILE_VIEW_COMM))
		memcpy(shown.comm, entry->comm, sizeof(shown.comm));
	if (view->flags & PROFILE_VIEW_CGROUP)
		shown.cgroup = entry->cgroup;
	/* Of stacks that are not shown, the view has none, but for leaves of time off the CPU. */
	if (!(view->flags & PROFILE_VIEW_NO_KERNEL) || entry->kernel < TALLY_STACK_MISSED)
		shown.kernel = view_stack(view, entry->kernel);
	if (!(view->flags & PROFILE_VIEW_NO_USER))
		shown.user = view_stack(view, entry->user);
	*ret_shown = shown;
	if (is_left_asleep(view, entry))
		return false;
	return !view->filter || view_filter_entry(view, entry, ret_shown);
}

/* How many entries are prefetched ahead of the one that is added or read. */
#define AHEAD 16u

static int add_shown(struct profile *profile, struct tally *merged, const struct tally_entry *shown,
		     uint32_t *ret_entry)
{
	profile->missed_sides += n_missed(shown);
	profile->missed_counts += n_missed(shown) ? shown->count : 0;
	return tally_count(merged, shown, ret_entry);
}

/*
 * Counts equal shown entries together, in a tally. `entry_of`, which may be NULL, gets the index
 * there of each entry.
 */
static int merge(const struct view *view, struct profile *profile, struct tally *merged,
		 uint32_t *entry_of)
{
	const struct tally_entry *entries = tally_entries(view->tally);
	uint32_t n = tally_n_entries(view->tally);
	struct tally_entry shown[AHEAD];
	bool is_shown[AHEAD];

	for (uint64_t i = 0; i < (uint64_t)n + AHEAD; i++) {
		struct tally_entry *slot = &shown[i % AHEAD];

		if (i >= AHEAD) {
			uint32_t entry = PROFILE_NO_ENTRY;
			int r = 0;

			if (is_shown[i % AHEAD] && !(view->flags & PROFILE_VIEW_ASLEEP) &&
			    is_asleep(view, &entries[i - AHEAD]))
				profile->as_others += slot->count;
			if (is_shown[i % AHEAD])
				r = add_shown(profile, merged, slot, &entry);
			else if (is_left_asleep(view, &entries[i - AHEAD]))
				profile->asleep += slot->count;
			else
				profile->left_out += slot->count;
			if (r < 0)
				return r;
			if (entry_of)
				entry_of[i - AHEAD] = entry;
		}
		if (i < n) {
			is_shown[i % AHEAD] = show_entry(view, &entries[i], slot);
			tally_expect(merged, slot);
		}
	}
	return 0;
}

static int list_entries(const struct tally *tally, struct tally *merged, struct profile *profile)
{
	struct profile_store *store = profile->store;

	profile->total = tally_total(merged);
	profile->events = tally_events(merged);
	profile->n_entries = tally_n_entries(merged);
	profile->entries = store->entries = tally_take_entries(merged);
	return entry_ranks_apply(store->entries, profile->n_entries, store->entry_of,
				 store->entry_of ? tally_n_entries(tally) : 0);
}

static int build(struct profile *profile, const struct tally *tally)
{
	struct profile_store *store = profile->store;
	own(own_tally_free) struct tally *merged = NULL;
	int r = tally_new(0, 0, &merged);

	if (r < 0)
		return r;
	if (store->view.flags & PROFILE_VIEW_ENTRY_OF) {
		store->entry_of = reallocarray(NULL, (size_t)tally_n_entries(tally) + 1,
					       sizeof(*store->entry_of));
		if (!store->entry_of)
			return -ENOMEM;
		profile->entry_of = store->entry_of;
	}
	view_end_interning(&store->view);
	r = merge(&store->view, profile, merged, store->entry_of);
	if (r < 0)
		return r;
	if (store->view.filter)
		r = view_drop_frames(&store->view, tally_entries(merged), tally_n_entries(merged));
	if (r < 0)
		return r;
	view_settle(&store->view);
	profile->frames = store->view.frames;
	profile->n_frames = store->view.n_frames;
	return list_entries(tally, merged, profile);
}

static void borrow_names(const struct names *names, struct profile *profile)
{
	profile->objects = names_objects(names);
	profile->n_objects = names_n_objects(names);
	profile->cgroups = names_cgroups(names);
	profile->n_cgroups = names_n_cgroups(names);
	profile->processes = names_processes(names);
	profile->n_processes = names_n_processes(names);
}

int profile_build(const struct tally *tally, const struct names *names,
		  const struct profile_meta *meta, uint32_t view_flags,
		  const struct frame_filter *filter, struct profile *ret_profile)
{
	own(profile_clear) struct profile profile = { .meta = meta,
						      .losses = tally_losses_of(tally),
						      .filter = filter };
	int r;

	profile.store = calloc(1, sizeof(*profile.store));
	if (!profile.store)
		return -ENOMEM;
	r = view_make(&profile.store->view, tally, names, view_flags, filter);
	if (r == 0)
		r = build(&profile, tally);
	if (r == 0)
		r = ends_of(tally, names, &profile.ends);
	if (r < 0)
		return r;
	borrow_names(names, &profile);
	*ret_profile = profile;
	profile.store = NULL;
	return 0;
}

void profile_clear(struct profile *profile)
{
	if (!profile)
		return;
	if (profile->store) {
		view_clear(&profile->store->view);
		free(profile->store->entries);
		free(profile->store->entry_of);
		free(profile->store);
	}
	*profile = (struct profile){ 0 };
}

struct side {
	const uint32_t *frames;
	uint32_t n;
	bool missed, cut, has;
	enum tally_end end;
};

static struct side read_side(const struct view *view, uint32_t id, uint32_t *room)
{
	struct view_stack stack;
	const uint32_t *frames;

	if (!view_has(view, id))
		return (struct side){ .missed = id == TALLY_STACK_MISSED,
				      .has = id == TALLY_STACK_MISSED };
	stack = view_read(view, id, room, &frames);
	return (struct side){ .frames = frames,
			      .n = stack.n,
			      .cut = stack.flags & TALLY_STACK_CUT,
			      .end = (enum tally_end)TALLY_STACK_END(stack.flags),
			      .has = true };
}

void profile_read(const struct profile *profile, const struct tally_entry *entry,
		  struct profile_entry *ret_entry)
{
	const struct view *view = &profile->store->view;
	struct side kernel = read_side(view, entry->kernel, ret_entry->room[0]);
	struct side user = read_side(view, entry->user, ret_entry->room[1]);

	ret_entry->is = entry;
	ret_entry->kernel = kernel.frames;
	ret_entry->n_kernel = kernel.n;
	ret_entry->kernel_missed = kernel.missed;
	ret_entry->kernel_cut = kernel.cut;
	ret_entry->has_kernel = kernel.has;
	ret_entry->user = user.frames;
	ret_entry->n_user = user.n;
	ret_entry->user_missed = user.missed;
	ret_entry->user_cut = user.cut;
	ret_entry->user_end = user.end;
	ret_entry->has_user = user.has;
}

void profile_prefetch(const struct profile *profile, uint32_t entry)
{
	const struct view *view = &profile->store->view;
	const struct tally_entry *ahead;

	if (entry + AHEAD < profile->n_entries) {
		ahead = &profile->entries[entry + AHEAD];
		view_expect_stack(view, ahead->kernel);
		view_expect_stack(view, ahead->user);
	}
	if (entry + AHEAD / 2 < profile->n_entries) {
		ahead = &profile->entries[entry + AHEAD / 2];
		view_expect_frames(view, ahead->kernel);
		view_expect_frames(view, ahead->user);
	}
}

/* The indexed frame of this name, or NULL. */
static const struct profile_frame *frame_by_name(const struct profile *profile,
						 const struct index *names, const char *name)
{
	uint64_t hash = hash_bytes(name, strlen(name));
	struct index_cursor cursor;

	for (uint32_t at = index_first(names, hash, &cursor); at != INDEX_NONE;
	     at = index_next(names, &cursor))
		if (strcmp(profile->frames[at].is.name, name) == 0)
			return &profile->frames[at];
	return NULL;
}

int profile_recognize(struct profile *base, const struct profile *profile)
{
	own(index_free) struct index names = { 0 };

	for (uint32_t i = 0; i < profile->n_frames; i++) {
		const char *name = profile->frames[i].is.name;
		int r;

		if (!name || frame_by_name(profile, &names, name))
			continue;
		r = index_add(&names, hash_bytes(name, strlen(name)), i);
		if (r < 0)
			return r;
	}
	for (uint32_t i = 0; i < base->n_frames; i++) {
		struct names_frame *is = &base->store->view.frames[i].is;
		const struct profile_frame *known =
			is->name && !is->module ? frame_by_name(profile, &names, is->name) : NULL;

		if (known) {
			is->module = known->is.module;
			is->flags = known->is.flags;
		}
	}
	return 0;
}

const struct names_cgroup *profile_cgroup(const struct profile *profile, uint64_t id)
{
	return names_cgroup_by_id(profile->cgroups, profile->n_cgroups, id);
}
