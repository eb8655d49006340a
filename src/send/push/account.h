/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts what became of the intervals, and tells the user: failures and losses at once, but lines
 * of one kind not more often than once a minute; the counts once an hour.
 */
#ifndef STACKTALLY_PUSH_ACCOUNT_H
#define STACKTALLY_PUSH_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "push/exchange.h"
#include "push/push.h"
#include "push/spool.h"

struct account {
	const struct push_options *options;
	uint64_t taken, taken_bytes, refused, unanswered, not_kept;
	uint64_t told_lost; /* of the losses: those of which a line told */
	uint64_t told_ms;   /* when, by monotonic_ms(); 0: not yet */
	uint64_t hour_ms;   /* when the last account was given */
	bool failing;	    /* the engine did not take the last one */
	int disk;	    /* the spool's, as it was told */
	char host[300];	    /* as in messages: the target */
	char why[300];	    /* of the last loss */
};

void account_start(struct account *account, const struct push_options *options);
/* After each exchange. */
void account_result(struct account *account, const struct exchange_result *result, uint64_t size,
		    const struct spool *spool);
/* Tells the user what has changed; with `closing`, all counts. */
void account_tell(struct account *account, const struct spool *spool, bool closing);
/* ms until account_tell() has something to tell if nothing changes. */
uint64_t account_due_ms(const struct account *account);

#endif
