/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbers of a measurement for messages, found without building a profile.
 */
#ifndef STACKTALLY_VIEW_SUMMARY_H
#define STACKTALLY_VIEW_SUMMARY_H

#include "tally/names.h"
#include "tally/tally.h"
#include "view/ends.h"

struct summary {
	uint64_t total;	       /* sum of the counts */
	uint64_t missed_sides; /* kernel and user stacks that were not stored, by entry */
	uint32_t n_stacks;     /* stacks that differ in a process or an address */
	struct ends ends;
};

/* 0 or -ENOMEM. */
int summary_of(const struct tally *tally, const struct names *names, struct summary *ret_summary);

#endif
