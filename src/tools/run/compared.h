/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether two measurements can be compared (--diff), and what a user must know who compares them.
 */
#ifndef STACKTALLY_RUN_COMPARED_H
#define STACKTALLY_RUN_COMPARED_H

#include "base/error.h"
#include "view/profile.h"

struct compared {
	const struct profile_meta *now, *base;
	const char *path; /* of the base */
};

/*
 * Writes a warning to stderr if the measurements differ in their event, scope or filters, and a
 * note if shares are compared though rates were asked for. 0; or an error for measurements of
 * different kinds: samples of CPUs and counts of events.
 */
int compared_check(const struct compared *compared, enum scale_how how, struct error *err);

#endif
