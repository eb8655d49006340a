/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of a loaded measurement that a selection leaves, with facts that say so: what --from
 * reports, and the base of --diff if the measurement has a filter.
 */
#ifndef STACKTALLY_RUN_PART_H
#define STACKTALLY_RUN_PART_H

#include "plan/range.h"
#include "report/report.h"
#include "tally/selection.h"

struct part {
	struct tally *tally; /* owned, as names and texts are; NULL: the part is all of it */
	struct names *names;
	struct timeline timeline;
	char *title, *filter;
	struct profile_meta meta;
	struct measurement measurement;
};

/* What is to be left. Borrowed. */
struct part_wanted {
	struct selection selection; /* but for its counts */
	struct plan_range range;
	const char *name; /* of the measurement's file, in messages */
};

/*
 * The part borrows from the measurement, and its measurement points into *ret_part. 0 or a negative
 * errno with `err` set; part_clear() is due in both cases.
 */
int part_make(const struct part_wanted *wanted, const struct measurement *measurement,
	      struct part *ret_part, struct error *err);
void part_clear(struct part *part);

/* A cgroup as names have it: below the mount point of cgroup2, which need not be on this machine.
 */
const char *part_cgroup(const char *path);
/* A filter with that path. */
struct cgroup_filter part_groups(const struct cgroup_filter *filter);

#endif
