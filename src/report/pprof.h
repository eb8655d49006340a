/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pprof's profile.proto for engines, which want more of it, or less, than a file needs.
 */
#ifndef STACKTALLY_REPORT_PPROF_H
#define STACKTALLY_REPORT_PPROF_H

#include <stdio.h>

#include "view/profile.h"
#include "view/report_options.h"
#include "view/service.h"

/* The PROFILE_VIEW_* flags of profiles for engines: `by_service`. */
uint32_t pprof_service_view(const struct report_options *options);

/*
 * Writes the profile, gzipped. `services`: samples are labelled with theirs, and with the labels of
 * the options; or NULL. 0 or a negative errno; see ferror(out) for -EIO.
 */
int pprof_put_profile(const struct profile *profile, const struct report_options *options,
		      const struct services *services, FILE *out);

/* What the numbers of a profile are. */
struct pprof_values {
	const char *measure, *unit;
	uint64_t each;	  /* what a count of one stands for */
	bool counts_only; /* samples have one value; else their count as well */
};
struct pprof_values pprof_values_of(const struct profile_meta *meta);

#endif
