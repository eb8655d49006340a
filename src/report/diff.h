/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A profile and its base, stack by stack: how often each occurred now and then. Stacks are the
 * same when they print alike, whichever file they came from.
 */
#ifndef STACKTALLY_REPORT_DIFF_H
#define STACKTALLY_REPORT_DIFF_H

#include <stdint.h>

#include "base/bytes.h"
#include "view/frame_text.h"
#include "view/profile.h"

struct diff_entry {
	const struct profile_entry *entry; /* of the profile, or of the base where it vanished */
	uint64_t count, base;		   /* now; then, scaled if that was asked for */
	bool vanished;
};

struct diff {
	struct diff_entry *entries; /* ascending by how much count and base differ */
	uint32_t n;
};

/* Appends who ran an entry, as the format shows it: what tells entries apart beside their stacks.
 */
typedef void (*diff_put_who)(void *context, const struct profile *profile,
			     const struct profile_entry *entry, struct bytes *bytes);

/*
 * Compares profile and profile->base, whose frames are spelled by the two texts. Not `raw`: the
 * counts of the base are scaled, as if it had as many samples. 0 or a negative errno;
 * diff_clear() is due in both cases.
 */
int diff_make(struct diff *diff, const struct profile *profile, const struct frame_texts *texts,
	      const struct frame_texts *base_texts, bool raw, diff_put_who put_who, void *context);
void diff_clear(struct diff *diff);

/* `count` of the base on the scale of the profile. */
uint64_t diff_scaled(const struct profile *profile, uint64_t count);

#endif
