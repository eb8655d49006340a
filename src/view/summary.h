/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is said of a measurement beside its report, without one being built: how much was counted,
 * how many stacks, how they ended.
 */
#ifndef STACKTALLY_VIEW_SUMMARY_H
#define STACKTALLY_VIEW_SUMMARY_H

#include "tally/names.h"
#include "tally/tally.h"
#include "view/ends.h"

struct summary {
	uint64_t total;	       /* sum of the counts */
	uint64_t missed_sides; /* kernel and user stacks, one for each entry, not stored */
	uint32_t n_stacks;     /* distinct stacks of distinct processes, by their addresses */
	struct ends ends;
};

/* 0 or -ENOMEM. */
int summary_of(const struct tally *tally, const struct names *names, struct summary *ret_summary);

#endif
