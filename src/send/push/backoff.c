// SPDX-License-Identifier: GPL-2.0-or-later
#include "push/backoff.h"

uint32_t backoff_failed(struct backoff *backoff, uint64_t asked_ms, uint32_t random)
{
	uint32_t wait = BACKOFF_LAST_MS;

	if (backoff->failures < 6)
		wait = BACKOFF_FIRST_MS << backoff->failures;
	if (wait > BACKOFF_LAST_MS)
		wait = BACKOFF_LAST_MS;
	backoff->failures++;
	wait -= random % (wait / 2);
	if (asked_ms > BACKOFF_ASKED_MS)
		asked_ms = BACKOFF_ASKED_MS;
	/* Not before the time that was asked for, and not all at that time. */
	return asked_ms ? (uint32_t)asked_ms + random % BACKOFF_FIRST_MS : wait;
}

void backoff_succeeded(struct backoff *backoff)
{
	backoff->failures = 0;
}
