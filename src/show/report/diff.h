/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The difference of a profile and its base: the count of each stack in both. Stacks are equal if
 * they print alike.
 */
#ifndef STACKTALLY_REPORT_DIFF_H
#define STACKTALLY_REPORT_DIFF_H

#include <stdint.h>

#include "base/bytes.h"
#include "view/frame_text.h"
#include "view/profile.h"

struct diff_entry {
	const struct tally_entry *entry; /* of the profile, or of the base if vanished */
	uint64_t count, base;		 /* in the profile; in the base, scaled */
	bool vanished;			 /* in the base only */
};

struct diff {
	struct diff_entry *entries; /* ascending by |count - base| */
	uint32_t n;
};

/* Appends the process of an entry as the format shows it. Entries with other text are not equal. */
typedef void (*diff_put_process)(void *context, const struct profile *profile,
				 const struct tally_entry *entry, struct bytes *bytes);

/*
 * Compares profile and profile->base; `texts` and `base_texts` are the texts of their frames.
 * The counts of the base are scaled by profile->base_scale. 0 or a negative errno; diff_clear() is
 * due in both cases. The entries point into both profiles.
 */
int diff_make(struct diff *diff, const struct profile *profile, const struct frame_texts *texts,
	      const struct frame_texts *base_texts, diff_put_process put_process, void *context);
void diff_clear(struct diff *diff);

#endif
