/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order of a profile's entries: ascending by count. Ties stay in the order of the tally, which
 * a recording keeps, so that the same data always prints the same report. Internal to view/: for
 * profile_build().
 */
#ifndef STACKTALLY_VIEW_ENTRY_RANKS_H
#define STACKTALLY_VIEW_ENTRY_RANKS_H

#include <stdint.h>

#include "tally/tally.h"

/*
 * Puts the entries in order, in their array. `entry_of`, or NULL, has `n_of` indices of entries, or
 * PROFILE_NO_ENTRY; they follow their entries. 0, or -ENOMEM: nothing has changed.
 */
int entry_ranks_apply(struct tally_entry *entries, uint32_t n, uint32_t *entry_of, uint32_t n_of);

#endif
