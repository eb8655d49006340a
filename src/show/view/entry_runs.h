/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The samples of each group of a profile's entries in the order of time: runs of samples with the
 * same stack. Without a timeline, each entry is one run, in the order of its group.
 */
#ifndef STACKTALLY_VIEW_ENTRY_RUNS_H
#define STACKTALLY_VIEW_ENTRY_RUNS_H

#include "tally/timeline.h"
#include "view/entry_groups.h"

struct entry_run {
	uint64_t count;
	uint32_t entry;
};

struct entry_runs {
	struct entry_run *list; /* group after group */
	uint32_t *first;	/* of each group in `list`, and behind the last one */
};

/*
 * `timeline` may be NULL; else it tells all of the profile, which has `entry_of`. 0 or -ENOMEM;
 * entry_runs_clear() is due in both cases.
 */
int entry_runs_make(struct entry_runs *runs, const struct entry_groups *groups,
		    const struct profile *profile, const struct timeline *timeline);
void entry_runs_clear(struct entry_runs *runs);

#endif
