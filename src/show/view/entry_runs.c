// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/entry_runs.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/own.h"
#include "view/sample_order.h"

DEFINE_OWN(struct sample_order, sample_order_free)

/* All runs in the order of time, whatever their groups. */
struct all {
	struct entry_run *list;
	uint32_t n, capacity;
};

static void own_all(struct all *all)
{
	free(all->list);
}

static int collect_by_time(const struct profile *profile, const struct timeline *timeline,
			   struct all *all)
{
	own(own_sample_order_free) struct sample_order *order = NULL;
	int r = sample_order_new(profile, timeline, &order);

	for (uint32_t slice = 0; r == 0 && slice < timeline->n_slices; slice++) {
		const struct sample_runs *runs = NULL;

		r = sample_order_next(order, &runs);
		if (r < 0 || !runs)
			continue;
		r = grow(&all->list, &all->capacity, (size_t)all->n + runs->n);
		for (uint32_t i = 0; r == 0 && i < runs->n; i++)
			all->list[all->n++] =
				(struct entry_run){ runs->list[i].count, runs->list[i].entry };
	}
	return r;
}

static int collect(const struct entry_groups *groups, const struct profile *profile,
		   struct all *all)
{
	int r = grow(&all->list, &all->capacity, (size_t)profile->n_entries + 1);

	for (uint32_t i = 0; r == 0 && i < profile->n_entries; i++) {
		uint32_t entry = groups->order[i];

		all->list[all->n++] = (struct entry_run){ profile->entries[entry].count, entry };
	}
	return r;
}

/* Each group's runs together, in their order; those of one entry after another become one. */
static int sort_by_group(const struct entry_groups *groups, uint32_t n_entries,
			 const struct all *all, struct entry_runs *runs)
{
	own(own_free) uint32_t *group_of = calloc((size_t)n_entries + 1, sizeof(*group_of));
	own(own_free) uint32_t *end = calloc((size_t)groups->n + 1, sizeof(*end));
	uint32_t n = 0;

	if (!group_of || !end)
		return -ENOMEM;
	for (uint32_t group = 0; group < groups->n; group++)
		for (uint32_t i = 0; i < groups->list[group].n; i++)
			group_of[groups->order[groups->list[group].first + i]] = group;
	for (uint32_t i = 0; i < all->n; i++)
		end[group_of[all->list[i].entry]]++;
	for (uint32_t group = 0; group < groups->n; group++) {
		runs->first[group] = n;
		n += end[group];
		end[group] = runs->first[group];
	}
	runs->first[groups->n] = n;
	for (uint32_t i = 0; i < all->n; i++)
		runs->list[end[group_of[all->list[i].entry]]++] = all->list[i];
	return 0;
}

static void join_same(uint32_t n_groups, struct entry_runs *runs)
{
	uint32_t n = 0;

	for (uint32_t group = 0; group < n_groups; group++) {
		uint32_t first = n, i = runs->first[group];

		for (; i < runs->first[group + 1]; i++) {
			if (n > first && runs->list[n - 1].entry == runs->list[i].entry)
				runs->list[n - 1].count += runs->list[i].count;
			else
				runs->list[n++] = runs->list[i];
		}
		runs->first[group] = first;
	}
	runs->first[n_groups] = n;
}

int entry_runs_make(struct entry_runs *runs, const struct entry_groups *groups,
		    const struct profile *profile, const struct timeline *timeline)
{
	own(own_all) struct all all = { 0 };
	int r = timeline ? collect_by_time(profile, timeline, &all)
			 : collect(groups, profile, &all);

	if (r < 0)
		return r;
	runs->list = reallocarray(NULL, (size_t)all.n + 1, sizeof(*runs->list));
	runs->first = calloc((size_t)groups->n + 2, sizeof(*runs->first));
	if (!runs->list || !runs->first)
		return -ENOMEM;
	r = sort_by_group(groups, profile->n_entries, &all, runs);
	if (r == 0)
		join_same(groups->n, runs);
	return r;
}

void entry_runs_clear(struct entry_runs *runs)
{
	free(runs->list);
	free(runs->first);
	*runs = (struct entry_runs){ 0 };
}
