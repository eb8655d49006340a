/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Warnings about what a report lacks, in bcc's words where bcc has them. The commands print them
 * after the report.
 */
#ifndef STACKTALLY_VIEW_WARNINGS_H
#define STACKTALLY_VIEW_WARNINGS_H

#include <stdbool.h>

#include "view/profile.h"

#define WARNINGS_LINE_SIZE 400

/*
 * The i-th warning, from 0, without newline; false: there are no more. `meta` may be NULL.
 * `missed_sides` is that of struct profile or struct summary.
 */
bool warnings_line(const struct profile_meta *meta, const struct tally_losses *losses,
		   uint64_t missed_sides, int i, char ret_line[WARNINGS_LINE_SIZE]);

#endif
