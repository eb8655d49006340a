/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much of something limited the files of each owner have taken: so that a user's files, which
 * may be made for nothing else, do not take all of it. What only root can write is trusted, and
 * takes what it needs. Any other owner has at most half, and all of them together have at most
 * three quarters. One of the largest programs there are, a web browser, takes a quarter of the
 * default room for tables.
 *
 * All functions but new and free may be called by several threads. Must not know: what is taken.
 */
#ifndef STACKTALLY_UNWIND_SHARES_H
#define STACKTALLY_UNWIND_SHARES_H

#include <stdint.h>
#include <sys/types.h>

#include "base/own.h"

struct shares;

/* `total`: how much there is, in any unit. 0 or -ENOMEM. */
int shares_new(uint32_t total, struct shares **ret_shares);
void shares_free(struct shares *shares);
DEFINE_OWN(struct shares, shares_free)

/*
 * Takes `n` for a file of `owner`, as confined_owner() gives it. 0; -ENOSPC: it would be more than
 * its share; -ENOMEM.
 */
int shares_take(struct shares *shares, uid_t owner, uint32_t n);
void shares_give(struct shares *shares, uid_t owner, uint32_t n);

/* What has to be given back before `owner` can take `n`: all 0 if it can. */
struct shares_lack {
	uint32_t own;	/* by this owner */
	uint32_t users; /* by this owner or others but root */
};
struct shares_lack shares_lack(struct shares *shares, uid_t owner, uint32_t n);

#endif
