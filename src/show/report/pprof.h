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

/*
 * The address of a frame's location. An engine that is to name code looks it up in the file, so
 * that without names it is the file's own, and so is the start of its mapping: processes that have
 * loaded the file at different addresses have the same ones.
 */
uint64_t pprof_address(const struct profile_frame *frame, const struct report_options *options);
uint64_t pprof_bias(const struct names_object *object, const struct report_options *options);

/* What the numbers of a profile are. */
struct pprof_values {
	const char *measure, *unit;
	uint64_t each;	  /* what a count of one stands for */
	bool counts_only; /* samples have one value; else their count as well */
	bool summed;	  /* that count is of events, and the value is their sum */
};
struct pprof_values pprof_values_of(const struct profile_meta *meta);

#endif
