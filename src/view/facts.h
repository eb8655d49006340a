/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the measurement was, fact by fact, in words: for every format that has a place for it.
 */
#ifndef STACKTALLY_VIEW_FACTS_H
#define STACKTALLY_VIEW_FACTS_H

#include <stddef.h>
#include <stdint.h>

#include "view/profile.h"

/* Of facts_time(): "2026-11-21T14:36:00.123456789Z". */
#define FACTS_TIME_SIZE 40

/*
 * Calls `tell` for each fact that is known, in a fixed order: command line, host, kernel, time,
 * duration, event, rate, samples, lost; how user stacks ended, where and why incomplete ones did
 * (several facts of one name), and what tables of unwinding there were. `text` is as somebody else
 * chose it: it may hold any bytes but NUL.
 */
void facts_each(const struct profile *profile,
		void (*tell)(void *context, const char *name, const char *text), void *context);

/* UTC, as RFC 3339 has it. */
void facts_time(uint64_t time_ns, char ret_text[FACTS_TIME_SIZE]);

/* Samples that were taken but not counted. */
uint64_t facts_lost(const struct tally_losses *losses);

#endif
