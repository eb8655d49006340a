// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/entry_groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct sorting {
	const struct profile *profile;
	bool per_thread;
};

static int compare_ids(const struct tally_entry *a, const struct tally_entry *b, bool per_thread)
{
	if (a->tgid != b->tgid)
		return a->tgid < b->tgid ? -1 : 1;
	if (per_thread && a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return 0;
}

static int compare_entries(const void *a, const void *b, void *context)
{
	const struct sorting *sorting = context;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	int order = compare_ids(&sorting->profile->entries[i], &sorting->profile->entries[j],
				sorting->per_thread);

	return order ? order : i < j ? 1 : -1; /* descending, for entries ascend */
}

static int compare_groups(const void *a, const void *b)
{
	const struct entry_group *one = a, *other = b;

	if (one->total != other->total)
		return one->total > other->total ? -1 : 1;
	return one->first < other->first ? -1 : 1;
}

static void add(struct entry_group *group, uint64_t count)
{
	group->n++;
	if (__builtin_add_overflow(group->total, count, &group->total))
		group->total = UINT64_MAX;
}

int entry_groups_make(struct entry_groups *groups, const struct profile *profile, bool per_thread)
{
	struct sorting sorting = { profile, per_thread };
	size_t n = profile->n_entries;

	*groups = (struct entry_groups){
		.list = reallocarray(NULL, n + 1, sizeof(*groups->list)),
		.order = reallocarray(NULL, n + 1, sizeof(*groups->order)),
	};
	if (!groups->list || !groups->order)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		groups->order[i] = i;
	qsort_r(groups->order, n, sizeof(*groups->order), compare_entries, &sorting);
	for (uint32_t i = 0; i < n; i++) {
		const struct tally_entry *entry = &profile->entries[groups->order[i]];

		if (groups->n == 0 ||
		    compare_ids(groups->list[groups->n - 1].heaviest, entry, per_thread) != 0)
			groups->list[groups->n++] =
				(struct entry_group){ .first = i, .heaviest = entry };
		add(&groups->list[groups->n - 1], entry->count);
	}
	qsort(groups->list, groups->n, sizeof(*groups->list), compare_groups);
	return 0;
}

int entry_groups_one(struct entry_groups *one, const struct entry_groups *groups)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < groups->n; i++)
		n += groups->list[i].n;
	*one = (struct entry_groups){
		.list = calloc(1, sizeof(*one->list)),
		.order = reallocarray(NULL, (size_t)n + 1, sizeof(*one->order)),
	};
	if (!one->list || !one->order)
		return -ENOMEM;
	for (uint32_t i = 0; i < groups->n; i++) {
		const struct entry_group *group = &groups->list[i];

		memcpy(one->order + one->list->n, groups->order + group->first,
		       group->n * sizeof(*one->order));
		one->list->n += group->n;
		if (__builtin_add_overflow(one->list->total, group->total, &one->list->total))
			one->list->total = UINT64_MAX;
	}
	one->n = n > 0;
	one->list->heaviest = n > 0 ? groups->list[0].heaviest : NULL;
	return 0;
}

void entry_groups_clear(struct entry_groups *groups)
{
	free(groups->list);
	free(groups->order);
	*groups = (struct entry_groups){ 0 };
}
