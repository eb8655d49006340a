/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long to wait after a failure: twice as long after each, from 1 s to a minute, of which a
 * random half is left out, so that many senders do not come back at once.
 */
#ifndef STACKTALLY_PUSH_BACKOFF_H
#define STACKTALLY_PUSH_BACKOFF_H

#include <stdint.h>

#define BACKOFF_FIRST_MS 1000u
#define BACKOFF_LAST_MS	 60000u
/* A server that asks for a longer pause (Retry-After) gets this one. */
#define BACKOFF_ASKED_MS 3600000u

struct backoff {
	uint32_t failures; /* in a row */
};

/*
 * After one more failure: ms to wait. `asked_ms` is what the server asked for, 0 if it did not;
 * `random` is any number.
 */
uint32_t backoff_failed(struct backoff *backoff, uint64_t asked_ms, uint32_t random);
void backoff_succeeded(struct backoff *backoff);

#endif
