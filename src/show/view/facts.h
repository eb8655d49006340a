/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The facts of a measurement as pairs of a name and a text, for the headers of all formats.
 */
#ifndef STACKTALLY_VIEW_FACTS_H
#define STACKTALLY_VIEW_FACTS_H

#include <stddef.h>
#include <stdint.h>

#include "view/profile.h"

/* Bytes for facts_time(): "2026-11-21T14:36:00.123456789Z". */
#define FACTS_TIME_SIZE 40

/*
 * Calls `tell` for each known fact, in this order: command line, host, kernel, time, duration,
 * event, rate, samples (or events), lost ("nothing", or each loss that is not 0), never came, user
 * stacks, incomplete (once for each reason and function), unwinding (the tables). `text` is
 * untrusted: it may hold any bytes but NUL.
 */
void facts_each(const struct profile *profile,
		void (*tell)(void *context, const char *name, const char *text), void *context);

/* A CLOCK_REALTIME in ns as UTC, by RFC 3339. */
void facts_time(uint64_t time_ns, char ret_text[FACTS_TIME_SIZE]);

#endif
