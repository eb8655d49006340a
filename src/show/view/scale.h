/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the counts of a base are made comparable with those of a profile (--diff).
 */
#ifndef STACKTALLY_VIEW_SCALE_H
#define STACKTALLY_VIEW_SCALE_H

#include <stdbool.h>
#include <stdint.h>

struct profile_meta;

enum scale_how {
	SCALE_RATES,  /* to the same time, and samples to the same CPU time or events per sample */
	SCALE_SHARES, /* to the same total */
	SCALE_COUNTS, /* not at all */
};

/* `base` counts of the base equal `now` counts of the profile; neither is 0. */
struct scale {
	enum scale_how how;
	uint64_t now, base;
};

/* Whether both say how long they took, and what a sample stands for in the same unit. */
bool scale_has_rates(const struct profile_meta *now, const struct profile_meta *base);

/* The scale of two totals. SCALE_RATES becomes SCALE_SHARES where the rates are not known. */
struct scale scale_make(enum scale_how how, const struct profile_meta *now, uint64_t total,
			const struct profile_meta *base, uint64_t base_total);

/* A count of the base in counts of the profile, rounded. */
uint64_t scale_count(const struct scale *scale, uint64_t count);

/* Counts of the profile that equal one of the base. */
static inline double scale_factor(const struct scale *scale)
{
	return (double)scale->now / (double)scale->base;
}

#endif
