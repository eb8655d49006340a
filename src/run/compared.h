/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What --diff names: a measurement to compare with, from whichever kind of file.
 */
#ifndef STACKTALLY_RUN_COMPARED_H
#define STACKTALLY_RUN_COMPARED_H

#include "base/error.h"
#include "import/baseline.h"
#include "recording/recording.h"

struct compared {
	struct recording *recording; /* or */
	struct baseline *base;
	const struct profile_meta *meta; /* NULL: nothing is compared */
	const struct tally *tally;
	const struct names *names;
};

/* Nothing for a path of NULL. 0 or a negative errno; compared_clear() is due in both cases. */
int compared_load(const char *path, struct compared *compared, struct error *err);
void compared_clear(struct compared *compared);

#endif
